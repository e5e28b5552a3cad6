// The public types of load() and of a loaded model.
import type { AssetOptions } from '../api/assets.js'
import type { Ability } from '../api/abilities.js'
import type { GgufFile, OpenOptions } from '../api/file.js'
import type { CacheReport, Source } from '../api/source.js'
import type { Tokenizer, ChatMessage } from '../api/text.js'
import type { SpeakOptions, SpokenPart, SpokenResult } from '../audio/speak-types.js'
import type { AudioInput, TranscribeOptions, Transcription } from '../audio/types.js'
import type { DecideOptions, DecisionOf, DecisionQuestion, DecisionState } from '../decision/types.js'
import type { AdapterChoice, AdapterInfo, SetAdaptersOptions } from './adapter-types.js'
import type { Trace, TraceOptions } from './trace-types.js'
import type {
  ChatOptions,
  ChatPiece,
  ChatResult,
  EncodeChatOptions,
  GenerateOptions,
  GenerateResult,
  Piece,
  WarningOptions,
} from './generate-types.js'
import type { EncodedMedia, EncodeMediaOptions, MediaPart } from './media-types.js'

/**
 * simd: 128-bit SIMD; relaxed: also relaxed SIMD's int8 dot products; memory64: as relaxed, with 64-bit memory of up to
 * 16 GiB
 */
export type Variant = 'simd' | 'relaxed' | 'memory64'

export type Precision = 'fast' | 'compact' | 'exact'

/** Type of cached keys and values. q8_0 takes 53 % of the bytes of f16, q4_0 28 %. */
export type CacheType = 'f16' | 'f32' | 'q8_0' | 'q4_0'

export type { AdapterChoice, AdapterInfo, SetAdaptersOptions } from './adapter-types.js'
export type * from './generate-types.js'
export type * from './media-types.js'
export type * from './trace-types.js'

/** While weights arrive there are at least 10 reports a second, on a slow link too. */
export interface LoadProgress {
  readonly phase: 'header' | 'weights' | 'ready'
  /** whose weights: those of a draft model follow, with bytes and tensors of their own */
  readonly of: 'model' | 'draft'
  /** bytes of weights received */
  readonly loaded: number
  readonly total: number
  /** tensors that are ready to compute with */
  readonly tensors: number
  readonly tensorCount: number
}

/** Where a model runs: on the graphics card by WebGPU, or on the processor. */
export type DeviceKind = 'gpu' | 'cpu'

/** What WebGPU says about a graphics card. Browsers hide parts of it. */
export interface GpuAdapter {
  readonly vendor: string
  readonly architecture: string
  readonly description: string
  /** software instead of a graphics card */
  readonly fallback: boolean
}

/** Where a loaded model runs, and why there. */
export interface DeviceReport {
  readonly device: DeviceKind
  readonly deviceReason: string
  /** the graphics card, if the model runs there */
  readonly adapter: GpuAdapter | undefined
}

export interface LintLoadOptions extends AssetOptions {
  signal?: AbortSignal | undefined
  /** as in load() */
  workerUrl?: string | URL | undefined
  /** an opened mmproj file: whether load() takes the model with it. Default: none */
  projector?: GgufFile | undefined
}

export interface LoadOptions extends Omit<
  OpenOptions,
  'onProgress' | 'onKeys' | 'allowMissingShards' | 'preview'
> {
  /**
   * The model's mmproj file, which enables images, audio, or both. A file that open() returned stays open. 'auto':
   * the one beside the model, in its repository on a hub or, in Node, in its folder; without one there, the model is
   * loaded alone. Default: none.
   */
  projector?: Source | GgufFile | undefined
  /**
   * Largest number of tokens of prompt and answer together. Default: the model's context length, at most
   * 4096.
   */
  contextLength?: number | undefined
  /**
   * Threads of the engine. Default: one for each core, at most 16; with more than four cores one stays free. If
   * the default is four or more, the engine tries decode with half and a quarter of them and keeps the fastest.
   * One thread if memory cannot be shared: on pages that are not cross-origin isolated.
   */
  threads?: number | undefined
  /**
   * Where to run the model. gpu: on the graphics card by WebGPU; in Node it needs the npm package webgpu. An error
   * ('no-device', 'unsupported', 'out-of-memory') says why that is not possible. auto: there if it is possible and a token
   * takes less time there (of a Whisper model: a window of 30 s), else on the CPU, with the reason in info.deviceReason;
   * never on software that stands in for a card. The times are those of some of the layers, measured at the first load and
   * then kept for this card and model. If the card fails later, also in the middle of an answer, the model moves to the
   * CPU's memory and the answer continues. Of a projector, the layers of its encoders run there, if they can; draft models
   * and, unless gpu is requested, adapters run on the CPU. Default: cpu.
   */
  device?: DeviceKind | 'auto' | undefined
  /** Runs on software too if that is what WebGPU answers with. It is slow, and meant for tests. Default: false. */
  allowFallbackAdapter?: boolean | undefined
  /** Called when the model moves to another device after it was loaded. */
  onDevice?: ((report: DeviceReport) => void) | undefined
  /** Default: relaxed if it works; memory64 if the model needs more than 4 GiB. */
  variant?: Variant | undefined
  /**
   * fast: weights repacked, activations of 8 bits (up to 16 with F16 and BF16). exact: float32 throughout, weights
   * as in the file. compact: as fast, but types that repacking would make more than twice as large stay as in the
   * file (types of one or two bits grow up to four times). Default: fast, or compact if fast does not fit into
   * memoryLimit. On a graphics card, fast and compact are the same: products multiply activations of 8 bits by the weights'
   * integers, for types that are a scale times an integer; those of prompts with other types multiply binary16, if the
   * card does. The default there is exact. With device auto it is fast, for prompts also in binary16 alone, if the card
   * computes prompts or tokens faster that way.
   */
  precision?: Precision | undefined
  /** Type of cached keys and values. Default: f16. */
  cacheType?: CacheType | undefined
  /** Type of cached keys. Default: cacheType. */
  cacheTypeK?: CacheType | undefined
  /** Type of cached values; ignored if values are part of the keys (latent attention). Default: cacheType. */
  cacheTypeV?: CacheType | undefined
  /**
   * For MiniMax-M3. false: every token attends to all earlier ones, like llama.cpp without flash attention, instead
   * of only the best blocks. Default: true.
   */
  sparseAttention?: boolean | undefined
  /** LoRA adapters and control vectors, as setAdapters() takes them. Default: none. */
  adapters?: readonly AdapterChoice[] | undefined
  /**
   * A draft model for speculative decoding: a smaller model with the same vocabulary. This model checks several of
   * its proposed tokens at once, and the answer's tokens are the same as without it for any sampling. Of a file with
   * heads that predict further tokens (MTP), which may be the model's own file, only the first head is loaded. Errors:
   * 'invalid-argument' if the vocabularies differ, or if it reads states or the cache of another model (EAGLE-3, DFlash,
   * MTP, Gemma 4's assistants), 'unsupported' if it is recurrent or one of the two has an encoder. It is fetched without
   * `headers`; if it needs them, pass what open() returned, which stays open.
   */
  draft?: Source | readonly Source[] | GgufFile | undefined
  /**
   * The largest number of open forks. Attention windows and recurrent states take memory for each. Default:
   * 1.
   */
  maxForks?: number | undefined
  /**
   * For an address: keep the file in the browser's private storage, or in Node in the user's cache folder
   * ($XDG_CACHE_HOME/ggufscope), so that it is not fetched again, and an interrupted transfer continues where it stopped.
   * The server is asked once whether a stored file is still its file; if it is not, the new one is loaded, and without a
   * network the stored one. Without such storage the option has no effect. Default: false.
   */
  cache?: boolean | undefined
  /**
   * For an address: one engine for all tabs of the site that load it with the same options, with the memory of one
   * model. One of the tabs runs it. If that tab closes, crashes or is frozen, another loads the model, from the store
   * where there is one (`cache` is implied), and running answers continue there. Calls of the tabs take turns. Each tab has
   * its own adapters. Only in browsers that have Web Locks. Errors: 'unsupported' elsewhere; 'invalid-argument' for a
   * source, projector or draft model that is no address. Default: false.
   */
  share?: boolean | undefined
  /** Experimental, with `cache`: the files come from Cross-Origin Storage where there is one. As in StoredSource. */
  crossOriginStorage?: boolean | undefined
  /** With `cache`: called for each file when it was compared with the server's, and for crossOriginStorage. */
  onCache?: ((report: CacheReport) => void) | undefined
  /**
   * Bytes of memory that the model may take. Default: slightly less than 4 GiB, or 16 GiB if there is 64-bit memory; on
   * a device that says that it has less (navigator.deviceMemory), that.
   */
  memoryLimit?: number | undefined
  /** Address of the engine's worker script (engine-worker.js), if it is not next to the package's files. */
  workerUrl?: string | URL | undefined
  onProgress?: ((progress: LoadProgress) => void) | undefined
}

export interface ModelInfo extends DeviceReport {
  readonly architecture: string
  /** what the model can do, with the projector that was loaded */
  readonly abilities: readonly Ability[]
  readonly variant: Variant
  readonly variantReason: string
  readonly threads: number
  readonly precision: Precision
  readonly contextLength: number
  readonly trainedContextLength: number
  readonly vocabularySize: number
  readonly embeddingLength: number
  /** floats in a pooled vector: embeddingLength, unless dense layers follow the pooling */
  readonly pooledLength: number
  /** default of embed(): the file's pooling_type, 'mean' if it has none */
  readonly pooling: Pooling
  /** names of the classification head's outputs, if the file has them */
  readonly labels: readonly string[]
  /** names of the voices that the file has, for speak(); empty: voices have no names */
  readonly voices: readonly string[]
  readonly layers: number
  /** the outputs are embeddings, not text */
  readonly encoder: boolean
  /**
   * In bytes, what load() allocated. On a graphics card, images larger than the first plan's and results of many rows
   * (evaluate() with logprobs, embed() without pooling) allocate more when they are computed.
   */
  readonly memory: {
    readonly weights: number
    readonly cache: number
    readonly scratch: number
    readonly total: number
  }
}

/**
 * products: matrix products with weights; activations: their quantization; positions: rotary position embeddings;
 * gate: activation functions; add: residuals; other: the rest of a pass.
 */
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

/** Time, bytes and multiplications of one kind of operation, summed over all calls. */
export interface ProfiledOperation {
  readonly operation: OperationName
  /** one: passes over one token (decode); many: over several (prefill) */
  readonly tokens: 'one' | 'many'
  /** for products: types of the weights */
  readonly types: readonly string[]
  /** for products: columns and rows of the weights that are multiplied together */
  readonly shape: readonly number[]
  readonly calls: number
  /** milliseconds, as exact as performance.now() */
  readonly ms: number
  /** bytes read of weights (as they are in memory) or of the KV cache */
  readonly bytes: number
  /** multiply-adds */
  readonly products: number
}

/** The machine's peak rates, for all threads of the model. */
export interface Peaks {
  /** multiply-adds per second of int8 dot products, which quantized weights use */
  readonly int8: number
  /** multiply-adds per second of int16 dot products, which F16 and BF16 use */
  readonly int16: number
  /** multiply-adds per second of float32 */
  readonly float32: number
  /** bytes read per second from the L2 cache */
  readonly l2: number
  /** bytes read per second from DRAM */
  readonly dram: number
}

/**
 * none: each token's vector; mean: the mean of all; cls: the first token's; last: the last token's; rank: the
 * classification head.
 */
export type Pooling = 'none' | 'mean' | 'cls' | 'last' | 'rank'

export interface EmbedResult {
  /** tokens of all texts together */
  readonly tokens: number
}

export interface EmbedOptions {
  /** Default: the file's pooling_type; 'mean' if it has none. */
  pooling?: Pooling | undefined
  /**
   * true or 2: scale to a Euclidean length of 1; false or -1: do not scale; 0: to a largest magnitude of
   * 32760; 1, 3 and more: to a p-norm of 1. Default: true; false with pooling 'none' and 'rank'.
   */
  normalize?: boolean | number | undefined
  signal?: AbortSignal | undefined
  /** Called when all is computed. */
  onDone?: ((result: EmbedResult) => void) | undefined
}

export interface RerankOptions {
  /** Number of best documents to return. Default: all. */
  topN?: number | undefined
  signal?: AbortSignal | undefined
  /** Called when all is computed. */
  onDone?: ((result: EmbedResult) => void) | undefined
}

export interface RankedDocument {
  /** index of the document in the given list */
  readonly index: number
  /** the first output of the head, unscaled: larger is better */
  readonly score: number
}

/** What every loaded model has. It runs in a worker; calls run one after the other. */
interface BaseModel extends Disposable {
  readonly info: ModelInfo
  readonly file: GgufFile
  readonly tokenizer: Tokenizer
  /**
   * Time, bytes and multiplications since the last call, by this model and its forks; longest first. The
   * first call starts the timing and returns nothing. On a graphics card, each operation is timed by the card's clock
   * if WebGPU has timestamps, and passes are slower from then on; without timestamps there is one row, "other", with
   * the time of whole passes.
   */
  profile(): Promise<readonly ProfiledOperation[]>
  /** Ends the worker and frees everything. */
  close(): void
}

/** A loaded Whisper model. */
export interface SpeechModel extends BaseModel {
  /**
   * Transcribes or translates speech, with times. Errors: 'invalid-argument' for bad options and samples that are not
   * finite numbers, and those of decodeWav.
   */
  transcribe(audio: AudioInput, options?: TranscribeOptions): Promise<Transcription>
  /**
   * The decoder's logits [tokens.length, info.vocabularySize], for the first 30 s of the option audio, or for the audio
   * that was encoded last.
   */
  evaluate(
    tokens: readonly number[],
    options?: { audio?: AudioInput | undefined; signal?: AbortSignal | undefined },
  ): Promise<Float32Array>
  /**
   * The encoder's output for the first 30 s of the audio, [frames, length of the encoder's embedding]; 1500 frames, or
   * audioContext.
   */
  encode(
    audio: AudioInput,
    options?: { audioContext?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<Float32Array>
  /**
   * The log-mel spectrogram of the audio, [mels, frames] with 100 frames per second, followed by 3000 frames of padding;
   * or only its first frames.
   */
  logMel(
    audio: AudioInput,
    options?: { frames?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<Float32Array>
}

/** What load() returns: the file decides which. `'transcribe' in model` tells them apart. */
export type LoadedModel = Model | SpeechModel

/** A loaded model that generates text or computes embeddings. */
export interface Model extends BaseModel {
  /** Facts of the adapters that were set by load() or the last setAdapters(). */
  readonly adapters: readonly AdapterInfo[]
  /**
   * Continues a prompt: a text, to which BOS is added if the file says so, or token ids, which are used as they are.
   * The generator's return value is the result that onDone receives.
   */
  generate(
    prompt: string | readonly number[],
    options?: GenerateOptions,
  ): AsyncGenerator<Piece, GenerateResult, void>
  /**
   * Answers messages, rendered by the file's chat template. The generator's return value is the result that onDone
   * receives. Errors for tools: 'invalid-argument', 'unsupported' with a grammar or a schema, those of schemaToGrammar.
   */
  chat(messages: readonly ChatMessage[], options?: ChatOptions): AsyncGenerator<ChatPiece, ChatResult, void>
  /** The prompt of chat() as token ids. Images and audio are encoded, which the signal ends. */
  encodeChat(
    messages: readonly ChatMessage[],
    options?: EncodeChatOptions & WarningOptions & { signal?: AbortSignal | undefined },
  ): Promise<number[]>
  /**
   * Encodes an image or audio with the model's projector. The result is cached, so the same part is not encoded
   * again. Errors: 'unsupported' without a projector for such a part, 'out-of-range' for an image of a bad size or
   * audio that is too long for the context, 'invalid-argument' for a value that is neither an image nor audio, or for
   * samples that are not finite, 'out-of-range' also for an image that needs more tokens than the context has,
   * 'out-of-memory'. Tokens and memory are checked before anything is computed.
   */
  encodeMedia(part: MediaPart, options?: EncodeMediaOptions): Promise<EncodedMedia>
  /**
   * Logits [tokens.length, info.vocabularySize]; for an encoder, embeddings [tokens.length, info.embeddingLength]. An
   * image or audio takes as many tokens as encodeMedia() returns.
   */
  evaluate(
    tokens: readonly (number | MediaPart)[],
    options?: { signal?: AbortSignal | undefined },
  ): Promise<Float32Array>
  /**
   * Speaks a text. Samples come while it goes on; reading slowly makes it wait. It needs a projector that has a voice,
   * such as Pocket TTS's, or a model that speaks by itself: Kokoro. Clears the KV cache. Errors: 'unsupported' for other
   * models, 'invalid-argument' for an empty text, an unknown language or voice, or without the phonemes that the model
   * reads, 'out-of-range' for a sentence that does not fit the context; what phonemize() throws.
   */
  speak(text: string, options?: SpeakOptions): AsyncGenerator<SpokenPart, SpokenResult, void>
  /**
   * Looks inside the model while it reads a text, or tokens: the probability of each token, what each layer tends to,
   * and the weights of attention heads; also with parts of the model switched off. For an encoder only the attention.
   * Clears the KV cache. Errors: 'out-of-range' for a layer, a head or a token that the model lacks, 'unsupported' for
   * encoder-decoder models, for layers of models with several residual streams, and for heads of layers without
   * attention by heads; 'out-of-memory' if the weights of that many heads do not fit.
   */
  trace(text: string | readonly number[], options?: TraceOptions): Promise<Trace>
  /**
   * The embedding of a text [info.pooledLength]; for several texts one vector each. With pooling 'none', the
   * concatenated vectors of all tokens; with 'rank', the output of the classification head, one number for each
   * class. Errors: 'out-of-range' for a text that does not fit the context, 'unsupported' for 'rank' without a
   * classification head.
   */
  embed(text: string | readonly number[], options?: EmbedOptions): Promise<Float32Array>
  embed(
    texts: readonly string[] | readonly (readonly number[])[],
    options?: EmbedOptions,
  ): Promise<Float32Array[]>
  /**
   * Scores how well each document answers the query; best first. It needs a model with a classification head (a
   * reranker). Error: 'unsupported' for other models.
   */
  rerank(query: string, documents: readonly string[], options?: RerankOptions): Promise<RankedDocument[]>
  /**
   * Decides a question: the probability of each option, in one pass and without generating text. The model must be a
   * decision model: a file with the key decision.type and a chat template named "systemone". Errors: 'unsupported' for
   * other models, 'invalid-argument' for a question that is not well-formed, 'out-of-range' for a prompt that does not
   * fit the context.
   */
  decide<Q extends DecisionQuestion>(
    question: Q & DecisionState,
    options?: DecideOptions,
  ): Promise<DecisionOf<Q>>
  /**
   * Decides several questions about one state, by names that the caller chooses. Models such as Clef read all of them
   * in one pass. Errors: those of decide().
   */
  decideAll<Q extends Readonly<Record<string, DecisionQuestion>>>(
    request: DecisionState & { readonly questions: Q },
    options?: DecideOptions,
  ): Promise<{ readonly [Name in keyof Q]: DecisionOf<Q[Name]> }>
  /**
   * The same model with a separate sequence, a copy of this one's. The KV cache so far is shared, not computed again.
   * All forks share the cells of the context. close() of a fork ends only the fork; closing the model ends its forks.
   */
  fork(): Promise<Model>
  /**
   * Replaces the adapters of this model, or of only this fork. An empty list restores the model bit for bit. A fork
   * copies the adapters of its model. The KV cache of other adapters is not reused. An activated adapter (aLoRA)
   * applies from the last occurrence of its invocation tokens in the prompt. Returns facts about each adapter. If one
   * is refused, nothing changes. Errors: 'invalid-argument' for a file that is not an adapter or is for another
   * architecture, 'not-found' for a weight that the model lacks, 'bad-shape', 'truncated', 'unsupported'.
   */
  setAdapters(
    adapters: readonly AdapterChoice[],
    options?: SetAdaptersOptions,
  ): Promise<readonly AdapterInfo[]>
  /**
   * The KV cache and recurrent states of this sequence as bytes, for loadState() of the same model. Errors:
   * 'unsupported' for encoder-decoder models, 'out-of-memory' for a state of more than 4 GiB.
   */
  saveState(): Promise<Uint8Array>
  /**
   * Restores the bytes of saveState(). It requires the same model, cache types and adapters. Errors: 'invalid-argument'
   * for a state of another model or of other adapters, 'bad-magic' or 'truncated' for bytes that are no state,
   * 'out-of-memory' if the context has too few free cells.
   */
  loadState(bytes: Uint8Array): Promise<void>
  /**
   * Measures the machine's peak rates for about a second, with 128 MB of memory; the graphics card's if the model runs
   * there, where weights of all types are multiplied as float32. Error: 'out-of-memory' if they cannot be allocated.
   */
  peaks(): Promise<Peaks>
}
