/// <reference lib="esnext.disposable" preserve="true" />
import type { GgufBuilder } from '../edit/builder.js'
import type { EditOptions } from '../edit/types.js'

/** Value types of GGUF metadata. */
export type ValueType =
  'u8' | 'i8' | 'u16' | 'i16' | 'u32' | 'i32' | 'f32' | 'bool' | 'string' | 'array' | 'u64' | 'i64' | 'f64'

/** Integers of 64 bits are numbers while a number holds them exactly (up to 2^53), and bigints beyond. */
export type Scalar = number | bigint | boolean | string

export type MetadataValue = Scalar | LazyArray

/**
 * An array of the header, still as bytes: elements are made when they are asked for.
 * After file.close() every access throws a GgufError of code 'closed'.
 */
export interface LazyArray<T extends MetadataValue = MetadataValue> extends Iterable<T> {
  /** of the elements */
  readonly type: ValueType
  readonly length: number
  /** false: a sparse preview left it out, and access throws a GgufError of code 'incomplete' until load() */
  readonly loaded: boolean
  /** Reads it, where a preview left it out. */
  load(options?: ReadOptions): Promise<void>
  /** Like Array.prototype.at: negative counts from the end, undefined beyond. */
  at(index: number): T | undefined
  /** Like Array.prototype.slice. The cheap way to show a page. */
  slice(from?: number, to?: number): T[]
  /** The bytes of one string, which need not be valid UTF-8. undefined beyond the end or where elements are no strings. */
  bytesAt(index: number): Uint8Array | undefined
  /** A copy of all elements of a numeric array; 64-bit integers as BigInt64Array or BigUint64Array, bool as Uint8Array. */
  toTypedArray(): NumericArray
  /** All elements: what JSON.stringify asks for. Expensive on vocabularies; 64-bit integers beyond 2^53 as strings. */
  toJSON(): unknown[]
}

export type NumericArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | BigUint64Array
  | BigInt64Array
  | Float64Array

/** What a standardized key means, from the catalogue of the specification and of llama.cpp. */
export interface KeyMeaning {
  /** "tokens", "heads", ...; may be empty */
  readonly unit: string
  /** one sentence */
  readonly meaning: string
}

/** An entry whose key was there before. */
export interface RepeatedKey {
  readonly key: string
  readonly type: ValueType
  readonly value: MetadataValue
  /** absolute byte offset of the value */
  readonly offset: number
}

/** The key-values of the file, like a read-only Map in the order of the file. Where a key is there twice, the first counts. */
export interface Metadata extends Iterable<[string, MetadataValue]> {
  readonly size: number
  has(key: string): boolean
  get(key: string): MetadataValue | undefined
  /** The value's type in the file, e.g. to tell u32 from f32. */
  type(key: string): ValueType | undefined
  /** Absolute byte offset of the value. */
  offset(key: string): number | undefined
  /** The entries of keys that are there more than once, but for the first of each, in the order of the file. */
  readonly repeated: readonly RepeatedKey[]
  /** What a standardized key means; undefined for any other key. */
  meaning(key: string): Promise<KeyMeaning | undefined>
  keys(): IterableIterator<string>
  values(): IterableIterator<MetadataValue>
  entries(): IterableIterator<[string, MetadataValue]>
  forEach(callback: (value: MetadataValue, key: string, metadata: Metadata) => void): void
}

export interface TensorInfo {
  readonly name: string
  /** ggml order: fastest first. A matrix of n rows and k columns is [k, n]. */
  readonly shape: readonly number[]
  /** ggml's name of the type ("Q4_K"), or "unknown(99)". */
  readonly type: string
  readonly typeId: number
  /** absolute byte offset in the file (of the shard, where there are shards) */
  readonly offset: number
  /** 0 where the type has no known layout */
  readonly byteLength: number
  readonly elementCount: number
  /** index into file.shards; 0 where there is one file */
  readonly shard: number
}

/** Geometry of a ggml type. */
export interface TensorType {
  readonly id: number
  readonly name: string
  /** elements in a block; 0: removed from ggml, layout no longer defined */
  readonly blockSize: number
  readonly blockBytes: number
  readonly removed: boolean
}

export type FindingLevel = 'error' | 'spec' | 'note'

/** error: a strict loader refuses the file; spec: against the specification; note: looks wrong or unusual. */
export interface Finding {
  readonly level: FindingLevel
  readonly code: string
  readonly message: string
  /** absolute byte offset */
  readonly offset: number
  readonly shard: number
}

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

export interface ReadOptions {
  signal?: AbortSignal | undefined
}

export interface ReadRowsOptions extends ReadOptions {
  /** [from, to): rows of shape[0] elements, counted over all further dimensions. All rows when absent. */
  rows?: readonly [from: number, to: number] | undefined
  /**
   * Elements in a super-block of the K types. Some builds until May 2024 had 64 in place of 256, and their files do not
   * say so; without this option the places of the tensors decide.
   */
  superBlock?: 64 | 256 | undefined
}

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

/** Of rows or of columns, one number for each. */
export interface LineStats {
  readonly absoluteMaximum: Float64Array
  readonly rootMeanSquare: Float64Array
}

export interface Distribution {
  readonly count: number
  readonly min: number
  readonly max: number
  readonly mean: number
  readonly standardDeviation: number
  readonly zeros: number
}

/** minimum, mean and the like are those of the finite values. */
export interface TensorStats extends Distribution {
  readonly name: string
  readonly type: string
  /** neither NaN nor infinite */
  readonly finite: number
  readonly nans: number
  readonly infinities: number
  readonly absoluteMaximum: number
  /** Equal bins from `from` on, `width` wide each. */
  readonly histogram: { readonly from: number; readonly width: number; readonly counts: Float64Array }
  /** undefined where there are more than four million */
  readonly rows: LineStats | undefined
  /** Columns are positions in a row: the input channels of a matrix. */
  readonly columns: LineStats | undefined
  /** Columns whose root mean square is six deviations above that of most, the farthest first. */
  readonly outlierColumns: readonly { readonly index: number; readonly rootMeanSquare: number }[]
  /** The scales stored with the blocks; undefined for types without. */
  readonly scales: (Distribution & { readonly subnormal: number; readonly notFinite: number }) | undefined
  /** With options.against. nmse: mean square of the difference over that of the reference. */
  readonly error:
    | {
        readonly nmse: number
        readonly cosine: number
        readonly maximum: number
        readonly notFinite: number
      }
    | undefined
}

export interface QuantizeOptions {
  /**
   * Weights of one row's elements, none negative: an importance matrix' entry for the tensor. IQ1_S, IQ2_XXS and IQ2_XS
   * cannot do without.
   */
  importance?: Float32Array | undefined
  signal?: AbortSignal | undefined
  /** where inspect.wasm is, when it is not beside the package's files; quant.wasm is beside it */
  wasmUrl?: string | URL | undefined
}

export interface StreamOptions extends ReadOptions {
  /** nothing behind this offset is wanted: a source may stop there */
  end?: number | undefined
}

/** Where bytes come from: the only seam to the world. Offsets and lengths in bytes. */
export interface ByteSource {
  /** When it is known. A source may learn it with its first answer. */
  readonly size?: number | undefined
  /** File name, for shards and messages. */
  readonly name?: string | undefined
  /** false: reading at an offset means reading up to it, as on a server that ignores ranges */
  readonly ranges?: boolean | undefined
  /** Exactly length bytes, or an error. */
  read(offset: number, length: number, options: ReadOptions): Promise<Uint8Array>
  /** Everything from offset on, in pieces of any size. Ending the iteration early stops the transfer. */
  stream?(offset: number, options: StreamOptions): AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>
  /** A file beside this one, for the shards of a split model. */
  sibling?(name: string): ByteSource
  close?(): void
}

/** What open() takes. A string is an address, a model-hub page address or "hf:owner/repository/file.gguf". */
export type Source = string | URL | Blob | ArrayBuffer | Uint8Array | ByteSource

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

export interface RetryInfo {
  readonly attempt: number
  readonly delayMs: number
  readonly reason: string
}

/**
 * full: the header is read as one stream, and everything answers at once. sparse: long arrays (vocabularies) are left out,
 * and what is behind them is found by a few small parallel reads; where that fails, full. auto: sparse where the link that
 * is measured makes it faster.
 */
export type Preview = 'full' | 'sparse' | 'auto'

export interface OpenOptions {
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
  /** where inspect.wasm is, when it is not beside the package's files */
  wasmUrl?: string | URL | undefined
}

export interface Shard {
  readonly name: string | undefined
  /** false: not there (only with allowMissingShards) */
  readonly present: boolean
  readonly size: number | undefined
  readonly dataOffset: number
  readonly tensorCount: number
}

/** spm: SentencePiece BPE ("llama"); bpe: byte-level BPE ("gpt2", "gemma4", ...); wordpiece: "bert"; unigram: "t5" */
export type TokenizerKind = 'spm' | 'bpe' | 'wordpiece' | 'unigram' | 'rwkv' | 'plamo2'

/** tokenizer.ggml.token_type, with tokens that look like control tokens made control tokens, as llama.cpp does. */
export type TokenType = 'undefined' | 'normal' | 'unknown' | 'control' | 'user-defined' | 'unused' | 'byte'

export type SpecialRole =
  | 'bos'
  | 'eos'
  | 'eot'
  | 'eom'
  | 'unk'
  | 'sep'
  | 'pad'
  | 'mask'
  | 'fimPrefix'
  | 'fimSuffix'
  | 'fimMiddle'
  | 'fimPad'
  | 'fimRepository'
  | 'fimSeparator'

/** Ids by role; roles that no token has are absent. */
export type SpecialTokens = { readonly [Role in SpecialRole]?: number }

export interface Token {
  readonly id: number
  /** as the file spells it */
  readonly text: string
  /** what it decodes to, which need not be valid UTF-8 alone */
  readonly bytes: Uint8Array
  readonly type: TokenType
  readonly score: number
  /** control or unknown: not for readers */
  readonly special: boolean
  readonly endOfGeneration: boolean
}

/** The vocabulary; tokens are made when they are asked for. */
export interface TokenList extends Iterable<Token> {
  readonly length: number
  at(id: number): Token | undefined
  slice(from?: number, to?: number): Token[]
}

export interface EncodeOptions {
  /** Control tokens written in the text become their ids. User-defined tokens always do. Default: false. */
  special?: boolean | undefined
  /** Add BOS, EOS and SEP as the file's flags say. Default: false. */
  bos?: boolean | undefined
}

export interface DecodeOptions {
  /** Show control and unknown tokens as text. Default: true. */
  special?: boolean | undefined
  /** Leave out a leading BOS and a trailing EOS of the kind that encode adds. Default: false. */
  removeSpecial?: boolean | undefined
}

export interface TokenSearch {
  /** part of the token's bytes; ASCII letters of either case */
  text?: string | undefined
  types?: readonly TokenType[] | undefined
  /** first id to look at */
  from?: number | undefined
  /** default: 100 */
  limit?: number | undefined
}

/** Ids one by one to text: a character that is spread over tokens comes with its last one. */
export interface StreamDecoder {
  push(id: number): string
  finish(): string
}

/** Text to tokens and back, the same as llama.cpp. It outlives the file that it was made of. */
export interface Tokenizer extends Disposable {
  readonly kind: TokenizerKind
  /** tokenizer.ggml.model */
  readonly model: string
  /** tokenizer.ggml.pre, "default" when absent */
  readonly pre: string
  readonly size: number
  readonly special: SpecialTokens
  readonly addsBos: boolean
  readonly addsEos: boolean
  readonly tokens: TokenList
  /** what is odd in the vocabulary */
  readonly findings: readonly Finding[]
  encode(text: string | Uint8Array, options?: EncodeOptions): number[]
  /** How many ids encode gives, without making them. */
  count(text: string | Uint8Array, options?: EncodeOptions): number
  decode(ids: Iterable<number>, options?: DecodeOptions): string
  /** The exact bytes, which need not be valid UTF-8. */
  decodeBytes(ids: Iterable<number>, options?: DecodeOptions): Uint8Array
  /** For ids that arrive one by one. Special tokens are hidden by default. */
  stream(options?: Pick<DecodeOptions, 'special'>): StreamDecoder
  isEndOfGeneration(id: number): boolean
  /** The id of a token by the file's spelling. */
  find(text: string): number | undefined
  /** Ids of the tokens that match, in order. */
  search(query?: TokenSearch): number[]
  close(): void
}

export interface ChatMessage {
  readonly role: string
  /** Most templates take text; some take parts ({ type: 'text', text }). */
  readonly content?: unknown
  readonly [field: string]: unknown
}

export interface RenderChatOptions {
  /** The name of one of file.chatTemplates. Default: "default", or "tool_use" where there are tools and such a template. */
  template?: string | undefined
  /** Definitions of tools, as the template expects them: mostly { type: 'function', function: { name, description, parameters } }. */
  tools?: readonly unknown[] | undefined
  documents?: readonly unknown[] | undefined
  /** End with the beginning of the assistant's answer. Default: true. */
  addGenerationPrompt?: boolean | undefined
  /** Further variables of the template, such as enable_thinking. */
  variables?: Readonly<Record<string, unknown>> | undefined
  /** What strftime_now tells. */
  now?: Date | undefined
  /** The most characters of the result, and of any text on the way. Default: 4 million. */
  maxLength?: number | undefined
  /** Milliseconds. Default: 2000. */
  timeout?: number | undefined
}

/** A token whose text differs, or that only one of the two has. */
export interface TokenizerDifference {
  readonly id: number
  readonly ours: string | undefined
  readonly theirs: string | undefined
}

/** What a file's tokenizer.huggingface.json has beside the vocabulary of tokenizer.ggml.*. */
export interface TokenizerComparison {
  /** its model.type: "BPE", "Unigram", "WordPiece", ... */
  readonly model: string
  /** tokens, the added ones included */
  readonly size: number
  readonly addedTokens: number
  readonly merges: number
  /** tokens of type 'unused' that only the file's own vocabulary has: they fill up its embedding */
  readonly padding: number
  /** how many tokens differ */
  readonly different: number
  /** the first hundred of them */
  readonly differences: readonly TokenizerDifference[]
}

export interface ChatTemplate {
  /** "default", or the name that the file gives */
  readonly name: string
  /** 'file', or the name of a known format that the vocabulary suggests, where the file has no template */
  readonly source: string
  readonly text: string
}

/** What the file is, told by its magic. */
export type Container = 'gguf' | 'ggml' | 'ggmf' | 'ggjt' | 'ggla'

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
   * The prompt of a conversation by the file's chat template, bounded in time and size: templates are code of
   * strangers. Encode it with { special: true } and without bos where it begins with BOS itself.
   */
  renderChat(messages: readonly ChatMessage[], options?: RenderChatOptions): Promise<string>
  /** Raw bytes of whole rows, by one range. The layout is the file's. */
  read(name: string, options?: ReadRowsOptions): Promise<Uint8Array>
  /** Whole rows as floats, row-major, the same bits as ggml's. Only the bytes of those rows are read. */
  dequantize(name: string, options?: ReadRowsOptions): Promise<Float32Array<ArrayBuffer>>
  /** What the values are like, gathered as they stream by: never the whole tensor in memory. */
  stats(name: string, options?: StatsOptions): Promise<TensorStats>
  /**
   * A builder that begins with this file's keys and tensors, all shards' as one. The file stays as it is; keep it open
   * until what was built is written. A damaged file is refused: see damage() and allowDamaged.
   */
  edit(options?: EditOptions): Promise<GgufBuilder>
  /** Frees the header and the source. Views handed out before stop working. */
  close(): void
}
