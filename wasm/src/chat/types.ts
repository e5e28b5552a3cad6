// Replies with tool calls and reasoning: what is known of a model's format, and what is made of its text. OpenAI's names.
import type { JsonSchema } from '../schema/index.js'

export interface FunctionTool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description?: string | undefined
    /** Of the arguments, an object's. Default: no arguments. */
    readonly parameters?: JsonSchema | null | undefined
    readonly strict?: boolean | null | undefined
  }
}

/** auto: the model decides; required: some function; or one by its name */
export type ToolChoice =
  'auto' | 'none' | 'required' | { readonly type?: 'function'; readonly function: { readonly name: string } }

export interface ReplyToolCallDelta {
  index: number
  id?: string
  type?: 'function'
  function: { name?: string; arguments?: string }
}
/** What came with some text; of tool_calls the first of a call has its id and name. */
export interface ReplyDelta {
  content?: string
  reasoning_content?: string
  tool_calls?: ReplyToolCallDelta[]
}

export interface ReplyParser {
  /** The deltas of more text. However the text is cut, they are the same when joined. */
  push(text: string): ReplyDelta[]
  /** The text has ended: what was held back. */
  end(): ReplyDelta[]
}

/** object: {"name": ..., "arguments": {...}}; named: the name, then JSON; parameters: each in tags; python: f(a=1) */
export type CallKind = 'object' | 'named' | 'parameters' | 'python' | 'gemma'
/** How a whole reply is laid out, where markers in running text are not all. */
export type ReplyLayout = 'marked' | 'harmony' | 'recipients'

export interface ParameterTags {
  /** before a parameter's name, after it, and after its value */
  readonly open: string
  /** several: by the kind of value, first of strings */
  readonly named: readonly string[]
  readonly close: string
  /** What stands between a tag and a value and is not part of it. */
  readonly padding: string
}

/** One row of the table: how calls are written. Where a text is given it is what the grammar writes. */
export interface ChatFormat {
  readonly name: string
  readonly layout: ReplyLayout
  readonly kind: CallKind
  /** around all calls, and between them */
  readonly open: string
  readonly between: string
  readonly close: string
  /** around one call */
  readonly callOpen: string
  readonly callClose: string
  /** Other beginnings of calls that the parser takes too. */
  readonly marks: readonly string[]
  /** A reply that is one JSON object of a call, or a list in Python, without a marker. */
  readonly bare: '' | '{' | '['
  /** kind object: keys of the name, the arguments and the id; the first is written */
  readonly keys: {
    readonly name: readonly string[]
    readonly arguments: readonly string[]
    readonly id: readonly string[]
  }
  /** kinds named and parameters: before and after the name */
  readonly nameOpen: string
  readonly nameClose: readonly string[]
  readonly parameters: ParameterTags | undefined
  readonly reasoning: { readonly open: string; readonly close: string } | undefined
  /** Markers that are neither content nor calls. */
  readonly dropped: readonly string[]
}

export interface DetectOptions {
  /** the chat template's text */
  readonly template: string
  /** of the vocabulary */
  readonly tokens?: { readonly has: (text: string) => boolean } | undefined
}

export interface ReplyParserOptions {
  /** Say which parameters are text. None ([]): nothing is a call. Default: anything may be. */
  readonly tools?: readonly FunctionTool[] | undefined
  /** The end of the prompt: a reply may begin within reasoning that the template opened. */
  readonly prompt?: string | undefined
  /** An id for a call that has none. Default: random. */
  readonly newId?: (() => string) | undefined
}

export interface ToolGrammarOptions {
  readonly tools: readonly FunctionTool[]
  /** Default: auto. */
  readonly toolChoice?: ToolChoice | undefined
  /** Several calls in a reply. Default: true. */
  readonly parallelToolCalls?: boolean | undefined
  /** The end of the prompt, as for the parser. */
  readonly prompt?: string | undefined
  /** The id of a control token by its name. Default: markers are text. */
  readonly controlToken?: ((name: string) => number | undefined) | undefined
}

export type GrammarTrigger =
  | string
  | { readonly token: number }
  /** atStart: only where nothing but white space is before it */
  | { readonly text: string; readonly atStart?: boolean | undefined }

/** For generate(). */
export interface ToolGrammar {
  /** GBNF; undefined: any text */
  readonly grammar: string | undefined
  /** none: the grammar holds from the reply's beginning */
  readonly grammarTriggers: readonly GrammarTrigger[]
  /** control tokens that the parser must see */
  readonly showTokens: readonly number[]
}
