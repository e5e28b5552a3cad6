// Requests and answers in OpenAI's format. As in OpenAI's own types, which are accepted here, null means absent.
import type { ChatMessage } from '../api/text.js'
import type { ReplyMessage } from '../chat/types.js'
import type { JsonSchema } from '../schema/index.js'
import type { Decision, DecisionQuestion } from '../decision/types.js'
import type { Model } from '../engine/types.js'
import type { SamplerRequest } from './sampler-options.js'

export type { SamplerRequest } from './sampler-options.js'

/** The members of a loaded model that these functions use. */
export type CompletionModel = Pick<
  Model,
  'info' | 'file' | 'tokenizer' | 'generate' | 'encodeChat' | 'embed' | 'rerank' | 'decideAll'
>

type Maybe<T> = T | null | undefined

/** OpenAI's messages. Additional fields are passed to the chat template. */
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
 * json_object: any JSON object, or one that an additional schema accepts. json_schema: JSON that the schema accepts.
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
   * true: a last chunk without choices contains the usage; false: no chunk contains it. Default: the last chunk of an
   * answer contains it.
   */
  readonly include_usage?: Maybe<boolean>
  /** Accepted, but has no effect. */
  readonly include_obfuscation?: Maybe<boolean>
}

/**
 * Options that chat and completion requests share. Ranges are OpenAI's; options that OpenAI does not have use
 * llama.cpp's names.
 */
export interface SamplingRequest extends SamplerRequest {
  /** Returned in the answer. Default: the architecture's name. */
  readonly model?: Maybe<string>
  /** Number of answers, from 1 to 128. Default: 1. */
  readonly n?: Maybe<number>
  /** 0: greedy. From 0 (OpenAI allows at most 2). Default: the file's, or 0.8. */
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
  /** Accepted, but has no effect. */
  readonly user?: Maybe<string>

  readonly ignore_eos?: Maybe<boolean>
  /** A grammar in GBNF for the answer. */
  readonly grammar?: Maybe<string>
}

export interface ChatCompletionRequest extends SamplingRequest {
  readonly messages: readonly ChatCompletionMessage[]
  /** Largest number of tokens of an answer; -1: no limit. Default: until it ends or the context is full. */
  readonly max_completion_tokens?: Maybe<number>
  /** The older name; if both are given, max_completion_tokens is used. */
  readonly max_tokens?: Maybe<number>
  /** Reports each token's log probability. Default: false. */
  readonly logprobs?: Maybe<boolean>
  /** With logprobs: number of most likely tokens to report with each token, from 0 to 20. Default: 0. */
  readonly top_logprobs?: Maybe<number>
  /** Default: text. */
  readonly response_format?: Maybe<ResponseFormat>
  readonly tools?: Maybe<readonly unknown[]>
  readonly tool_choice?: unknown
  readonly parallel_tool_calls?: Maybe<boolean>
  /** A variable of the chat template. 'none' also sets enable_thinking to false. Default: the template's. */
  readonly reasoning_effort?: Maybe<string>
  /** Variables of the chat template. */
  readonly chat_template_kwargs?: Maybe<Readonly<Record<string, unknown>>>
  /** For templates that support documents: usually { title, text }. Default: none. */
  readonly documents?: Maybe<readonly unknown[]>
  /** Ends the prompt with the beginning of the answer. Default: true. */
  readonly add_generation_prompt?: Maybe<boolean>
  /** Continues the last message, an assistant's, instead of starting a new one. Default: false. */
  readonly continue?: Maybe<boolean>
  /** Returned in the answer. */
  readonly metadata?: Maybe<Readonly<Record<string, string>>>

  // Accepted without effect at their default values; other values are refused with 'unsupported'.
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
  /**
   * A text, to which BOS is added if the file says so; token ids, which are used as they are; or several of either.
   */
  readonly prompt: string | readonly string[] | readonly number[] | readonly (readonly number[])[]
  /** Default: until the answer ends or the context is full. OpenAI's default of 16 is not used. */
  readonly max_tokens?: Maybe<number>
  /** Number of most likely tokens to report with each token, from 0 to 5. Default: none are reported. */
  readonly logprobs?: Maybe<number>
  /** The answer begins with the prompt. Default: false. */
  readonly echo?: Maybe<boolean>
  /** Text after the answer, for models that were trained to fill in the middle. */
  readonly suffix?: Maybe<string>
  /** At most n, because more answers than are returned are not generated. */
  readonly best_of?: Maybe<number>
}

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  /** cached_tokens: prompt tokens that were still in the cache */
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

/** stop: the answer ended, or a stop string; length: the limit, or the context is full */
export type ChatFinishReason = 'stop' | 'length' | 'tool_calls'

export interface ChatCompletionAnswer extends ReplyMessage {
  refusal: null
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
  /** what is wrong with images or audio, which were read nevertheless; absent if nothing is */
  warnings?: readonly string[]
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
  /** empty in the chunk with the usage */
  choices: {
    index: number
    delta: ChatCompletionDelta
    logprobs: ChoiceLogprobs | null
    finish_reason: ChatFinishReason | null
  }[]
  /**
   * With include_usage: null except in the last chunk. Without stream_options: in the chunk with the finish_reason.
   */
  usage?: Usage | null
  /** in the first chunk: what is wrong with images or audio, which were read nevertheless */
  warnings?: readonly string[]
}

export interface CompletionLogprobs {
  tokens: string[]
  token_logprobs: number[]
  top_logprobs: Record<string, number>[]
  /** offset of each token in the answer's text, in UTF-16 code units */
  text_offset: number[]
}

/** A whole answer, or a chunk of a stream; OpenAI uses one name for both. */
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
  /** base64: encodes the floats' bytes, little-endian. Default: 'float'. */
  readonly encoding_format?: Maybe<string>
  /** Returns only this many floats, normalized again, for models that were trained for it. Default: all. */
  readonly dimensions?: Maybe<number>
  /** Accepted, but has no effect. */
  readonly user?: Maybe<string>
}

/** E: the type of the vectors, which depends on encoding_format. */
export interface EmbeddingAnswer<E = number[]> {
  object: 'list'
  data: { object: 'embedding'; index: number; embedding: E }[]
  model: string
  usage: { prompt_tokens: number; total_tokens: number }
}

/** The format of Jina, Cohere and llama.cpp; OpenAI has none. */
export interface RerankRequest {
  readonly query: string
  readonly documents: readonly (string | { readonly text: string })[]
  /** Returned in the answer. Default: the architecture's name. */
  readonly model?: Maybe<string>
  /** Number of best documents to return. Default: all. */
  readonly top_n?: Maybe<number>
  /** Default: false. */
  readonly return_documents?: Maybe<boolean>
}

export interface RerankAnswer {
  object: 'list'
  /** best first; the score is the first output of the classification head, unscaled */
  results: { index: number; relevance_score: number; document?: { text: string } }[]
  model: string
  usage: { prompt_tokens: number; total_tokens: number }
}

/** The format of TypeSafe's /v1/systemone, which llama.cpp's server has, too; OpenAI has none. */
export interface DecisionRequest {
  /** What the questions are about: text, chat messages, or any JSON. */
  readonly state: unknown
  /** By names that come back in the answers. */
  readonly questions: Readonly<Record<string, DecisionQuestion>>
  /** data: addresses of images or audio; files has the same meaning */
  readonly images?: Maybe<readonly string[]>
  readonly files?: Maybe<readonly string[]>
  /** Returned in the answer. Default: the architecture's name. */
  readonly model?: Maybe<string>
}

export interface DecisionAnswer {
  model: string
  answers: Readonly<Record<string, Decision>>
  usage: { input_tokens: number; output_tokens: 0 }
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** The current time for the chat template. Default: now. */
  readonly now?: Date | undefined
}
