// Options and results of trace(): what a model computes inside, layer by layer.

/** A head of a layer's attention; without a head, the whole layer. Both are counted from 0. */
export interface LayerPart {
  readonly layer: number
  readonly head?: number | undefined
}

/** A head of a layer's attention, counted from 0. */
export interface AttentionHead {
  readonly layer: number
  readonly head: number
}

export interface TraceOptions {
  /**
   * Layers to read the likeliest next tokens from (logit lens, nostalgebraist 2020): 0 reads the embeddings, 1 what
   * leaves the first layer, info.layers the model's output. Default: all; only the output of models with several
   * residual streams.
   */
  layers?: readonly number[] | undefined
  /** Number of likeliest tokens for each layer and token, at most 1000. Default: 5. */
  best?: number | undefined
  /** Heads whose attention weights are returned. Default: none. */
  attention?: readonly AttentionHead[] | undefined
  /**
   * Parts that the text is computed without (zero ablation, Michel et al. 2019): a head's output is zero, and a whole
   * layer leaves the residual stream as it is. Default: none.
   */
  ablate?: readonly LayerPart[] | undefined
  signal?: AbortSignal | undefined
  /** Called after some tokens each, with the number of tokens that are done. */
  onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined
}

/** The likeliest next tokens that a layer tends to. */
export interface LayerReading {
  readonly layer: number
  /** [tokens, best]: ids, likeliest first */
  readonly tokens: Int32Array
  /** the same shape: natural logarithms, over the whole vocabulary */
  readonly logprobs: Float32Array
}

/** The attention weights of a head. */
export interface HeadWeights extends AttentionHead {
  /**
   * [tokens, tokens]: row q, column k is what token q gives to token k. A row's sum is 1, or less if the head has an
   * attention sink.
   */
  readonly weights: Float32Array
}

export interface Trace {
  /** [tokens]: natural logarithm of the probability of each token after those before it; NaN for the first */
  readonly logprobs: Float32Array
  /** [tokens]: how many tokens of the vocabulary were likelier; -1 for the first */
  readonly ranks: Int32Array
  readonly layers: readonly LayerReading[]
  /** in the order of the option attention */
  readonly attention: readonly HeadWeights[]
}
