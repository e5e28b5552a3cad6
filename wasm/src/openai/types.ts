// Requests and answers in OpenAI's format. null means absent everywhere, as in OpenAI's own types, which are
// accepted here.
import type { ChatMessage } from '../api/text.js'
import type { JsonSchema } from '../schema/index.js'
import type { Model } from '../engine/types.js'

/** The members of a loaded model that these functions use. */
export type CompletionModel = Pick<
  Model,
  'info' | 'file' | 'tokenizer' | 'generate' | 'encodeChat' | 'embed' | 'rerank'
>

type Maybe<T> = T | null | undefined

/** OpenAI's messages. Further fields go to the chat template. */
export type ChatCompletionMessage =
  | ChatMessage
  | {
      readonly role: string
      readonly content?: unknown
      readonly name?: string | undefined
      readonly tool_calls?: unknown
      readonly tool_call_id?: string | undefined
      readonly refusal?: unknown
      readonly audio?: unknown
      readonly function_call?: unknown
    }

/**
 * json_object: any JSON object, or one that an additional schema accepts. json_schema: JSON that the schema
 * accepts.
 */
export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object'; readonly schema?: Maybe<JsonSchema> }
  | {
      readonly type: 'json_schema'
      readonly json_schema: {
        readonly name?: string | undefined
        readonly description?: string | undefined
        readonly schema?: Maybe<JsonSchema>
        readonly strict?: Maybe<boolean>
      }
    }

export interface StreamOptions {
  /**
   * true: a last chunk without choices has the usage; false: no chunk has it. Default: the last chunk of an
   * answer has it.
   */
  readonly include_usage?: Maybe<boolean>
  /** Taken, without effect. */
  readonly include_obfuscation?: Maybe<boolean>
}

/**
 * Options that chat and completion requests share. Ranges are OpenAI's; options that OpenAI does not have use
 * llama.cpp's names.
 */
export interface SamplingRequest {
  /** Returned in the answer. Default: the architecture's name. */
  readonly model?: Maybe<string>
  /** How many answers, from 1 to 128. Default: 1. */
  readonly n?: Maybe<number>
  /** From 0, greedy; OpenAI ends at 2. Default: the file's, or 0.8. */
  readonly temperature?: Maybe<number>
  /** From 0 to 1. Default: the file's, or 0.95. */
  readonly top_p?: Maybe<number>
  /** From -2 to 2. Default: 0. */
  readonly frequency_penalty?: Maybe<number>
  /** From -2 to 2. Default: 0. */
  readonly presence_penalty?: Maybe<number>
  /** From -100, which forbids a token, to 100, by token id. Default: none. */
  readonly logit_bias?: Maybe<Readonly<Record<string, number>>>
  /** The same seed gives the same answer; each of n answers has its own. Default: a new one every time. */
  readonly seed?: Maybe<number>
  /** Texts that end the answer; control tokens match by their names. Default: none. */
  readonly stop?: Maybe<string | readonly string[]>
  /** Default: false. */
  readonly stream?: Maybe<boolean>
  /** Only with stream. */
  readonly stream_options?: Maybe<StreamOptions>
  /** Taken, without effect. */
  readonly user?: Maybe<string>

  readonly top_k?: Maybe<number>
  readonly min_p?: Maybe<number>
  readonly typical_p?: Maybe<number>
  readonly top_n_sigma?: Maybe<number>
  readonly xtc_probability?: Maybe<number>
  readonly xtc_threshold?: Maybe<number>
  readonly repeat_last_n?: Maybe<number>
  readonly repeat_penalty?: Maybe<number>
  readonly dry_multiplier?: Maybe<number>
  readonly dry_base?: Maybe<number>
  readonly dry_allowed_length?: Maybe<number>
  readonly dry_penalty_last_n?: Maybe<number>
  readonly mirostat?: Maybe<number>
  readonly mirostat_tau?: Maybe<number>
  readonly mirostat_eta?: Maybe<number>
  readonly ignore_eos?: Maybe<boolean>
  /** A grammar in GBNF for the answer. */
  readonly grammar?: Maybe<string>
}

export interface ChatCompletionRequest extends SamplingRequest {
  readonly messages: readonly ChatCompletionMessage[]
  /** Largest number of tokens of an answer. Default: until it ends or the context is full. */
  readonly max_completion_tokens?: Maybe<number>
  /** The same by its older name; max_completion_tokens counts if both are given. */
  readonly max_tokens?: Maybe<number>
  /** Report each token's log probability. Default: false. */
  readonly logprobs?: Maybe<boolean>
  /** With logprobs: number of likeliest tokens reported with each token, from 0 to 20. Default: 0. */
  readonly top_logprobs?: Maybe<number>
  /** Default: text. */
  readonly response_format?: Maybe<ResponseFormat>
  readonly tools?: Maybe<readonly unknown[]>
  readonly tool_choice?: unknown
  readonly parallel_tool_calls?: Maybe<boolean>
  /** A variable of the chat template; with 'none' enable_thinking is false too. Default: the template's. */
  readonly reasoning_effort?: Maybe<string>
  /** Variables of the chat template. */
  readonly chat_template_kwargs?: Maybe<Readonly<Record<string, unknown>>>
  /** For templates that take documents: mostly { title, text }. Default: none. */
  readonly documents?: Maybe<readonly unknown[]>
  /** The prompt ends with the beginning of the answer. Default: true. */
  readonly add_generation_prompt?: Maybe<boolean>
  /** The last message, an assistant's, goes on in place of a new one. Default: false. */
  readonly continue?: Maybe<boolean>
  /** Returned in the answer. */
  readonly metadata?: Maybe<Readonly<Record<string, string>>>

  // Taken without effect where they ask for nothing, else refused: 'unsupported'.
  readonly store?: Maybe<boolean>
  readonly service_tier?: Maybe<string>
  readonly verbosity?: Maybe<string>
  readonly modalities?: Maybe<readonly string[]>
  readonly safety_identifier?: Maybe<string>
  readonly prompt_cache_key?: Maybe<string>
  readonly prompt_cache_retention?: Maybe<string>
  readonly prompt_cache_options?: unknown
  readonly audio?: unknown
  readonly functions?: unknown
  readonly function_call?: unknown
  readonly moderation?: unknown
  readonly prediction?: unknown
  readonly web_search_options?: unknown
}

export interface CompletionRequest extends SamplingRequest {
  /** A text, which gets BOS as the file says, token ids as they are, or several of either. */
  readonly prompt: string | readonly string[] | readonly number[] | readonly (readonly number[])[]
  /** Default: until the answer's end, or until the context is full; OpenAI's 16 is not kept. */
  readonly max_tokens?: Maybe<number>
  /** So many of the likeliest tokens with each, from 0 to 5. Default: nothing is told. */
  readonly logprobs?: Maybe<number>
  /** The answer begins with the prompt. Default: false. */
  readonly echo?: Maybe<boolean>
  /** Text that follows the answer: of models that were trained to fill in. */
  readonly suffix?: Maybe<string>
  /** n alone: the best of more are not looked for. */
  readonly best_of?: Maybe<number>
}

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  /** cached_tokens: of the prompt, those that the cache still held */
  prompt_tokens_details: { cached_tokens: number }
}

export interface TokenLogprob {
  token: string
  bytes: number[]
  logprob: number
}
export interface ContentLogprob extends TokenLogprob {
  top_logprobs: TokenLogprob[]
}
export interface ChoiceLogprobs {
  content: ContentLogprob[]
  refusal: null
}

/** stop: the answer's end or a stop string; length: the limit, or no room is left in the context */
export type ChatFinishReason = 'stop' | 'length' | 'tool_calls'

export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export interface ChatCompletionAnswer {
  role: 'assistant'
  content: string | null
  refusal: null
  reasoning_content?: string
  tool_calls?: ToolCall[]
}

export interface ChatCompletion {
  id: string
  object: 'chat.completion'
  /** seconds since 1970 */
  created: number
  model: string
  choices: {
    index: number
    message: ChatCompletionAnswer
    logprobs: ChoiceLogprobs | null
    finish_reason: ChatFinishReason
  }[]
  usage: Usage
  metadata?: Record<string, string>
}

export interface ToolCallDelta {
  index: number
  id?: string
  type?: 'function'
  function?: { name?: string; arguments?: string }
}

export interface ChatCompletionDelta {
  role?: 'assistant'
  content?: string | null
  refusal?: null
  reasoning_content?: string
  tool_calls?: ToolCallDelta[]
}

export interface ChatCompletionChunk {
  id: string
  object: 'chat.completion.chunk'
  created: number
  model: string
  /** empty in the chunk of the usage */
  choices: {
    index: number
    delta: ChatCompletionDelta
    logprobs: ChoiceLogprobs | null
    finish_reason: ChatFinishReason | null
  }[]
  /** with include_usage: null but in the last chunk; without stream_options: with the finish_reason */
  usage?: Usage | null
}

export interface CompletionLogprobs {
  tokens: string[]
  token_logprobs: number[]
  top_logprobs: Record<string, number>[]
  /** of each token, in UTF-16 units of the answer's text */
  text_offset: number[]
}

/** Whole, or a chunk of a stream: OpenAI names both the same. */
export interface Completion {
  id: string
  object: 'text_completion'
  created: number
  model: string
  choices: {
    index: number
    text: string
    logprobs: CompletionLogprobs | null
    finish_reason: 'stop' | 'length'
  }[]
  usage?: Usage
}

export interface CompletionChunk {
  id: string
  object: 'text_completion'
  created: number
  model: string
  choices: {
    index: number
    text: string
    logprobs: CompletionLogprobs | null
    finish_reason: 'stop' | 'length' | null
  }[]
  usage?: Usage | null
}

export interface EmbeddingRequest {
  /** A text, token ids, or several of either. */
  readonly input: string | readonly string[] | readonly number[] | readonly (readonly number[])[]
  /** Returned in the answer. Default: the architecture's name. */
  readonly model?: Maybe<string>
  /** base64: of the floats' bytes, little endian. Default: 'float'. */
  readonly encoding_format?: Maybe<string>
  /** Only so many floats, normalized again: of models that were trained for it. Default: all. */
  readonly dimensions?: Maybe<number>
  /** Taken, without effect. */
  readonly user?: Maybe<string>
}

/** E: what the vectors are, by encoding_format. */
export interface EmbeddingAnswer<E = number[]> {
  object: 'list'
  data: { object: 'embedding'; index: number; embedding: E }[]
  model: string
  usage: { prompt_tokens: number; total_tokens: number }
}

/** The shape of Jina, Cohere and llama.cpp: OpenAI has none. */
export interface RerankRequest {
  readonly query: string
  readonly documents: readonly (string | { readonly text: string })[]
  /** Returned in the answer. Default: the architecture's name. */
  readonly model?: Maybe<string>
  /** How many of the best to give. Default: all. */
  readonly top_n?: Maybe<number>
  /** Default: false. */
  readonly return_documents?: Maybe<boolean>
}

export interface RerankAnswer {
  object: 'list'
  /** the best first; the score is the head's first output, as it is */
  results: { index: number; relevance_score: number; document?: { text: string } }[]
  model: string
  usage: { prompt_tokens: number; total_tokens: number }
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** What the chat template takes for the present. Default: the present. */
  readonly now?: Date | undefined
}
