import { GgufError } from '../api/errors.js'
import type { ChatMessage } from '../api/text.js'
import type { JsonSchema } from './json-schema.js'
import type { GenerateOptions, GenerateResult, Model } from './types.js'

/** The request of OpenAI's chat completions, as far as a local model can follow it. */
export interface ChatCompletionRequest {
  readonly messages: readonly ChatMessage[]
  readonly model?: string | undefined
  readonly max_tokens?: number | undefined
  readonly max_completion_tokens?: number | undefined
  readonly temperature?: number | undefined
  readonly top_p?: number | undefined
  readonly frequency_penalty?: number | undefined
  readonly presence_penalty?: number | undefined
  readonly logit_bias?: Readonly<Record<number, number>> | undefined
  readonly seed?: number | undefined
  readonly stop?: string | readonly string[] | null | undefined
  readonly response_format?: ResponseFormat | undefined
}

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema'
      readonly json_schema: { readonly name?: string | undefined; readonly schema: JsonSchema }
    }

function schemaOf(format: ResponseFormat | undefined): JsonSchema | undefined {
  if (format === undefined || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'object' }
  if (format.type === 'json_schema') return format.json_schema.schema
  throw new GgufError('unsupported', `There is no response format ${JSON.stringify(format)}.`)
}

interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}
type Finish = 'stop' | 'length'

export interface ChatCompletion {
  readonly id: string
  readonly object: 'chat.completion'
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: 0
    readonly message: { readonly role: 'assistant'; readonly content: string }
    readonly finish_reason: Finish
  }[]
  readonly usage: Usage
}

export interface ChatCompletionChunk {
  readonly id: string
  readonly object: 'chat.completion.chunk'
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: 0
    readonly delta: { readonly role?: 'assistant'; readonly content?: string }
    readonly finish_reason: Finish | null
  }[]
  readonly usage?: Usage
}

async function* chunks(
  model: Model,
  request: ChatCompletionRequest,
  signal: AbortSignal | undefined,
): AsyncGenerator<ChatCompletionChunk, void, void> {
  const frame = {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object: 'chat.completion.chunk' as const,
    created: Math.floor(Date.now() / 1000),
    model: request.model ?? model.info.architecture,
  }
  let result: GenerateResult | undefined
  const options: GenerateOptions = {
    maxTokens: request.max_completion_tokens ?? request.max_tokens,
    temperature: request.temperature,
    topP: request.top_p,
    frequencyPenalty: request.frequency_penalty,
    presencePenalty: request.presence_penalty,
    logitBias: request.logit_bias,
    seed: request.seed,
    stop: request.stop ?? undefined,
    schema: schemaOf(request.response_format),
    signal,
    onDone: (done) => (result = done),
  }
  yield { ...frame, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] }
  for await (const { text } of model.chat(request.messages, options)) {
    if (text !== '')
      yield { ...frame, choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }
  }
  const { finishReason = 'length', promptTokens = 0, tokens = 0 } = result ?? {}
  yield {
    ...frame,
    choices: [
      {
        index: 0,
        delta: {},
        finish_reason: finishReason === 'end' || finishReason === 'stop' ? 'stop' : 'length',
      },
    ],
    usage: { prompt_tokens: promptTokens, completion_tokens: tokens, total_tokens: promptTokens + tokens },
  }
}

/** An answer in OpenAI's shape, whole. */
export async function createChatCompletion(
  model: Model,
  request: ChatCompletionRequest,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<ChatCompletion> {
  let content = ''
  let last: ChatCompletionChunk | undefined
  for await (const chunk of chunks(model, request, signal)) {
    content += chunk.choices[0]!.delta.content ?? ''
    last = chunk
  }
  return {
    id: last!.id,
    object: 'chat.completion',
    created: last!.created,
    model: last!.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content },
        finish_reason: last!.choices[0]!.finish_reason ?? 'length',
      },
    ],
    usage: last!.usage!,
  }
}

/** The same piece by piece. */
export function streamChatCompletion(
  model: Model,
  request: ChatCompletionRequest,
  { signal }: { signal?: AbortSignal | undefined } = {},
): AsyncGenerator<ChatCompletionChunk, void, void> {
  return chunks(model, request, signal)
}
