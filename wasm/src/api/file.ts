/// <reference lib="esnext.disposable" preserve="true" />
// An open file, what open() takes, and the builder that file.edit() gives: the two name each other.
import type { Floats } from './arrays.js'
import type { AssetOptions } from './assets.js'
import type { Finding } from './findings.js'
import type {
  BuildOptions,
  EditOptions,
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
  /** parameters that one token touches: of the experts only those used. Equal to parameters without experts. */
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
  /** key-values and tensors walked so far, of those that the file declares (0 until they are known) */
  readonly keysSeen: number
  readonly keyCount: number
  readonly tensorsSeen: number
  readonly tensorCount: number
  /** set while waiting before another attempt */
  readonly retry?: RetryInfo | undefined
}

/**
 * full: the header is read as one stream, and everything answers at once. sparse: long arrays (vocabularies) are left out,
 * and what is behind them is found by a few small parallel reads; where that fails, full. auto: sparse where the link that
 * is measured makes it faster.
 */
export type Preview = 'full' | 'sparse' | 'auto'

export interface OpenOptions extends AssetOptions {
  signal?: AbortSignal | undefined
  /** default: 'full' */
  preview?: Preview | undefined
  /**
   * Keep what is read of an address in the browser's private storage (128 MB of all files, those seen last). Opened again
   * it takes one request, seldom more: its answer tells by its tag that the file is the same. Where nothing can be kept,
   * nothing is.
   */
  cache?: boolean | undefined
  /** The first keys, told once, long before the header is whole: texts and numbers that come before the first long array. */
  onKeys?: ((keys: ReadonlyMap<string, Scalar>) => void) | undefined
  onProgress?: ((progress: OpenProgress) => void) | undefined
  /** in place of globalThis.fetch */
  fetch?: typeof globalThis.fetch | undefined
  /**
   * Sent with every request to the origin of the given address, and to no other that a redirect leads to. Browsers do not
   * tell where a redirect leads: behind one they get Authorization alone, which they take off at another origin.
   */
  headers?: HeadersInit | undefined
  /** attempts after a failure that may pass (default 4) */
  retries?: number | undefined
  /** milliseconds without a byte after which a request counts as failed (default 30,000) */
  timeout?: number | undefined
  /** open what is there of a split model in place of an error of code 'missing-shard' */
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

/** What the file is, told by its magic. */
export type Container = 'gguf' | 'ggml' | 'ggmf' | 'ggjt' | 'ggla'

export interface StatsOptions extends ReadRowsOptions {
  /** A tensor of the same shape, in this or another file, that is held to be right. */
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

/** An open file. Its header is in memory; tensor data is read when asked for. */
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
  /** bytes; undefined where the server does not say. Of the first shard, where there are shards. */
  readonly size: number | undefined
  readonly dataOffset: number
  /** bytes of the header that were fetched to open the file, over all shards */
  readonly bytesRead: number
  readonly name: string | undefined
  /** false: a sparse preview left out arrays. What needs them throws 'incomplete' (lint, tokenizer, chatTemplates). */
  readonly complete: boolean
  /** Reads what a preview left out; an error of code 'preview-mismatch' where it does not fit to what was shown. */
  completeHeader(options?: ReadOptions): Promise<void>
  readonly metadata: Metadata
  readonly tensors: readonly TensorInfo[]
  /** one entry for a file that is not split */
  readonly shards: readonly Shard[]
  tensor(name: string): TensorInfo | undefined
  summary(): Summary
  lint(): Finding[]
  /**
   * Whether the file, or set of files, is whole: 'error' for data that was cut off, shards that are missing or that
   * contradict each other, and tensors that are there twice; 'note' for what lies behind the data (an archive, another
   * GGUF file). By headers, sizes and a few bytes behind the data.
   */
  damage(options?: ReadOptions): Promise<Finding[]>
  /**
   * Reads all tensor data, in pieces, and finds what llama.cpp's --check-tensors refuses: blocks whose floats or scales
   * are NaN or infinite ('tensor-data-invalid'). One finding a tensor, at its first such block.
   */
  lintData(options?: LintDataOptions): Promise<Finding[]>
  /**
   * Made once. An error of code 'unsupported' where the file has no vocabulary or one of an unknown kind. The module of
   * the tokenizers is loaded by the first call of a page, which waits for it: loadTokenizer() before does not.
   */
  tokenizer(): Tokenizer
  /** The same, and nothing waits: loads the module, and what a preview in parts left out of the header. */
  loadTokenizer(options?: ReadOptions): Promise<Tokenizer>
  /** The tokens of tokenizer.huggingface.json against the file's own; undefined where the file carries none. */
  compareTokenizers(options?: ReadOptions): Promise<TokenizerComparison | undefined>
  /** By name. Where the file has none: the one that its vocabulary suggests, if any. */
  readonly chatTemplates: ReadonlyMap<string, ChatTemplate>
  /**
   * The prompt of a conversation by the file's chat template, as Python's Jinja2 renders it, bounded in steps and size: templates are code of
   * strangers. Encode it with { special: true } and without bos where it begins with BOS itself.
   */
  renderChat(messages: readonly ChatMessage[], options?: RenderChatOptions): Promise<string>
  /** Raw bytes of whole rows, by one range. The layout is the file's. */
  read(name: string, options?: ReadRowsOptions): Promise<Uint8Array>
  /** Whole rows as floats, row-major, the same bits as ggml's. Only the bytes of those rows are read. */
  dequantize(name: string, options?: ReadRowsOptions): Promise<Floats>
  /** What the values are like, gathered as they stream by: never the whole tensor in memory. */
  stats(name: string, options?: StatsOptions): Promise<TensorStats>
  /**
   * How much memory the model takes when it runs: weights, keys and values, states, layer by layer and device by device.
   * From the header alone. Weights and caches are llama.cpp's own figures; `compute` is an estimate. Errors: 'unsupported'
   * where the file holds no model that runs by itself, 'invalid-argument'.
   */
  memory(options?: MemoryOptions): Promise<MemoryEstimate>
  /**
   * A builder that begins with this file's keys and tensors, all shards' as one. The file stays as it is; keep it open
   * until what was built is written. A damaged file is refused: see damage() and allowDamaged.
   */
  edit(options?: EditOptions): Promise<GgufBuilder>
  /** Frees the header and the source. Views handed out before stop working. */
  close(): void
}

/** An open GGUF file of llama.cpp's imatrix, or columns by tensor: what parseImatrix makes of an imatrix.dat. */
export type ImportanceSource = GgufFile | ReadonlyMap<string, Float32Array>

export interface RequantizeOptions extends ReadOptions {
  /** Every tensor of weights gets the mixture's main type. */
  pure?: boolean | undefined
  /**
   * The type of a tensor, whatever the mixture says; undefined: as it says. Or types by patterns, of which the first that
   * matches counts: a part of the name ("ffn_down", of weights alone), or all of it, with * for anything ("blk.0.*").
   * Upper and lower case are alike; a pattern that matches nothing is an error.
   */
  types?:
    | ((tensor: TensorPlan) => string | undefined)
    | Readonly<Record<string, string>>
    | ReadonlyMap<string, string>
    | undefined
  /** Which columns matter. Types below 3 bits need it. Every value is looked at first. */
  importance?: ImportanceSource | undefined
  /** What quantize.imatrix.file will say; without it there is no such key. */
  importanceFile?: string | undefined
  /** Tensors that are quantized already may be quantized to another type. Default: that is refused. */
  allowRequantize?: boolean | undefined
  /** Rows that are no whole blocks of a type take one of smaller blocks, or F16. Default: true; false refuses them. */
  fallback?: boolean | undefined
  /** Fills `quantization` in and changes nothing. The report names a missing matrix and requantization; neither is refused. */
  dryRun?: boolean | undefined
}

/**
 * A GGUF file in the making: keys and tensors, from nothing (`new GgufBuilder()` of ggufscope/edit) or from an opened file
 * (`file.edit()`). Arrays and tensor data of opened files stay where they are until the file is written.
 */
export interface GgufBuilder {
  keys(): string[]
  has(key: string): boolean
  type(key: string): ValueType | undefined
  readonly tensors: readonly TensorPlan[]
  /**
   * Sets a key. Without a type a standardized key gets the type that readers expect ("general.version" a string,
   * "llama.rope.freq_base" an f32), any other key that is there keeps its own, and a new one gets what the value looks
   * like: "u32" or wider for integers, "f32" for other numbers, in arrays "i32" for integers. An error of code
   * 'invalid-argument' where the type cannot hold the value.
   */
  set(key: string, value: WriteValue, type?: WriteType): this
  /** Takes a key of an opened file over, without making anything of its value. */
  copy(file: GgufFile, key: string, as?: string): this
  /** Removes the keys of a split (split.*): the file is a whole model, or becomes one. */
  removeSplit(): this
  /** Removes a key, however often it is there. */
  remove(key: string): this
  rename(key: string, to: string): this
  /** shape: ggml's order, fastest first. Float32Arrays are quantized as the type when the file is written. */
  addTensor(name: string, shape: readonly number[], type: string, data: TensorData): this
  renameTensor(name: string, to: string): this
  removeTensor(name: string): this
  /**
   * Gives every tensor its type in one of llama.cpp's mixtures ("Q4_K_M"): norms, biases and the like stay what they are.
   * The work is done when the file is written; NaN, infinities and values that a type cannot hold are refused then. What
   * llama-quantize refuses is refused here: quantizing again, types that need importance and have none, a matrix of
   * another model. `quantization` tells what was decided.
   */
  quantize(mixture: string, options?: RequantizeOptions): Promise<this>
  /** What the last quantize() decided. */
  readonly quantization: QuantizeReport | undefined
  /** The file as it would be written. What it is made of is read only when it is written. */
  build(options?: BuildOptions): Promise<WrittenFile>
  /** The files of a split model, named as its loaders expect: "NAME-00001-of-00003.gguf". The first has all keys. */
  split(name: string, options?: SplitOptions): Promise<WrittenFile[]>
}
