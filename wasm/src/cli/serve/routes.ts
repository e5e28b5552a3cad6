// The server's routes. Requests and responses follow OpenAI's API, and llama.cpp's server for routes that OpenAI lacks.
import { checkOptions, flag, integer, list, listOf, object, text, type Check } from '../../api/checks.js'
import {
  createChatCompletion,
  createCompletion,
  createEmbedding,
  createRerank,
  createSpeech,
  type Ability,
  type ChatCompletionRequest,
  type CompletionModel,
  type CompletionRequest,
  type EmbeddingRequest,
  type Model,
  type SpeechModel,
  type SpeechRequest,
  type SpokenResult,
  type RerankRequest,
} from '../../engine/index.js'
import type { ChatMessage } from '../../node.js'
import { speechEvents } from '../../openai/speech.js'
import { decoded } from '../../sources/addresses.js'
import { decide } from './decide.js'
import { RequestError, type Failure } from './failures.js'
import { infill } from './infill.js'
import { completion } from './llama-completion.js'
import { withOpenAiNames } from './llama-fields.js'
import * as anthropic from './messages.js'
import { checkFields } from './requests.js'
import { chatRequestOf, responseEvents, wholeResponse } from './responses.js'
import type { TextThread } from './text-thread.js'
import { transcriptionAnswer } from './transcriptions.js'

export interface Served {
  readonly model: CompletionModel
  readonly speech: Pick<SpeechModel, 'transcribe'>
  readonly speaker: Pick<Model, 'speak'>
  readonly texts: TextThread
  /** its name in /v1/models */
  readonly id: string
  /** Unix time in seconds */
  readonly since: number
}

/** The events of a stream. The model computes while they are read. */
export interface EventAnswer {
  readonly events: AsyncIterable<unknown>
  /** whether each event's type is also its name */
  readonly named?: boolean
  /** data after the last event */
  readonly last?: string
  /** the event of an error after the headers */
  failed(failure: Failure): unknown
}

/** A whole response, or a stream. */
export type Answer =
  | { readonly json: unknown }
  | { readonly text: string }
  | { readonly bytes: Uint8Array; readonly type: string; readonly warnings: readonly string[] }
  | EventAnswer

export interface Route {
  readonly method: 'GET' | 'POST'
  /** other paths of the same route */
  readonly paths: readonly string[]
  /** needs no API key, even if the server has one */
  readonly open?: boolean
  /** the body is multipart/form-data; answer() gets a FormData */
  readonly form?: boolean
  /** what the model must be able to do. The request uses the model, so it waits in the queue. */
  readonly ability?: Ability
  /** with this value of a field, answer() checks the request and returns events, which wait in the queue instead */
  readonly streamed?: readonly [field: string, value: unknown]
  answer(served: Served, body: unknown, signal: AbortSignal, path: string): Answer | Promise<Answer>
}

/** Refuses a request that the model cannot answer. */
export function checkAbility({ ability }: Route, { model }: Served): void {
  if (ability === undefined) return
  const { abilities, architecture } = model.info
  if (abilities.includes(ability)) return
  const others = abilities.length === 0 ? 'none' : abilities.join(', ')
  throw new RequestError(
    400,
    'unsupported',
    `This model of architecture ${architecture} lacks the ability ${ability}. Its abilities: ${others}.`,
  )
}

function checked(
  what: string,
  body: unknown,
  checks: Readonly<Record<string, Check>>,
): Record<string, unknown> {
  checkOptions(what, body, checks)
  return body as Record<string, unknown>
}

function required(what: string, name: string, value: unknown): void {
  if (value === undefined) throw new RequestError(400, 'invalid-argument', `${what} needs ${name}.`)
}

function objectOf(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>
  throw new RequestError(400, 'invalid-argument', 'The request must be a JSON object.')
}

/** Completes a request with the model's name, and removes usage from the stream if it was not requested. */
function request<T>(served: Served, body: unknown): T {
  const given = withOpenAiNames(objectOf(body))
  const { stream, stream_options } = given
  const model = given['model'] ?? served.id
  const silent = stream === true && (stream_options === undefined || stream_options === null)
  return { ...given, model, ...(silent && { stream_options: { include_usage: false } }) } as T
}

/** A chat request, which may have a schema by llama.cpp's name. */
function chatRequest(served: Served, body: unknown): ChatCompletionRequest {
  const { json_schema, ...given } = request<Record<string, unknown>>(served, body)
  const schema = json_schema ?? undefined
  if (schema !== undefined && (given['response_format'] ?? undefined) !== undefined)
    throw new RequestError(
      400,
      'invalid-argument',
      'The request has both a response_format and a json_schema.',
    )
  const format =
    schema === undefined ? {} : { response_format: { type: 'json_schema', json_schema: { schema } } }
  return { ...given, ...format } as unknown as ChatCompletionRequest
}

const answerOf = (answer: unknown): Answer =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer
    ? { events: answer as AsyncIterable<unknown>, last: '[DONE]', failed: ({ body }) => body }
    : { json: answer }

function describe({ id, since, model }: Served): object {
  const { info } = model
  const meta = {
    architecture: info.architecture,
    context_length: info.contextLength,
    trained_context_length: info.trainedContextLength,
    vocabulary_size: info.vocabularySize,
    embedding_length: info.embeddingLength,
    abilities: info.abilities,
    voices: info.voices,
    device: info.device,
    device_reason: info.deviceReason,
  }
  return { id, object: 'model', created: since, owned_by: 'ggufscope', meta }
}

async function tokenize({ texts }: Served, body: unknown): Promise<Answer> {
  const checks = { content: text, add_special: flag, parse_special: flag, with_pieces: flag }
  const { content, ...options } = checked('/tokenize', body, checks)
  required('/tokenize', 'content', content)
  const special = options['parse_special'] !== false
  const bos = options['add_special'] === true
  const withPieces = options['with_pieces'] === true
  const json = await texts.call('tokenize', content as string, { special, bos }, withPieces)
  return { bytes: Buffer.from(json), type: 'application/json; charset=utf-8', warnings: [] }
}

async function detokenize({ model, texts }: Served, body: unknown): Promise<Answer> {
  const { tokens } = checked('/detokenize', body, {
    tokens: listOf(integer(), 'an array of token ids'),
  })
  required('/detokenize', 'tokens', tokens)
  const { size } = model.tokenizer
  for (const id of tokens as number[])
    if (!(id >= 0 && id < size)) throw new RequestError(400, 'out-of-range', `There is no token ${id}.`)
  return { json: { content: await texts.call('decode', Int32Array.from(tokens as number[])) } }
}

/** Other fields of a chat request have no effect. */
const kTemplateFields = {
  messages: list,
  tools: list,
  documents: list,
  chat_template_kwargs: object,
  add_generation_prompt: flag,
  continue: flag,
}

async function applyTemplate(served: Served, body: unknown): Promise<Answer> {
  const given = objectOf(body)
  required('/apply-template', 'messages', given['messages'])
  checkFields(given, kTemplateFields)
  const prompt = await served.texts.call('render', given['messages'] as ChatMessage[], {
    adapt: true,
    tools: (given['tools'] ?? undefined) as readonly unknown[] | undefined,
    documents: (given['documents'] ?? undefined) as readonly unknown[] | undefined,
    variables: (given['chat_template_kwargs'] ?? undefined) as Record<string, unknown> | undefined,
    addGenerationPrompt: (given['add_generation_prompt'] ?? undefined) as boolean | undefined,
    continue: (given['continue'] ?? undefined) as boolean | undefined,
  })
  return { json: { prompt } }
}

async function responses(served: Served, body: unknown, signal: AbortSignal): Promise<Answer> {
  const given: Record<string, unknown> = { model: served.id, ...objectOf(body) }
  if (given['stream'] !== true) return { json: await wholeResponse(served.model, given, signal) }
  return {
    events: responseEvents(served.model, given, signal),
    named: true,
    failed: ({ body: { error } }) => ({ ...error, type: 'error' }),
  }
}

async function messages(served: Served, body: unknown, signal: AbortSignal): Promise<Answer> {
  const given: Record<string, unknown> = { model: served.id, ...objectOf(body) }
  const events = anthropic.messageEvents(served.model, given, signal)
  if (given['stream'] !== true) return { json: await anthropic.wholeMessage(events) }
  return {
    events: anthropic.sentEvents(events),
    named: true,
    failed: ({ body: { error } }) => ({ type: 'error', error }),
  }
}

/** The number of tokens of a chat request's prompt, or of a response's. */
async function inputTokens(
  served: Served,
  body: unknown,
  signal: AbortSignal,
  path: string,
): Promise<Answer> {
  const fields = objectOf(body)
  const isAnthropic = path.startsWith('/v1/messages')
  const given = isAnthropic
    ? anthropic.chatRequestOf(fields)
    : path.startsWith('/v1/responses')
      ? chatRequestOf(fields)
      : fields
  const request = { ...given, max_tokens: 0, max_completion_tokens: 0, stream: false, stream_options: null }
  const answer = await createChatCompletion(
    served.model,
    request as unknown as ChatCompletionRequest & { stream: false },
    { signal },
  )
  const input_tokens = answer.usage.prompt_tokens
  return { json: isAnthropic ? { input_tokens } : { object: 'response.input_tokens', input_tokens } }
}

/** A whole file, or events while it is made. */
async function speech({ speaker }: Served, body: unknown, signal: AbortSignal): Promise<Answer> {
  const given = objectOf(body) as unknown as SpeechRequest
  if (given.stream_format === 'sse')
    return { events: speechEvents(speaker, given, signal), named: true, failed: (failure) => failure.body }
  let warnings: readonly string[] = []
  const onDone = (result: SpokenResult): void => void (warnings = result.warnings)
  const bytes = await createSpeech(speaker, given, { signal, onDone })
  return { bytes, type: given.response_format === 'pcm' ? 'audio/pcm' : 'audio/wav', warnings }
}

const kStreamed = ['stream', true] as const

/** What this server is, for somebody who opens its address. It does not name the model, because it needs no key. */
const welcome = (): Answer => ({
  json: {
    name: 'ggufscope',
    description: "A server of OpenAI's API for one GGUF model.",
    base_url: '/v1',
    routes: kRoutes.flatMap(({ method, paths }) => paths.map((path) => `${method} ${path}`)),
  },
})

export const kRoutes: readonly Route[] = [
  { method: 'GET', paths: ['/'], open: true, answer: welcome },
  { method: 'GET', paths: ['/health', '/v1/health'], open: true, answer: () => ({ json: { status: 'ok' } }) },
  {
    method: 'GET',
    paths: ['/v1/models', '/models'],
    answer: (served) => ({ json: { object: 'list', data: [describe(served)] } }),
  },
  {
    method: 'GET',
    paths: ['/v1/models/*'],
    answer: (served, _, __, path) => {
      const id = decoded(path.slice('/v1/models/'.length))
      if (id === served.id) return { json: describe(served) }
      throw new RequestError(404, 'model_not_found', `There is no model "${id}", but "${served.id}".`)
    },
  },
  {
    method: 'POST',
    paths: ['/v1/chat/completions', '/chat/completions'],
    ability: 'generate',
    streamed: kStreamed,
    answer: async (served, body, signal) =>
      answerOf(await createChatCompletion(served.model, chatRequest(served, body), { signal })),
  },
  {
    method: 'POST',
    paths: ['/v1/messages'],
    ability: 'generate',
    streamed: kStreamed,
    answer: messages,
  },
  {
    method: 'POST',
    paths: ['/v1/responses', '/responses'],
    ability: 'generate',
    streamed: kStreamed,
    answer: responses,
  },
  {
    method: 'POST',
    paths: ['/v1/chat/completions/input_tokens', '/v1/responses/input_tokens', '/v1/messages/count_tokens'],
    ability: 'generate',
    answer: inputTokens,
  },
  {
    method: 'POST',
    paths: ['/v1/completions', '/completions'],
    ability: 'generate',
    streamed: kStreamed,
    answer: async (served, body, signal) =>
      answerOf(await createCompletion(served.model, request<CompletionRequest>(served, body), { signal })),
  },
  {
    method: 'POST',
    paths: ['/completion'],
    ability: 'generate',
    streamed: kStreamed,
    answer: (served, body, signal) => completion(served, objectOf(body), signal),
  },
  {
    method: 'POST',
    paths: ['/infill'],
    ability: 'generate',
    streamed: kStreamed,
    answer: (served, body, signal) => infill(served, objectOf(body), signal),
  },
  {
    method: 'POST',
    paths: ['/v1/embeddings', '/embeddings'],
    ability: 'embed',
    answer: async (served, body, signal) => ({
      json: await createEmbedding(served.model, request<EmbeddingRequest>(served, body), { signal }),
    }),
  },
  {
    method: 'POST',
    paths: ['/v1/rerank', '/rerank', '/v1/reranking', '/reranking'],
    ability: 'rerank',
    answer: async (served, body, signal) => ({
      json: await createRerank(served.model, request<RerankRequest>(served, body), { signal }),
    }),
  },
  {
    method: 'POST',
    paths: ['/v1/systemone'],
    ability: 'decide',
    answer: decide,
  },
  ...(['transcribe', 'translate'] as const).map((task): Route => {
    const name = task === 'translate' ? 'translations' : 'transcriptions'
    return {
      method: 'POST',
      paths: [`/v1/audio/${name}`, `/audio/${name}`],
      form: true,
      ability: 'transcribe',
      answer: ({ speech }, form, signal) => transcriptionAnswer(speech, form as FormData, { task, signal }),
    }
  }),
  {
    method: 'POST',
    paths: ['/v1/audio/speech', '/audio/speech'],
    ability: 'speak',
    streamed: ['stream_format', 'sse'],
    answer: speech,
  },
  { method: 'POST', paths: ['/tokenize'], answer: tokenize },
  { method: 'POST', paths: ['/detokenize'], answer: detokenize },
  { method: 'POST', paths: ['/apply-template'], answer: applyTemplate },
]
