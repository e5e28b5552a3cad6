/// <reference lib="esnext.disposable" preserve="true" />
// An open file, the options of open(), and the builder that file.edit() returns. They are in one file because they
// refer to each other.
import type { Floats } from './arrays.js'
import type { AssetOptions } from './assets.js'
import type { Finding, LintOptions } from './findings.js'
import type {
  AddTokensOptions,
  BuildOptions,
  EditOptions,
  MergeReport,
  NewToken,
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
import type { ReadRowsOptions, ReadWindowOptions, TensorInfo, TensorStats } from './tensors.js'
import type { ChatMessage, ChatTemplate, RenderChatOptions, Tokenizer, TokenizerComparison } from './text.js'

/** The share of one type in the file. */
export interface TypeShare {
  readonly type: string
  readonly tensors: number
  readonly elements: number
  readonly bytes: number
}

/** metadata: neither tensors nor a tokenizer */
export type FileKind =
  | 'model'
  | 'vocabulary'
  | 'adapter'
  | 'projector'
  | 'imatrix'
  | 'control-vector'
  | 'metadata'

/** Members are undefined if the file does not contain the information. */
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
  /** number of elements of all tensors */
  readonly parameters: number
  /**
   * Parameters used for one token: with experts, only the active ones are counted. Equals `parameters` if there are
   * no experts.
   */
  readonly activeParameters: number
  /** the file's own statement (general.file_type), such as "Q4_K_M" */
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
  /** if it differs between layers, the largest number */
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
  /** size of the file, if known */
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
 * full: reads the header as one stream, so that everything is available at once. sparse: leaves out long arrays
 * (vocabularies), and finds the keys after them with a few small parallel requests; falls back to full if that fails.
 * auto: measures the connection and uses sparse if that is faster.
 */
export type Preview = 'full' | 'sparse' | 'auto'

export interface OpenOptions extends AssetOptions {
  signal?: AbortSignal | undefined
  /** default: 'full' */
  preview?: Preview | undefined
  /**
   * Keeps what is read from an address in the browser's private storage, or in Node in the user's cache folder (at
   * most 128 MB for all files; the least recently used are removed). Opening the file again usually takes one
   * request, which checks by the entity tag that the file is the same. Without such storage the option has no effect.
   */
  cache?: boolean | undefined
  /**
   * Called once with the first keys, long before the header is complete: strings and numbers before the first long
   * array.
   */
  onKeys?: ((keys: ReadonlyMap<string, Scalar>) => void) | undefined
  onProgress?: ((progress: OpenProgress) => void) | undefined
  /** used instead of globalThis.fetch */
  fetch?: typeof globalThis.fetch | undefined
  /**
   * Sent with every request to the origin of the given address, but to no other origin after a redirect. Browsers
   * hide the target of a redirect; they then send only Authorization, which they remove at another origin.
   */
  headers?: HeadersInit | undefined
  /** number of retries after a transient failure (default 4) */
  retries?: number | undefined
  /** milliseconds without data after which a request fails (default 30,000) */
  timeout?: number | undefined
  /** opens an incomplete split model instead of throwing an error 'missing-shard' */
  allowMissingShards?: boolean | undefined
}

export interface Shard {
  readonly name: string | undefined
  /** false: missing (only with allowMissingShards) */
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
  /** Called with the number of bytes of the tensor read so far, and the number of all. */
  onProgress?: ((loaded: number, total: number) => void) | undefined
}

export interface LintDataOptions extends ReadOptions {
  /** Called with the number of bytes of tensor data read so far, and the number of all. */
  onProgress?: ((loaded: number, total: number) => void) | undefined
}

export interface MemoryOptions {
  /**
   * Number of tokens of prompt and answer together. Default: the model's training context, or 4,096 if the file does
   * not state it.
   */
  context?: number | undefined
  /** Type of keys and values, or of each. Default: 'f16'. */
  kvType?: KvType | { readonly k?: KvType | undefined; readonly v?: KvType | undefined } | undefined
  /** Number of tokens that are computed at once (llama.cpp's --ubatch-size). Default: 512. */
  batch?: number | undefined
  /**
   * Number of layers on the devices, beginning with the last layer. The output layer counts as one (llama.cpp's
   * --n-gpu-layers). 'fit': as many as fit. Default: 'fit' if there are devices, otherwise 0.
   */
  gpuLayers?: number | 'fit' | undefined
  /** Number of first layers whose experts stay on the CPU (llama.cpp's --n-cpu-moe). Default: 0. */
  cpuExperts?: number | undefined
  /** The accelerators. Layers are distributed in proportion to their memory. */
  devices?: readonly MemoryDevice[] | undefined
  /** the computer's own memory */
  host?: MemoryDevice | undefined
  /** The projector for images or audio. */
  mmproj?: GgufFile | undefined
  /** The draft model for speculative decoding. It has the same context and cache types. */
  draft?: GgufFile | undefined
  /** Adapters. */
  lora?: GgufFile | readonly GgufFile[] | undefined
}

/** An open file. Its header is in memory. Tensor data is read on demand. */
export interface GgufFile extends Disposable {
  /**
   * 'gguf', or an older container. Older containers are shown with the metadata that a converter to GGUF would write;
   * tensor names and data are not changed.
   */
  readonly container: Container
  /** version of the container; 0 if it has none */
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
  /** Reads what a preview left out. Error: 'preview-mismatch' if it contradicts the preview. */
  completeHeader(options?: ReadOptions): Promise<void>
  readonly metadata: Metadata
  readonly tensors: readonly TensorInfo[]
  /** A file that is not split has one entry. */
  readonly shards: readonly Shard[]
  tensor(name: string): TensorInfo | undefined
  summary(): Summary
  /** Checks the header. The byte offset of a finding is absent where the fault has no place in the file. */
  lint(options?: LintOptions): Finding[]
  /**
   * Checks the file or set of files. 'error': truncated data, missing or contradictory files of a split model,
   * tensors that occur twice. 'note': bytes after the data (an archive, another GGUF file). It reads headers, sizes
   * and a few bytes after the data.
   */
  damage(options?: ReadOptions): Promise<Finding[]>
  /**
   * Reads all tensor data, in chunks, and finds what llama.cpp's --check-tensors refuses: blocks whose floats or
   * scales are NaN or infinite ('tensor-data-invalid'). There is one finding for each tensor, at its first such
   * block.
   */
  lintData(options?: LintDataOptions): Promise<Finding[]>
  /**
   * Compiles each chat template and renders short conversations with it, and with tools where the template needs them.
   * 'template-error': it fails, with its line and column, at the byte offset of that place. 'template-drops-message':
   * the prompt lacks messages. 'template-stand-in': the template is empty, or only a name.
   */
  lintTemplates(options?: ReadOptions): Promise<Finding[]>
  /**
   * A note ('mistyped-key') for each unknown key that differs by a letter or two from a standardized one, and an error
   * ('byte-tokens-missing') for a SentencePiece vocabulary that lacks tokens of bytes: llama.cpp aborts at some texts.
   */
  lintKeys(options?: ReadOptions): Promise<Finding[]>
  /**
   * The tokenizer, which is built once. Error: 'unsupported' if the file has no vocabulary, or one of an unknown
   * kind; 'incomplete' if the file is from before GGUF and loadTokenizer() did not convert its vocabulary yet. The
   * page's first call loads the tokenizer module and blocks until it is loaded. Call loadTokenizer() first to avoid that.
   */
  tokenizer(): Tokenizer
  /**
   * The same without blocking. Loads the module, and the parts of the header that a sparse preview left out. Converts the
   * vocabulary of a file from before GGUF, such as a Whisper model.bin.
   */
  loadTokenizer(options?: ReadOptions): Promise<Tokenizer>
  /** Compares the tokens of tokenizer.huggingface.json with the file's own. undefined if the file has no such key. */
  compareTokenizers(options?: ReadOptions): Promise<TokenizerComparison | undefined>
  /**
   * Chat templates by name. If the file has none, the map contains the known template that the vocabulary suggests,
   * if any.
   */
  readonly chatTemplates: ReadonlyMap<string, ChatTemplate>
  /**
   * Renders a conversation with the file's chat template, like Python's Jinja2. The number of steps and the size are
   * limited, because templates are untrusted code. Encode the result with { special: true }, and without bos if it
   * begins with BOS.
   */
  renderChat(messages: readonly ChatMessage[], options?: RenderChatOptions): Promise<string>
  /** The raw bytes of whole rows, or of some columns, in the file's layout. Whole rows take one range request. */
  read(name: string, options?: ReadWindowOptions): Promise<Uint8Array>
  /**
   * Whole rows, or some columns, as floats, row-major, bit-identical to ggml's dequantization. Only the bytes of those
   * rows are read.
   */
  dequantize(name: string, options?: ReadWindowOptions): Promise<Floats>
  /** Statistics of the values. They are computed while the data arrives, so the whole tensor is never in memory. */
  stats(name: string, options?: StatsOptions): Promise<TensorStats>
  /**
   * The memory that running the model takes: weights, keys and values, and states, by layer and by device. It uses
   * only the header. Weights and caches equal llama.cpp's; `compute` is close to its CPU backend's. Errors:
   * 'unsupported', with the reason, if no loader takes the file or one that goes with it; 'invalid-argument'.
   */
  memory(options?: MemoryOptions): Promise<MemoryEstimate>
  /**
   * A builder with this file's keys and tensors (of all files of a split model). The file itself is not changed; keep
   * it open until the result is written. A damaged file is refused; see damage() and allowDamaged.
   */
  edit(options?: EditOptions): Promise<GgufBuilder>
  /** Frees the header and the source. Objects that refer to them stop working. */
  close(): void
}

/** An open GGUF file from llama.cpp's imatrix, or columns by tensor, which parseImatrix reads from an imatrix.dat. */
export type ImportanceSource = GgufFile | ReadonlyMap<string, Float32Array>

export interface RequantizeOptions extends ReadOptions {
  /** Gives every weight tensor the mixture's main type. */
  pure?: boolean | undefined
  /**
   * The type of a tensor, which overrides the mixture; undefined: the mixture's. Or a list of patterns with types, of
   * which the first match applies. A pattern is a part of the name ("ffn_down", weights only), or the whole name with
   * * for any text ("blk.0.*"). Case does not matter. A pattern that matches nothing is an error.
   */
  types?:
    | ((tensor: TensorPlan) => string | undefined)
    | Readonly<Record<string, string>>
    | ReadonlyMap<string, string>
    | undefined
  /** The importance of columns. Types below 3 bits require it. All values are checked first. */
  importance?: ImportanceSource | undefined
  /** The value for quantize.imatrix.file. Default: no such key. */
  importanceFile?: string | undefined
  /** Allows tensors that are already quantized to be quantized to another type. Default: false. */
  allowRequantize?: boolean | undefined
  /**
   * Tensors whose rows are not whole blocks of their type get a type with smaller blocks, or F16. false: they are
   * refused. Default: true.
   */
  fallback?: boolean | undefined
  /**
   * Fills in `quantization` only, and changes nothing. A missing matrix or requantization is reported instead of
   * refused.
   */
  dryRun?: boolean | undefined
}

export interface MergeAdapterOptions extends ReadOptions {
  /** Any finite number. Default: 1. */
  scale?: number | undefined
  /** The importance of columns, used if a changed tensor is quantized to its old type again. */
  importance?: ImportanceSource | undefined
}

/**
 * Builds a GGUF file from keys and tensors: from nothing (`new GgufBuilder()` of ggufscope/edit) or from an open file
 * (`file.edit()`). Arrays and tensor data of open files are read only when the result is written.
 */
export interface GgufBuilder {
  keys(): string[]
  has(key: string): boolean
  type(key: string): ValueType | undefined
  readonly tensors: readonly TensorPlan[]
  /**
   * Sets a key. The type, if it is not given, is: for a standardized key, the one that readers expect
   * ("general.version" a string, "llama.rope.freq_base" an f32); for another existing key, its old type; for a new
   * key, one that suits the value: "u32" or wider for integers, "f32" for other numbers, "i32" for integers in
   * arrays. Error: 'invalid-argument' if the type cannot hold the value.
   */
  set(key: string, value: WriteValue, type?: WriteType): this
  /** Copies a key of an open file, without converting its value. */
  copy(file: GgufFile, key: string, as?: string): this
  /** Removes the keys of a split model (split.*), for a file that is a whole model. */
  removeSplit(): this
  /** Removes all occurrences of a key. */
  remove(key: string): this
  rename(key: string, to: string): this
  /** shape: in ggml's order, fastest first. A Float32Array is quantized to the type when the file is written. */
  addTensor(name: string, shape: readonly number[], type: string, data: TensorData): this
  renameTensor(name: string, to: string): this
  removeTensor(name: string): this
  /**
   * Adds tokens at the end of the vocabulary, to every array with one entry per token. The embeddings and the output
   * get a row for each, unless they have rows without tokens: those are used first. Rows are computed when the file is
   * written. tokenizer.huggingface.json is removed, because it describes the vocabulary before. Errors: 'not-found'
   * without a vocabulary, 'duplicate' for a text that it has, 'invalid-argument', 'unsupported'.
   */
  addTokens(tokens: readonly NewToken[], options?: AddTokensOptions): this
  /**
   * Removes tokens, by id or text, with their rows in the embeddings and the output, and with the merges that cannot be
   * made without them. Later tokens get smaller ids, and keys with ids follow. Errors: 'not-found';
   * 'invalid-argument' for a token that such a key names, and for a text of several tokens.
   */
  removeTokens(tokens: readonly (number | string)[]): this
  /**
   * Gives every tensor its type in one of llama.cpp's mixtures ("Q4_K_M"). Norms, biases and similar tensors keep
   * their type. The data is converted when the file is written; NaN, infinities and values that a type cannot hold
   * are errors then. What llama-quantize refuses is an error here: quantizing again, types that need importance if
   * there is none, a matrix of another model. `quantization` lists the decisions.
   */
  quantize(mixture: string, options?: RequantizeOptions): Promise<this>
  /**
   * Merges a LoRA adapter into the weights: W + scale * alpha / rank * B A, computed in floats while the file is
   * written. Each tensor keeps its type: a quantized tensor is quantized again. Call quantize() afterwards for other
   * types. Several adapters can be merged in sequence. Keep each adapter open until the file is written. Errors:
   * those of Model.setAdapters() for LoRA adapters; 'unsupported' for control vectors, activated adapters, and types
   * that cannot be dequantized.
   */
  mergeAdapter(adapter: GgufFile, options?: MergeAdapterOptions): Promise<MergeReport>
  /** The decisions of the last quantize(). */
  readonly quantization: QuantizeReport | undefined
  /** The file to write. Its sources are read only when it is written. */
  build(options?: BuildOptions): Promise<WrittenFile>
  /**
   * The files of a split model, with the names that loaders expect: "NAME-00001-of-00003.gguf". The first one has all
   * keys.
   */
  split(name: string, options?: SplitOptions): Promise<WrittenFile[]>
}
