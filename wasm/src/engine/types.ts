import type { GgufFile, OpenOptions } from '../api/file.js'
import type { Tokenizer, ChatMessage, RenderChatOptions } from '../api/text.js'
import type { GrammarTrigger } from '../chat/types.js'
import type { JsonSchema } from '../schema/index.js'

/** simd: SIMD of 128 bits; relaxed: with products of bytes too, where the engine has them */
export type Variant = 'simd' | 'relaxed'

export type Precision = 'fast' | 'compact' | 'exact'

/** Of cached keys and values. */
export type CacheType = 'f16' | 'f32'

export interface LoadProgress {
  readonly phase: 'header' | 'weights' | 'ready'
  /** bytes of weights received */
  readonly loaded: number
  readonly total: number
  readonly tensors: number
  readonly tensorCount: number
}

export interface LoadOptions extends Omit<
  OpenOptions,
  'onProgress' | 'onKeys' | 'allowMissingShards' | 'preview'
> {
  /** Tokens that prompt and answer may have together. Default: the model's, at most 4096. */
  contextLength?: number | undefined
  /** Default: as many as the machine has cores, one of many left free; of four and more, single tokens are computed with
      half or a quarter where that turns out to be faster. One where memory cannot be shared: on pages that are not
      cross-origin isolated. */
  threads?: number | undefined
  /** Default: relaxed where it works. */
  variant?: Variant | undefined
  /** fast: weights repacked, activations of 8 bits (up to 16 with F16 and BF16); exact: float32 throughout, weights as in the
      file; compact: as fast, but weights of one or two bits, which repacked take up to four times the file's bytes, stay
      as they are where that is more than twice. Default: fast, or compact where fast does not fit into memoryLimit. */
  precision?: Precision | undefined
  /** Of cached keys and values. Default: f16. */
  cacheType?: CacheType | undefined
  /** How many forks may be open at once; windows and recurrent states take memory for each. Default: 1. */
  maxForks?: number | undefined
  /**
   * Keep the file, where it is given by its address, in the browser's private storage: it is not fetched again, and a
   * transfer that was interrupted goes on where it stopped. Where nothing can be kept, nothing is. Default: false.
   */
  cache?: boolean | undefined
  /** Bytes that the model may take. Default: what a tab can have, 4 GiB less some room. */
  memoryLimit?: number | undefined
  /** The script of the engine's worker alone (engine-worker.js), when it is not beside the package's files. */
  workerUrl?: string | URL | undefined
  onProgress?: ((progress: LoadProgress) => void) | undefined
}

/**
 * How the next token is drawn. A value out of its range is an error of code 'invalid-argument'. Each default is llama.cpp's;
 * a file that carries general.sampling.* has its own.
 */
export interface SamplingOptions {
  /** 0: greedy. From 0. Default: 0.8. */
  temperature?: number | undefined
  /** Only so many of the likeliest tokens; 0 or -1: all. Default: 40. */
  topK?: number | undefined
  /** Only the likeliest tokens that reach this probability together. From 0 to 1, which turns it off. Default: 0.95. */
  topP?: number | undefined
  /** Only tokens of this share of the likeliest one's probability. From 0, which turns it off, to 1. Default: 0.05. */
  minP?: number | undefined
  /** Locally typical sampling. From 0 to 1, which turns it off. Default: 1. */
  typicalP?: number | undefined
  /** Only logits so many standard deviations below the largest; 0 or -1: off. Default: -1. */
  topNSigma?: number | undefined
  /** How often XTC leaves out the likeliest tokens, from 0 to 1. Default: 0. */
  xtcProbability?: number | undefined
  /** The least probability of those that XTC may leave out, from 0 to 1. Default: 0.1. */
  xtcThreshold?: number | undefined
  /** How many last tokens the penalties look at; 0: none, -1: all. Default: 64. */
  penaltyLastN?: number | undefined
  /** Divides the logits of tokens that were there; 1: off. From 0. Default: 1. */
  repeatPenalty?: number | undefined
  /** Subtracted for each time a token was there. Default: 0. */
  frequencyPenalty?: number | undefined
  /** Subtracted from tokens that were there at all. Default: 0. */
  presencePenalty?: number | undefined
  /** DRY, against sequences that were there; 0: off. From 0. Default: 0. */
  dryMultiplier?: number | undefined
  /** DRY: growth with the length; below 1: off. From 0. Default: 1.75. */
  dryBase?: number | undefined
  /** DRY: tokens of a sequence that may repeat. From 0. Default: 2. */
  dryAllowedLength?: number | undefined
  /** DRY: how many last tokens it looks at; 0: none, -1: all. Default: -1. */
  dryLastN?: number | undefined
  /** 0: off; 2: Mirostat 2.0 in place of the other samplers. Default: 0. */
  mirostat?: number | undefined
  /** Mirostat: the surprise to keep, in bits. From 0. Default: 5. */
  mirostatTau?: number | undefined
  /** Mirostat: the rate of learning. From 0. Default: 0.1. */
  mirostatEta?: number | undefined
  /** A whole number, of which the lower 32 bits count. Default: another one every time. */
  seed?: number | undefined
  /** Added to the logits of tokens, by id; -Infinity forbids one. Default: none. */
  logitBias?: Readonly<Record<number, number>> | undefined
}

export interface GenerateOptions extends SamplingOptions {
  /** Tokens of the answer at most, from 0. Default: until the answer's end, or until the context is full. */
  maxTokens?: number | undefined
  /** Texts that end the answer and are no part of it. A control token is found by its name: '<|user|>'. Default: none. */
  stop?: string | readonly string[] | undefined
  /** GBNF that the answer keeps to. It ends where the grammar does; maxTokens may cut it short. */
  grammar?: string | undefined
  /**
   * Where the grammar begins: with the first of these that the answer has, a text or a token, which the grammar reads too.
   * Until then any token may come, and the answer may end. Default: with the answer.
   */
  grammarTriggers?: readonly GrammarTrigger[] | undefined
  /** Control tokens, by id, whose names are part of the answer's text. Default: none is. */
  showTokens?: readonly number[] | undefined
  /** A JSON schema: the answer is JSON that it accepts. Errors of schemaToGrammar. */
  schema?: JsonSchema | undefined
  /** How many of the likeliest tokens to tell with each, from 0 to 100. Default: 0. */
  logprobs?: number | undefined
  /** Go on after end-of-generation tokens. Default: false. */
  ignoreEnd?: boolean | undefined
  /** When the context is full, forget the older half in place of ending. Default: false. */
  contextShift?: boolean | undefined
  /**
   * Tokens to guess ahead, at most 31: what followed the last ones where they stood before in prompt or answer. Faster
   * where an answer quotes; its tokens are the same, whatever the sampling. Recurrent and encoder-decoder models guess
   * nothing. Default: 0.
   */
  lookup?: number | undefined
  signal?: AbortSignal | undefined
  /** Told when the answer has ended. */
  onDone?: ((result: GenerateResult) => void) | undefined
}

export interface TokenProbability {
  readonly token: number
  /** natural logarithm, over the whole vocabulary, before sampling */
  readonly logprob: number
}

export interface Piece {
  /** whole characters; empty while one is unfinished or may begin a stop string */
  readonly text: string
  /** -1: none, only text that was held back */
  readonly token: number
  readonly logprob?: number | undefined
  readonly alternatives?: readonly TokenProbability[] | undefined
}

/** end: an end-of-generation token; stop: a stop string; length: maxTokens; context: no room is left */
export type FinishReason = 'length' | 'stop' | 'end' | 'context'

export interface GenerateResult {
  readonly finishReason: FinishReason
  readonly promptTokens: number
  /** of them, those that the cache still held */
  readonly reusedTokens: number
  readonly tokens: number
  /** of them, those that the option lookup guessed */
  readonly guessedTokens: number
  /** milliseconds until the prompt was computed */
  readonly promptMs: number
  readonly generateMs: number
}

export interface ModelInfo {
  readonly architecture: string
  readonly variant: Variant
  readonly variantReason: string
  readonly threads: number
  readonly precision: Precision
  readonly contextLength: number
  readonly trainedContextLength: number
  readonly vocabularySize: number
  readonly embeddingLength: number
  /** floats of a pooled vector: embeddingLength, but where dense layers follow the pooling */
  readonly pooledLength: number
  /** of embed() by default: the file's pooling_type, 'mean' where it names none */
  readonly pooling: Pooling
  /** names of the classification head's outputs, where the file gives them */
  readonly labels: readonly string[]
  readonly layers: number
  /** its outputs are embeddings, not text */
  readonly encoder: boolean
  /** bytes */
  readonly memory: {
    readonly weights: number
    readonly cache: number
    readonly scratch: number
    readonly total: number
  }
}

/** products: with weights; activations: quantized for them; positions: rotated into queries and keys; gate: activation
    functions; add: residuals; other: what a pass has besides. */
export type OperationName =
  | 'products'
  | 'activations'
  | 'attention'
  | 'norm'
  | 'positions'
  | 'cache'
  | 'gate'
  | 'add'
  | 'recurrence'
  | 'sampling'
  | 'other'

/** What one kind of operation took, all its calls together. */
export interface ProfiledOperation {
  readonly operation: OperationName
  /** one: in passes over one token; many: over several, as prompts are */
  readonly tokens: 'one' | 'many'
  /** of the weights, of products */
  readonly types: readonly string[]
  /** columns and rows of the weights that are multiplied side by side, of products */
  readonly shape: readonly number[]
  readonly calls: number
  /** milliseconds; as exact as performance.now() is there */
  readonly ms: number
  /** read: of weights as they lie in memory, or of cached keys and values */
  readonly bytes: number
  /** multiplications with an addition */
  readonly products: number
}

/** What the machine allows, by all threads of the model. */
export interface Peaks {
  /** products a second of bytes, which quantized weights take, of 16-bit words (F16 and BF16), and of floats */
  readonly bytes: number
  readonly words: number
  readonly floats: number
  /** bytes a second from the second cache, and from memory */
  readonly near: number
  readonly far: number
}

/** none: each token's vector; mean: of all; cls: the first token's; last: the last token's; rank: the classification head. */
export type Pooling = 'none' | 'mean' | 'cls' | 'last' | 'rank'

export interface EmbedResult {
  /** tokens of all texts together */
  readonly tokens: number
}

export interface EmbedOptions {
  /** Default: the file's pooling_type; 'mean' where it names none. */
  pooling?: Pooling | undefined
  /**
   * true or 2: to a Euclidean length of 1; false or -1: not; 0: the largest magnitude becomes 32760; 1, 3 and more: to a
   * p-norm of 1. Default: true, with pooling 'none' and 'rank' false.
   */
  normalize?: boolean | number | undefined
  signal?: AbortSignal | undefined
  /** Told when all is computed. */
  onDone?: ((result: EmbedResult) => void) | undefined
}

export interface RerankOptions {
  /** How many of the best to give. Default: all. */
  topN?: number | undefined
  signal?: AbortSignal | undefined
  /** Told when all is computed. */
  onDone?: ((result: EmbedResult) => void) | undefined
}

export interface RankedDocument {
  /** of the document in the list that was given */
  readonly index: number
  /** the head's first output, as it is: the larger, the better */
  readonly score: number
}

/** What chat() takes beside the options of generate(). */
export interface EncodeChatOptions extends RenderChatOptions {
  /**
   * Control tokens that messages, tools or documents spell become control tokens. Default: false, so that no text of a user
   * ends its message or begins another.
   */
  specialContent?: boolean | undefined
}
export interface ChatOptions extends GenerateOptions, EncodeChatOptions {}

/** A loaded model in its worker. Calls wait for those before them. */
export interface Model extends Disposable {
  readonly info: ModelInfo
  readonly file: GgufFile
  readonly tokenizer: Tokenizer
  /** A text, which gets BOS as the file says, or token ids as they are. What the generator returns is what onDone is told. */
  generate(
    prompt: string | readonly number[],
    options?: GenerateOptions,
  ): AsyncGenerator<Piece, GenerateResult, void>
  /** Through the file's chat template. */
  chat(messages: readonly ChatMessage[], options?: ChatOptions): AsyncGenerator<Piece, GenerateResult, void>
  /** The prompt that chat() would read, as token ids. */
  encodeChat(messages: readonly ChatMessage[], options?: EncodeChatOptions): Promise<number[]>
  /** Logits, one row of the vocabulary a token; of an encoder, embeddings. */
  evaluate(tokens: readonly number[], options?: { signal?: AbortSignal | undefined }): Promise<Float32Array>
  /**
   * What a text means, as one vector [info.pooledLength]; of several texts one vector each. With pooling 'none' a vector
   * for each token, one after the other; with 'rank' what the classification head says, one number for each class.
   * Errors: 'out-of-range' for a text that does not fit the context, 'unsupported' for 'rank' without a head.
   */
  embed(text: string | readonly number[], options?: EmbedOptions): Promise<Float32Array>
  embed(
    texts: readonly string[] | readonly (readonly number[])[],
    options?: EmbedOptions,
  ): Promise<Float32Array[]>
  /**
   * How well each document answers the query, the best first. Takes a model with a classification head, a reranker: else
   * an error of code 'unsupported'.
   */
  rerank(query: string, documents: readonly string[], options?: RerankOptions): Promise<RankedDocument[]>
  /**
   * The same model with a text of its own, which begins as this one's does now: what was read is shared, not computed
   * again. All forks share the context's room. close() ends the fork alone; closing the model ends its forks.
   */
  fork(): Promise<Model>
  saveState(): Promise<Uint8Array>
  loadState(bytes: Uint8Array): Promise<void>
  /**
   * Where the time went: what was computed since the last call, by this model and its forks, the longest first. The
   * first call begins to take times, and gives nothing.
   */
  profile(): Promise<readonly ProfiledOperation[]>
  /** Measures for about a second, with 128 MB of memory (out-of-memory where there are none). */
  peaks(): Promise<Peaks>
  /** Ends the worker and frees everything. */
  close(): void
}
