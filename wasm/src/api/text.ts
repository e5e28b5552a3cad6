/// <reference lib="esnext.disposable" preserve="true" />
// Tokenizers and chat templates.
import type { Finding } from './findings.js'

/** spm: SentencePiece BPE ("llama"); bpe: byte-level BPE ("gpt2", "gemma4", ...); wordpiece: "bert"; unigram: "t5" */
export type TokenizerKind = 'spm' | 'bpe' | 'wordpiece' | 'unigram' | 'rwkv' | 'plamo2'

/** tokenizer.ggml.token_type, except that tokens that look like control tokens are 'control', as in llama.cpp. */
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

/** Ids by role. Roles without a token are absent. */
export type SpecialTokens = { readonly [Role in SpecialRole]?: number }

export interface Token {
  readonly id: number
  /** as spelled in the file */
  readonly text: string
  /** the bytes that it decodes to, which may be incomplete UTF-8 */
  readonly bytes: Uint8Array
  readonly type: TokenType
  readonly score: number
  /** control or unknown: not shown to users */
  readonly special: boolean
  readonly endOfGeneration: boolean
}

/** The vocabulary. Token objects are created on demand. */
export interface TokenList extends Iterable<Token> {
  readonly length: number
  at(id: number): Token | undefined
  slice(from?: number, to?: number): Token[]
}

export interface EncodeOptions {
  /** Converts the texts of control tokens to their ids. User-defined tokens are always converted. Default: false. */
  special?: boolean | undefined
  /** Adds BOS, EOS and SEP as the file's flags say. Default: false. */
  bos?: boolean | undefined
}

/** A text, or its pieces in order. Bytes are UTF-8. A character may be divided between pieces. */
export type TextPieces =
  | string
  | Uint8Array
  | Blob
  | ReadableStream<string | Uint8Array>
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>

export interface CountProgress {
  /** how much of the text was read: bytes, and UTF-16 code units of strings */
  readonly read: number
  /** the tokens counted so far */
  readonly tokens: number
}

export interface CountStreamOptions extends EncodeOptions {
  signal?: AbortSignal | undefined
  onProgress?: ((progress: CountProgress) => void) | undefined
  /** UTF-16 code units that are counted at once, without a pause for other work. Default: 32,768. */
  pieceLength?: number | undefined
}

export interface DecodeOptions {
  /** Includes control and unknown tokens as text. Default: true. */
  special?: boolean | undefined
  /** Leaves out a leading BOS and a trailing EOS that encode would add. Default: false. */
  removeSpecial?: boolean | undefined
}

export interface TokenSearch {
  /** Part of the token's bytes. ASCII letters match in either case. */
  text?: string | undefined
  types?: readonly TokenType[] | undefined
  /** The first id to search. */
  from?: number | undefined
  /** default: 100 */
  limit?: number | undefined
}

/** Decodes ids one by one. A character that consists of several tokens is returned with the last of them. */
export interface StreamDecoder {
  push(id: number): string
  finish(): string
}

/** Converts text to tokens and back, like llama.cpp. It works after the file is closed. */
export interface Tokenizer extends Disposable {
  readonly kind: TokenizerKind
  /** tokenizer.ggml.model */
  readonly model: string
  /** tokenizer.ggml.pre, or "default" if absent */
  readonly pre: string
  readonly size: number
  readonly special: SpecialTokens
  readonly addsBos: boolean
  readonly addsEos: boolean
  /** adds SEP between the two texts of a pair, for rerankers */
  readonly addsSep: boolean
  readonly tokens: TokenList
  /** irregularities of the vocabulary */
  readonly findings: readonly Finding[]
  encode(text: string | Uint8Array, options?: EncodeOptions): number[]
  /** The number of ids that encode would return, without creating them. */
  count(text: string | Uint8Array, options?: EncodeOptions): number
  /**
   * Counts the ids of a text of any length, such as a file, without holding it in memory. The result equals that of
   * count() for the whole text: it is cut only where no token can cross. Text without such a place, e.g. megabytes of
   * letters without white space, is held until one comes. Errors: 'invalid-argument' for pieces that are no text;
   * 'out-of-memory' if more than 1 GiB has no place to cut.
   */
  countStream(pieces: TextPieces, options?: CountStreamOptions): Promise<number>
  /** The text of tokens. Error: 'out-of-range' for an id that the vocabulary lacks. Negative ids, of media, have no text. */
  decode(ids: Iterable<number>, options?: DecodeOptions): string
  /** The exact bytes, which may be invalid UTF-8. */
  decodeBytes(ids: Iterable<number>, options?: DecodeOptions): Uint8Array
  /** For ids that arrive one by one. Special tokens are left out by default. */
  stream(options?: Pick<DecodeOptions, 'special'>): StreamDecoder
  isEndOfGeneration(id: number): boolean
  /** Finds the id of a token by the file's spelling. */
  find(text: string): number | undefined
  /** Ids of the tokens that match, in order. */
  search(query?: TokenSearch): number[]
  close(): void
}

export interface ChatMessage {
  readonly role: string
  /** Text, or OpenAI's parts ({ type: 'text', text }, ...); null or absent if there are tool_calls. */
  readonly content?: unknown
  readonly [field: string]: unknown
}

export interface RenderChatOptions {
  /**
   * The name of one of file.chatTemplates, or of a known format. Default: "default", or "tool_use" if there are tools
   * and a template of that name.
   */
  template?: string | undefined
  /** Definitions of tools: { type: 'function', function: { name, description, parameters } }. Default: none. */
  tools?: readonly unknown[] | undefined
  /**
   * Texts to answer from, usually { title, text }. Error: 'unsupported' if the template does not support documents.
   * Default: none.
   */
  documents?: readonly unknown[] | undefined
  /** Ends the prompt with the beginning of the assistant's answer. Default: true. */
  addGenerationPrompt?: boolean | undefined
  /** Ends the prompt within the last message, an assistant's, so that the model continues it. Default: false. */
  continue?: boolean | undefined
  /**
   * Converts OpenAI's messages to the form that the template expects: parts, arguments of calls, results, roles,
   * reasoning. false: the template gets them unchanged, as in Python. Default: false for renderChat, true for chat()
   * and encodeChat().
   */
  adapt?: boolean | undefined
  /** Further variables of the template, such as enable_thinking. */
  variables?: Readonly<Record<string, unknown>> | undefined
  /** Another name of `variables`. If both contain a variable, this value is used. */
  templateVariables?: Readonly<Record<string, unknown>> | undefined
  /** The time for strftime_now. Default: now. */
  now?: Date | undefined
  /** Limit in bytes (UTF-8) for the result, and for each intermediate text. Default: 4 million. */
  maxLength?: number | undefined
}

/** A token whose text differs, or that only one of the vocabularies has. */
export interface TokenizerDifference {
  readonly id: number
  readonly ours: string | undefined
  readonly theirs: string | undefined
}

/** The differences between a file's tokenizer.huggingface.json and its tokenizer.ggml.* keys. */
export interface TokenizerComparison {
  /** its model.type: "BPE", "Unigram", "WordPiece", ... */
  readonly model: string
  /** number of tokens, including added ones */
  readonly size: number
  readonly addedTokens: number
  readonly merges: number
  /** number of tokens of type 'unused' that only the file's own vocabulary has: padding of the embedding */
  readonly padding: number
  /** number of tokens that differ */
  readonly different: number
  /** the first hundred differences */
  readonly differences: readonly TokenizerDifference[]
}

export interface ChatTemplate {
  /** "default", or the name in the file */
  readonly name: string
  /**
   * 'file', or the name of a known format: the one that the vocabulary suggests if the file has no template, ChatML if
   * its template is empty, and the format of that name if the template is only a name such as "llama3"
   */
  readonly source: string
  readonly text: string
  /** Says why a known format stands for the file's template. */
  readonly warning?: string | undefined
}
