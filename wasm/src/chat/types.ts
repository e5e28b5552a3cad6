// Types for tool calls and reasoning: a model's format, and the parsed reply. Field names are OpenAI's.
import type { JsonSchema } from '../schema/index.js'

export interface FunctionTool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description?: string | undefined
    /** JSON schema of the arguments, which are an object. Default: no arguments. */
    readonly parameters?: JsonSchema | null | undefined
    readonly strict?: boolean | null | undefined
  }
}

/** auto: the model decides; none: no call; required: at least one call; or a function by its name */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type?: 'function'; readonly function: { readonly name: string } }

export interface ReplyToolCallDelta {
  index: number
  id?: string
  type?: 'function'
  function: { name?: string; arguments?: string }
}
/** A part of a reply. The first delta of a tool call has its id, its name and the beginning of its arguments. */
export interface ReplyDelta {
  content?: string
  reasoning_content?: string
  tool_calls?: ReplyToolCallDelta[]
}

/** A call in a message of the assistant. The arguments are JSON, or its beginning if a limit cut the reply. */
export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}
/** A whole reply, which can be sent back unchanged. Only a type, not an interface, is assignable to ChatMessage. */
export type ReplyMessage = {
  role: 'assistant'
  /** null beside calls if the reply has no text */
  content: string | null
  reasoning_content?: string
  tool_calls?: ToolCall[]
}

/**
 * end: an end-of-generation token; stop: a stop string; length: maxTokens; context: the context is full; tool_calls: in
 * chat() only, the reply ended and has calls
 */
export type FinishReason = 'length' | 'stop' | 'end' | 'context' | 'tool_calls'

export interface ReplyParser {
  /** Parses more text and returns its deltas. Joined, they do not depend on how the text was cut. */
  push(text: string): ReplyDelta[]
  /**
   * Ends the text and returns the deltas that were held back. reason: why the text ended. A call that is not complete
   * stays so, as in llama.cpp: its arguments are the beginning of the JSON that the model wrote, and a call without a
   * whole name or any argument text is left out. Default: 'end', the model ended the reply; a part of a mark at the
   * text's end is then content, which after 'length', 'context', 'stop' or 'abort' it is not.
   */
  end(reason?: FinishReason | 'abort'): ReplyDelta[]
}

/**
 * object: {"name": ..., "arguments": {...}}; named: the name, then JSON; parameters: each in tags; elements: the same,
 * and the values of objects and arrays in tags, too; python: f(a=1)
 */
type CallKind = 'object' | 'named' | 'parameters' | 'elements' | 'python' | 'gemma'
/** The structure of a whole reply. marked: running text with markers; addressed: messages with their recipients. */
type ReplyLayout = 'marked' | 'harmony' | 'recipients' | 'addressed'

export interface ParameterTags {
  /** before a parameter's name, after it, and after its value */
  readonly open: string
  /** one for all values, or one for each kind of value, strings first */
  readonly named: readonly string[]
  readonly close: string
  /** The text between a tag and a value that is not part of the value. */
  readonly padding: string
  /** Names and values are in tags of their own: what ends a name, and what begins its value. */
  readonly pair?: { readonly nameClose: string; readonly valueOpen: string } | undefined
  /** The tag of the value's type, which the parser skips. */
  readonly type?: { readonly open: string; readonly close: string } | undefined
  /** The end of a tag with more attributes, which the parser skips; '' if tags end with `named` and `nameClose`. */
  readonly tagEnd?: string | undefined
  /** The text after each parameter and before the first. Default: a line break. */
  readonly gap?: string | undefined
}

interface ReasoningMarks {
  readonly open: string
  readonly close: string
}

/** One row of the table of formats. The grammar writes these texts; the parser may accept more. */
export interface ChatFormat {
  readonly name: string
  readonly layout: ReplyLayout
  readonly kind: CallKind
  /** text before all calls, between two, and after all */
  readonly open: string
  readonly between: string
  readonly close: string
  /** text before and after each call */
  readonly callOpen: string
  readonly callClose: string
  /** Other beginnings of calls that the parser accepts. */
  readonly marks: readonly string[]
  /** First character of a reply that is a call without a marker: a JSON object, or a Python list. */
  readonly bare: '' | '{' | '['
  /** kind object: keys of the name, the arguments and the id; the first one is written, all are read */
  readonly keys: {
    readonly name: readonly string[]
    readonly arguments: readonly string[]
    readonly id: readonly string[]
  }
  /** kinds named and parameters: text before and after the name */
  readonly nameOpen: string
  readonly nameClose: readonly string[]
  readonly parameters: ParameterTags | undefined
  readonly reasoning: ReasoningMarks | undefined
  /** Other marks of reasoning, for example of another effort. */
  readonly otherReasoning?: readonly ReasoningMarks[] | undefined
  /** Markers that end reasoning without its own end. */
  readonly reasoningEnds?: readonly string[] | undefined
  /** Markers that are neither content nor calls. */
  readonly dropped: readonly string[]
}

export interface DetectOptions {
  /** the chat template's text */
  readonly template: string
  /** Tests whether the vocabulary has a token. Default: not checked. */
  readonly tokens?: { readonly has: (text: string) => boolean } | undefined
}

export interface ReplyParserOptions {
  /**
   * Their schemas say which parameters are text. []: nothing is parsed as a call. Default: any function may be called.
   */
  readonly tools?: readonly FunctionTool[] | undefined
  /** The end of the prompt. It shows whether the template has opened the reasoning. */
  readonly prompt?: string | undefined
  /** Makes an id for a call that has none. Default: random ids. */
  readonly newId?: (() => string) | undefined
}

export interface ToolGrammarOptions {
  readonly tools: readonly FunctionTool[]
  /** Default: auto. */
  readonly toolChoice?: ToolChoice | undefined
  /** Whether a reply may have several calls. Default: true. */
  readonly parallelToolCalls?: boolean | undefined
  /** The schema of a reply without calls, for toolChoice 'auto'. Default: any text. */
  readonly schema?: JsonSchema | undefined
  /** The end of the prompt, as in ReplyParserOptions. */
  readonly prompt?: string | undefined
  /** Returns the id of a control token by its name. Default: markers are matched as text. */
  readonly controlToken?: ((name: string) => number | undefined) | undefined
}

export type GrammarTrigger =
  | string
  | { readonly token: number }
  /** atStart: only at the beginning of the reply, after white space at most */
  | { readonly text: string; readonly atStart?: boolean | undefined }

/** Options for generate(). */
export interface ToolGrammar {
  /** GBNF; undefined: any text */
  readonly grammar: string | undefined
  /** empty: the grammar begins with the reply */
  readonly grammarTriggers: readonly GrammarTrigger[]
  /** ids of control tokens that the parser needs in the text */
  readonly showTokens: readonly number[]
}
