/// <reference lib="esnext.disposable" preserve="true" />
// Tokenizers and chat templates.
import type { Finding } from './findings.js'

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

/** Ids by role. Roles without a token are absent. */
export type SpecialTokens = { readonly [Role in SpecialRole]?: number }

export interface Token {
  readonly id: number
  /** as the file spells it */
  readonly text: string
  /** the bytes that it decodes to; by themselves they need not be valid UTF-8 */
  readonly bytes: Uint8Array
  readonly type: TokenType
  readonly score: number
  /** control or unknown: hidden from readers */
  readonly special: boolean
  readonly endOfGeneration: boolean
}

/** The vocabulary; token objects are made on demand. */
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

/** Decodes ids one by one: a character of several tokens comes with the last of them. */
export interface StreamDecoder {
  push(id: number): string
  finish(): string
}

/** Text to tokens and back, the same as llama.cpp. It works after the file is closed. */
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
  /** between the two texts of a pair, as rerankers read them */
  readonly addsSep: boolean
  readonly tokens: TokenList
  /** irregularities of the vocabulary */
  readonly findings: readonly Finding[]
  encode(text: string | Uint8Array, options?: EncodeOptions): number[]
  /** The number of ids that encode would return, without making them. */
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
  /** Text, or OpenAI's parts ({ type: 'text', text }, ...); null or absent beside tool_calls. */
  readonly content?: unknown
  readonly [field: string]: unknown
}

export interface RenderChatOptions {
  /**
   * The name of one of file.chatTemplates, or of a known format. Default: "default", or "tool_use" where there are tools and
   * such a template.
   */
  template?: string | undefined
  /** Definitions of tools: { type: 'function', function: { name, description, parameters } }. Default: none. */
  tools?: readonly unknown[] | undefined
  /** Texts to answer from: mostly { title, text }. An error of code 'unsupported' where the template takes none. Default: none. */
  documents?: readonly unknown[] | undefined
  /** End with the beginning of the assistant's answer. Default: true. */
  addGenerationPrompt?: boolean | undefined
  /** End within the last message, an assistant's, for the model to go on with it. Default: false. */
  continue?: boolean | undefined
  /**
   * Give the template OpenAI's messages in the form that it takes: parts, arguments of calls, results, roles, reasoning.
   * false: as they are, as Python's Jinja2 would get them. Default: false of renderChat, true of chat() and encodeChat().
   */
  adapt?: boolean | undefined
  /** Further variables of the template, such as enable_thinking. */
  variables?: Readonly<Record<string, unknown>> | undefined
  /** The same by another name; of a variable that both have this one's value counts. */
  templateVariables?: Readonly<Record<string, unknown>> | undefined
  /** The time for strftime_now. Default: the present. */
  now?: Date | undefined
  /** The most bytes (UTF-8) of the result, and of any intermediate text. Default: 4 million. */
  maxLength?: number | undefined
}

/** A token whose text differs, or that only one of the two has. */
export interface TokenizerDifference {
  readonly id: number
  readonly ours: string | undefined
  readonly theirs: string | undefined
}

/** How a file's tokenizer.huggingface.json differs from the vocabulary of tokenizer.ggml.*. */
export interface TokenizerComparison {
  /** its model.type: "BPE", "Unigram", "WordPiece", ... */
  readonly model: string
  /** tokens, the added ones included */
  readonly size: number
  readonly addedTokens: number
  readonly merges: number
  /** tokens of type 'unused' that only the file's own vocabulary has: padding of its embedding */
  readonly padding: number
  /** how many tokens differ */
  readonly different: number
  /** the first hundred of them */
  readonly differences: readonly TokenizerDifference[]
}

export interface ChatTemplate {
  /** "default", or the name that the file gives */
  readonly name: string
  /** 'file', or, if the file has no template, the name of a known format that the vocabulary suggests */
  readonly source: string
  readonly text: string
}
