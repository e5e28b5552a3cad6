/// <reference lib="esnext.disposable" preserve="true" />
// An open file, what open() takes, and the builder that file.edit() gives: the two name each other.
import type { Floats } from './arrays.js'
import type { AssetOptions } from './assets.js'
import type { Finding } from './findings.js'
import type {
  BuildOptions,
  EditOptions,
  MergeReport,
  QuantizeReport,
  SplitOptions,
  TensorData,
  TensorPlan,
  WriteType,
  WriteValue,
  WrittenFile,
} from './edit.js'
import type { KvType, MemoryDevice, MemoryEstimate } from './memory.js'
import type { Metadata, Scalar, ValueType } from './metadata.js'
import type { ReadOptions, RetryInfo } from './source.js'
import type { ReadRowsOptions, TensorInfo, TensorStats } from './tensors.js'
import type { ChatMessage, ChatTemplate, RenderChatOptions, Tokenizer, TokenizerComparison } from './text.js'

/** Share of one type in the file. */
export interface TypeShare {
  readonly type: string
  readonly tensors: number
  readonly elements: number
  readonly bytes: number
}

/** metadata: neither tensors nor a tokenizer */
export type FileKind =
  'model' | 'vocabulary' | 'adapter' | 'projector' | 'imatrix' | 'control-vector' | 'metadata'

/** undefined where the file does not say. */
export interface Summary {
  readonly kind: FileKind
  readonly name: string | undefined
  readonly architecture: string | undefined
  readonly description: string | undefined
  readonly author: string | undefined
  readonly organization: string | undefined
  readonly license: string | undefined
  readonly url: string | undefined
  readonly sizeLabel: string | undefined
  /** elements of all tensors, counted */
  readonly parameters: number
  /**
   * parameters used for one token: of the experts only the active ones. Equals parameters if there are no
   * experts.
   */
  readonly activeParameters: number
  /** what the file calls itself (general.file_type), e.g. "Q4_K_M" */
  readonly fileType: string | undefined
  /** by bytes, largest first */
  readonly quantization: readonly TypeShare[]
  /** 8 * tensor bytes / parameters; 0 without tensors */
  readonly bitsPerWeight: number
  readonly tensorBytes: number
  readonly tensorCount: number
  readonly contextLength: number | undefined
  readonly embeddingLength: number | undefined
  readonly feedForwardLength: number | undefined
  readonly layers: number | undefined
  /** the most in any layer, where it differs from layer to layer */
  readonly heads: number | undefined
  readonly kvHeads: number | undefined
  readonly headLength: number | undefined
  readonly experts: number | undefined
  readonly expertsUsed: number | undefined
  readonly slidingWindow: number | undefined
  readonly ropeFrequencyBase: number | undefined
  /** tokenizer.ggml.model: "llama", "gpt2", "bert", ... */
  readonly tokenizer: string | undefined
  /** tokenizer.ggml.pre */
  readonly preTokenizer: string | undefined
  readonly vocabularySize: number | undefined
  readonly hasChatTemplate: boolean
}

export interface OpenProgress {
  /** bytes of the header received so far, over all shards */
  readonly loaded: number
  /** size of the file, when it is known */
  readonly fileSize: number | undefined
  readonly shard: number
  readonly shardCount: number
  /** key-values and tensors read so far, and the numbers that the file declares (0 until they are known) */
  readonly keysSeen: number
  readonly keyCount: number
  readonly tensorsSeen: number
  readonly tensorCount: number
  /** set while waiting before another attempt */
  readonly retry?: RetryInfo | undefined
}

/**
 * full: reads the header as one stream, and everything is there at once. sparse: leaves long arrays
 * (vocabularies) out, and finds the keys behind them by a few small parallel reads; if that fails, full.
 * auto: measures the link and takes sparse if that is faster.
 */
export type Preview = 'full' | 'sparse' | 'auto'

export interface OpenOptions extends AssetOptions {
  signal?: AbortSignal | undefined
  /** default: 'full' */
  preview?: Preview | undefined
  /**
   * Keep what is read of an address in the browser's private storage, or in Node in the user's cache folder (at most
   * 128 MB for all files; the least recently used are removed). Opening the file again takes one request, seldom more, which
   * checks by the entity tag that the file is the same. Without such storage the option has no effect.
   */
  cache?: boolean | undefined
  /**
   * Called once with the first keys, long before the header is complete: texts and numbers before the first
   * long array.
   */
  onKeys?: ((keys: ReadonlyMap<string, Scalar>) => void) | undefined
  onProgress?: ((progress: OpenProgress) => void) | undefined
  /** in place of globalThis.fetch */
  fetch?: typeof globalThis.fetch | undefined
  /**
   * Sent with every request to the origin of the given address, and to no other origin after a redirect.
   * Browsers do not show the target of a redirect. After a redirect they send only Authorization, which they
   * remove at another origin.
   */
  headers?: HeadersInit | undefined
  /** retries after a transient failure (default 4) */
  retries?: number | undefined
  /** milliseconds without a byte after which a request counts as failed (default 30,000) */
  timeout?: number | undefined
  /** open an incomplete split model instead of throwing an error of code 'missing-shard' */
  allowMissingShards?: boolean | undefined
}

export interface Shard {
  readonly name: string | undefined
  /** false: not there (only with allowMissingShards) */
  readonly present: boolean
  readonly size: number | undefined
  readonly dataOffset: number
  readonly tensorCount: number
}

/** The container, recognized by its magic. */
export type Container = 'gguf' | 'ggml' | 'ggmf' | 'ggjt' | 'ggla'

export interface StatsOptions extends ReadRowsOptions {
  /** The reference: a tensor of the same shape, in this or another file. */
  against?: { readonly file: GgufFile; readonly name?: string | undefined } | undefined
  /** bytes of the tensor read so far, of how many */
  onProgress?: ((loaded: number, total: number) => void) | undefined
}

export interface LintDataOptions extends ReadOptions {
  /** bytes of tensor data read so far, of how many */
  onProgress?: ((loaded: number, total: number) => void) | undefined
}

export interface MemoryOptions {
  /** tokens, prompt and answer together; default: what the model was trained for, 4,096 where the file does not say */
  context?: number | undefined
  /** of keys and values, or of each; default 'f16' */
  kvType?: KvType | { readonly k?: KvType | undefined; readonly v?: KvType | undefined } | undefined
  /** tokens that are computed at once (llama.cpp's --ubatch-size); default 512 */
  batch?: number | undefined
  /**
   * Layers on the devices, the last ones first; the output layer counts as one more (llama.cpp's --n-gpu-layers). 'fit': as
   * many as fit. Default: 'fit' where there are devices, else 0.
   */
  gpuLayers?: number | 'fit' | undefined
  /** Experts of this many of the first layers stay with the CPU (llama.cpp's --n-cpu-moe); default 0. */
  cpuExperts?: number | undefined
  /** The accelerators. Layers are split by their memory. */
  devices?: readonly MemoryDevice[] | undefined
  /** the computer's own memory */
  host?: MemoryDevice | undefined
  /** The projector for images or sound. */
  mmproj?: GgufFile | undefined
  /** The model that drafts tokens for speculative decoding. It has the same context and cache types. */
  draft?: GgufFile | undefined
  /** Adapters. */
  lora?: GgufFile | readonly GgufFile[] | undefined
}

/** An open file. Its header is in memory; tensor data is read on demand. */
export interface GgufFile extends Disposable {
  /**
   * 'gguf', or a container from before it. Those are shown with the metadata that a converter to GGUF would write; their
   * tensor names and data are as they are.
   */
  readonly container: Container
  /** of the container; 0 where it has none */
  readonly version: number
  readonly endianness: 'little' | 'big'
  readonly alignment: number
  /** bytes; undefined if the server does not say. For a split model: of the first shard. */
  readonly size: number | undefined
  readonly dataOffset: number
  /** bytes of the header that were fetched to open the file, over all shards */
  readonly bytesRead: number
  readonly name: string | undefined
  /**
   * false: a sparse preview left out arrays. Members that need them throw 'incomplete' (lint, tokenizer,
   * chatTemplates).
   */
  readonly complete: boolean
  /**
   * Reads what a preview left out. Throws an error of code 'preview-mismatch' if it contradicts the preview.
   */
  completeHeader(options?: ReadOptions): Promise<void>
  readonly metadata: Metadata
  readonly tensors: readonly TensorInfo[]
  /** one entry for a file that is not split */
  readonly shards: readonly Shard[]
  tensor(name: string): TensorInfo | undefined
  summary(): Summary
  lint(): Finding[]
  /**
   * What is wrong with the file or set of files: 'error' for truncated data, for missing or contradictory
   * shards, and for tensors that occur twice; 'note' for bytes behind the data (an archive, another GGUF
   * file). It reads headers, sizes and a few bytes behind the data.
   */
  damage(options?: ReadOptions): Promise<Finding[]>
  /**
   * Reads all tensor data, in pieces, and finds what llama.cpp's --check-tensors refuses: blocks whose floats or scales
   * are NaN or infinite ('tensor-data-invalid'). One finding a tensor, at its first such block.
   */
  lintData(options?: LintDataOptions): Promise<Finding[]>
  /**
   * Made once. Throws an error of code 'unsupported' if the file has no vocabulary, or one of an unknown
   * kind. The first call of a page loads the tokenizers' module and blocks until it is there. Call
   * loadTokenizer() before to avoid that.
   */
  tokenizer(): Tokenizer
  /** The same without blocking: loads the module, and what a sparse preview left out of the header. */
  loadTokenizer(options?: ReadOptions): Promise<Tokenizer>
  /**
   * Compares the tokens of tokenizer.huggingface.json with the file's own; undefined if the file has none.
   */
  compareTokenizers(options?: ReadOptions): Promise<TokenizerComparison | undefined>
  /** By name. If the file has none: the template that its vocabulary suggests, if any. */
  readonly chatTemplates: ReadonlyMap<string, ChatTemplate>
  /**
   * The prompt of a conversation by the file's chat template, as Python's Jinja2 renders it. Steps and size
   * are limited, because templates are untrusted code. Encode it with { special: true }, and without bos if
   * it begins with BOS itself.
   */
  renderChat(messages: readonly ChatMessage[], options?: RenderChatOptions): Promise<string>
  /** Raw bytes of whole rows, in the file's layout. Takes one range request. */
  read(name: string, options?: ReadRowsOptions): Promise<Uint8Array>
  /** Whole rows as floats, row-major, the same bits as ggml's. Only the bytes of those rows are read. */
  dequantize(name: string, options?: ReadRowsOptions): Promise<Floats>
  /** Statistics of the values, computed while they stream: the whole tensor is never in memory. */
  stats(name: string, options?: StatsOptions): Promise<TensorStats>
  /**
   * How much memory the model takes when it runs: weights, keys and values, states, layer by layer and device by device.
   * From the header alone. Weights and caches are llama.cpp's own figures; `compute` is an estimate. Errors: 'unsupported'
   * where the file holds no model that runs by itself, 'invalid-argument'.
   */
  memory(options?: MemoryOptions): Promise<MemoryEstimate>
  /**
   * A builder with this file's keys and tensors (of all shards). The file does not change; keep it open until
   * the result is written. A damaged file is refused: see damage() and allowDamaged.
   */
  edit(options?: EditOptions): Promise<GgufBuilder>
  /** Frees the header and the source. Views handed out before stop working. */
  close(): void
}

/**
 * An open GGUF file of llama.cpp's imatrix, or columns by tensor, as parseImatrix makes them from an
 * imatrix.dat.
 */
export type ImportanceSource = GgufFile | ReadonlyMap<string, Float32Array>

export interface RequantizeOptions extends ReadOptions {
  /** Every tensor of weights gets the mixture's main type. */
  pure?: boolean | undefined
  /**
   * The type of a tensor, which overrides the mixture; undefined: the mixture's. Or types by patterns; the
   * first match counts. A pattern is a part of the name ("ffn_down", weights only), or the whole name with *
   * for any text ("blk.0.*"). Case does not matter. A pattern that matches nothing is an error.
   */
  types?:
    | ((tensor: TensorPlan) => string | undefined)
    | Readonly<Record<string, string>>
    | ReadonlyMap<string, string>
    | undefined
  /** Which columns matter. Types below 3 bits need it. Every value is checked first. */
  importance?: ImportanceSource | undefined
  /** The value of quantize.imatrix.file; without it there is no such key. */
  importanceFile?: string | undefined
  /** Tensors that are quantized already may be quantized to another type. Default: that is refused. */
  allowRequantize?: boolean | undefined
  /**
   * Tensors whose rows are not whole blocks of their type get a type with smaller blocks, or F16. Default:
   * true; false refuses them.
   */
  fallback?: boolean | undefined
  /**
   * Only fills in `quantization`, and changes nothing. The report names a missing matrix and requantization;
   * neither is refused.
   */
  dryRun?: boolean | undefined
}

export interface MergeAdapterOptions extends ReadOptions {
  /** any finite number; default: 1 */
  scale?: number | undefined
  /** The importance of columns, used if a changed tensor is quantized to its old type. */
  importance?: ImportanceSource | undefined
}

/**
 * A GGUF file to build: keys and tensors, from nothing (`new GgufBuilder()` of ggufscope/edit) or from an
 * opened file (`file.edit()`). Arrays and tensor data of opened files are read only when the file is written.
 */
export interface GgufBuilder {
  keys(): string[]
  has(key: string): boolean
  type(key: string): ValueType | undefined
  readonly tensors: readonly TensorPlan[]
  /**
   * Sets a key. Without a type a standardized key gets the type that readers expect ("general.version" a string,
   * "llama.rope.freq_base" an f32), any other existing key keeps its type, and a new one gets its type from
   * the value: "u32" or wider for integers, "f32" for other numbers, in arrays "i32" for integers. An error
   * of code
   * 'invalid-argument' where the type cannot hold the value.
   */
  set(key: string, value: WriteValue, type?: WriteType): this
  /** Copies a key of an opened file, without converting its value. */
  copy(file: GgufFile, key: string, as?: string): this
  /** Removes the keys of a split (split.*), for a file that is a whole model. */
  removeSplit(): this
  /** Removes all occurrences of a key. */
  remove(key: string): this
  rename(key: string, to: string): this
  /** shape: ggml's order, fastest first. Float32Arrays are quantized to the type when the file is written. */
  addTensor(name: string, shape: readonly number[], type: string, data: TensorData): this
  renameTensor(name: string, to: string): this
  removeTensor(name: string): this
  /**
   * Gives every tensor its type in one of llama.cpp's mixtures ("Q4_K_M"): norms, biases and the like keep
   * their type. The work is done when the file is written; NaN, infinities and values that a type cannot hold
   * are refused then. What
   * llama-quantize refuses is refused here: quantizing again, types that need importance and have none, a matrix of
   * another model. `quantization` has the decisions.
   */
  quantize(mixture: string, options?: RequantizeOptions): Promise<this>
  /**
   * Merges a LoRA adapter into the weights: W + scale * alpha / rank * B A, computed in floats while the file is written.
   * Each tensor keeps its type: a quantized tensor is quantized again. Call quantize() afterwards for other types. Several
   * adapters can be merged one after another. Keep each adapter open until the file is written. Errors: those of
   * Model.setAdapters() for LoRA adapters; 'unsupported' for control vectors, activated adapters, and types that cannot
   * be dequantized.
   */
  mergeAdapter(adapter: GgufFile, options?: MergeAdapterOptions): Promise<MergeReport>
  /** The decisions of the last quantize(). */
  readonly quantization: QuantizeReport | undefined
  /** The file to write. Its sources are read only when it is written. */
  build(options?: BuildOptions): Promise<WrittenFile>
  /** The files of a split model, named as its loaders expect: "NAME-00001-of-00003.gguf". The first has all keys. */
  split(name: string, options?: SplitOptions): Promise<WrittenFile[]>
}
