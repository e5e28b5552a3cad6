// The checks of requests, and the engine's options for them.
import {
  anything,
  checkArgument,
  checkOptions,
  either,
  flag,
  integer,
  list,
  modelWith,
  number,
  object,
  oneOf,
  signal,
  text,
  type Check,
} from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import { contentProblem } from '../api/messages.js'
import { kGenerateChecks } from '../engine/options.js'
import { kSamplerNames } from './sampler-options.js'
import { kRenderChecks } from '../text/render-options.js'
import type { JsonSchema } from '../schema/index.js'
import type { GenerateOptions } from '../engine/types.js'
import type {
  CompletionModel,
  CallOptions,
  ChatCompletionRequest,
  CompletionRequest,
  EmbeddingRequest,
  RerankRequest,
  ResponseFormat,
  SamplingRequest,
  StreamOptions,
} from './types.js'

/** A request without nulls, which mean absent. */
export type Given<T> = { readonly [Name in keyof T]?: Exclude<T[Name], null> }

type Checks<T> = Readonly<Record<keyof T, Check>>

/** The engine's options by their names in a request. */
const kEngineNames = {
  ...kSamplerNames,
  logit_bias: 'logitBias',
  seed: 'seed',
  stop: 'stop',
  ignore_eos: 'ignoreEnd',
  grammar: 'grammar',
} as const satisfies Partial<Record<keyof SamplingRequest, keyof GenerateOptions>>

const kEngine = Object.fromEntries(
  Object.entries(kEngineNames).map(([name, engineName]) => [name, kGenerateChecks[engineName]]),
) as Record<keyof typeof kEngineNames, Check>

const kSampling: Checks<SamplingRequest> = {
  ...kEngine,
  model: text,
  n: integer(1, 128),
  frequency_penalty: number(-2, 2),
  presence_penalty: number(-2, 2),
  stream: flag,
  stream_options: object,
  user: text,
}

const kChat: Checks<ChatCompletionRequest> = {
  messages: list,
  ...kSampling,
  max_completion_tokens: integer(-1),
  max_tokens: integer(-1),
  logprobs: flag,
  top_logprobs: integer(0, 20),
  response_format: object,
  tools: list,
  tool_choice: either(oneOf('none', 'auto', 'required'), object),
  parallel_tool_calls: flag,
  reasoning_effort: text,
  chat_template_kwargs: object,
  documents: list,
  add_generation_prompt: flag,
  continue: flag,
  metadata: object,
  store: flag,
  service_tier: text,
  verbosity: text,
  modalities: list,
  safety_identifier: text,
  prompt_cache_key: text,
  prompt_cache_retention: text,
  prompt_cache_options: object,
  audio: anything, // these are refused below
  functions: anything,
  function_call: anything,
  moderation: anything,
  prediction: anything,
  web_search_options: anything,
}

const kCompletion: Checks<CompletionRequest> = {
  prompt: either(text, list),
  ...kSampling,
  max_tokens: integer(-1),
  logprobs: integer(0, 5),
  echo: flag,
  suffix: text,
  best_of: integer(1, 128),
}

const kEmbedding: Checks<EmbeddingRequest> = {
  input: either(text, list),
  model: text,
  encoding_format: oneOf('float', 'base64'),
  dimensions: integer(1),
  user: text,
}

const kRerank: Checks<RerankRequest> = {
  query: text,
  documents: list,
  model: text,
  top_n: integer(1),
  return_documents: flag,
}

const kStream: Checks<StreamOptions> = { include_usage: flag, include_obfuscation: flag }

/** Values that have no effect; others are refused. */
const kNothing: Readonly<Partial<Record<keyof ChatCompletionRequest, readonly unknown[]>>> = {
  store: [false],
  service_tier: ['auto', 'default'],
  verbosity: ['medium'],
  audio: [],
  functions: [],
  function_call: [],
  moderation: [],
  prediction: [],
  web_search_options: [],
}

function invalid(message: string): never {
  throw new GgufError('invalid-argument', message)
}

const kCall: Checks<CallOptions> = { signal, now: kRenderChecks.now }

export function checkCall(what: string, model: CompletionModel, call: CallOptions): void {
  checkArgument(what, 'model', model, modelWith('embed'))
  checkOptions(`The last argument of ${what}`, call, kCall)
}

/** Refuses unknown options and values out of range, and removes nulls. */
function checkRequest<T extends object>(what: string, request: T, checks: Checks<T>): Given<T> {
  checkArgument(what, 'request', request, object)
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null))
  checkOptions(what, given, checks)
  return given as Given<T>
}

function checkBiases(biases: Readonly<Record<string, number>> | undefined): void {
  for (const [id, bias] of Object.entries(biases ?? {}))
    if (typeof bias !== 'number' || !(bias >= -100 && bias <= 100))
      invalid(`The option logit_bias of token ${id} must be a number from -100 to 100, not ${String(bias)}.`)
}

function checkStream(
  what: string,
  { stream, stream_options }: Given<SamplingRequest>,
  streams: boolean,
): void {
  if (stream_options === undefined) return
  if (!streams && !stream) invalid(`The option stream_options of ${what} means nothing without stream: true.`)
  checkRequest<StreamOptions>('stream_options', stream_options, kStream)
}

/** Tool calls of a message: OpenAI's, or with a name at the top, as some clients send them. */
function checkCalls(calls: unknown, where: string): void {
  if (calls === undefined || calls === null) return
  if (!Array.isArray(calls)) invalid(`The tool_calls of ${where} must be an array.`)
  for (const [i, call] of (calls as readonly unknown[]).entries()) {
    type Named = { name?: unknown } | null
    const {
      function: called,
      custom,
      name,
    } = (call ?? {}) as { function?: Named; custom?: Named; name?: unknown }
    if (typeof (called?.name ?? custom?.name ?? name) !== 'string')
      invalid(`Tool call ${i} of ${where} has no name.`)
  }
}

function checkMessages(what: string, messages: unknown): void {
  if (messages === undefined) invalid(`${what} needs messages: an array of at least one.`)
  const all = messages as readonly unknown[]
  all.forEach((message, i) => {
    if (object(message) !== undefined || typeof (message as { role?: unknown }).role !== 'string')
      invalid(`Message ${i} of ${what} is no object with a role.`)
    checkCalls((message as { tool_calls?: unknown }).tool_calls, `message ${i} of ${what}`)
  })
  const problem = contentProblem(what, all as readonly object[])
  if (problem !== undefined) invalid(problem)
}

/** streams: the function always streams, whatever the request says. */
export function checkChatRequest(
  what: string,
  request: ChatCompletionRequest,
  streams: boolean,
): Given<ChatCompletionRequest> {
  const given = checkRequest(what, request, kChat)
  checkMessages(what, given.messages)
  checkBiases(given.logit_bias)
  checkStream(what, given, streams)
  for (const [name, allowed] of Object.entries(kNothing)) {
    const value = given[name as keyof ChatCompletionRequest]
    if (value !== undefined && !allowed.includes(value))
      throw new GgufError(
        'unsupported',
        `The option ${name} of ${what} asks for something that a local model does not support.`,
      )
  }
  if (given.modalities?.some((one) => one !== 'text'))
    throw new GgufError('unsupported', `The option modalities of ${what} can be ["text"] alone.`)
  if (given.top_logprobs !== undefined && !given.logprobs)
    invalid(`The option top_logprobs of ${what} means nothing without logprobs: true.`)
  return given
}

export function checkCompletionRequest(
  what: string,
  request: CompletionRequest,
  streams: boolean,
): Given<CompletionRequest> {
  const given = checkRequest(what, request, kCompletion)
  if (given.prompt === undefined) invalid(`${what} needs a prompt.`)
  checkBiases(given.logit_bias)
  checkStream(what, given, streams)
  if ((given.best_of ?? 1) > (given.n ?? 1))
    throw new GgufError('unsupported', `The option best_of of ${what} can be no more than n.`)
  return given
}

export function checkEmbeddingRequest(what: string, request: EmbeddingRequest): Given<EmbeddingRequest> {
  const given = checkRequest(what, request, kEmbedding)
  if (given.input === undefined) invalid(`${what} needs an input.`)
  return given
}

export function checkRerankRequest(what: string, request: RerankRequest): Given<RerankRequest> {
  const given = checkRequest(what, request, kRerank)
  if (given.query === undefined || given.documents === undefined)
    invalid(`${what} needs a query and documents.`)
  return given
}

/** The schema of an answer; undefined: any text. */
export function schemaOf(format: ResponseFormat | undefined): JsonSchema | undefined {
  if (format === undefined) return undefined
  switch (format.type) {
    case 'text':
      return undefined
    case 'json_object':
      return format.schema ?? { type: 'object' }
    case 'json_schema':
      return (
        format.json_schema?.schema ??
        invalid('The response_format "json_schema" needs json_schema.schema: there is none.')
      )
    default:
      return invalid(
        `There is no response_format ${JSON.stringify((format as { type: unknown }).type) ?? 'without a type'}: it is "text", "json_object" or "json_schema".`,
      )
  }
}

/** The engine's maxTokens: -1, as in llama.cpp, and absent mean no limit. */
export const maxTokensOf = (given: number | undefined): number | undefined =>
  given === -1 ? undefined : given

/** The options of a request that are passed to generate() unchanged. */
export function generateOptionsOf(request: Given<SamplingRequest>, { signal }: CallOptions): GenerateOptions {
  const options: Record<string, unknown> = { signal }
  for (const [name, engineName] of Object.entries(kEngineNames)) {
    const value = request[name as keyof SamplingRequest]
    if (value !== undefined) options[engineName] = value
  }
  return options
}
