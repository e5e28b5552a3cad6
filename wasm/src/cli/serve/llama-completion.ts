// /completion and /infill, as in llama.cpp's server: its names of options, and the form of its answers.
import {
  streamCompletion,
  type CompletionChunk,
  type CompletionModel,
  type GenerateResult,
  type JsonSchema,
} from '../../engine/index.js'
import { RequestError, type Failure } from './failures.js'
import { observed, refuse, type Fields, type ObservedModel } from './requests.js'
import { withOpenAiNames } from './llama-fields.js'
import type { TextThread } from './text-thread.js'

export interface CompletionServed {
  readonly model: CompletionModel
  readonly texts: TextThread
  readonly id: string
}

/** What the two routes differ in. */
export interface LlamaRequest {
  readonly route: '/completion' | '/infill'
  /** the prompt's ids */
  readonly ids: readonly number[]
  /** without those of the prompt */
  readonly fields: Fields
}

/** Fields of /v1/completions that these routes have not. */
const kOthers = ['n', 'best_of', 'echo', 'suffix', 'logprobs']

interface Plan {
  readonly ids: readonly number[]
  readonly chunks: AsyncIterable<CompletionChunk>
  readonly watched: ObservedModel
}

async function planOf(served: CompletionServed, asked: LlamaRequest, signal: AbortSignal): Promise<Plan> {
  const { route, ids, fields } = asked
  const { stream: _, json_schema, n_probs, ...others } = withOpenAiNames(fields)
  const other = kOthers.find((name) => (others[name] ?? undefined) !== undefined)
  if (other !== undefined) refuse(`${route} has no option ${other}.`)
  if (typeof n_probs === 'number' && n_probs > 0)
    refuse(`${route} has no n_probs. /v1/completions has logprobs.`)
  const schema = json_schema ?? undefined
  if (schema !== undefined && (others['grammar'] ?? undefined) !== undefined)
    throw new RequestError(400, 'invalid-argument', 'The request has both a grammar and a json_schema.')
  const grammar =
    schema === undefined ? {} : { grammar: await served.texts.call('grammar', schema as JsonSchema) }
  const watched = observed(served.model)
  const request = { model: served.id, ...others, ...grammar, prompt: ids }
  const chunks = streamCompletion(watched.model, request, { signal })
  return { ids, chunks, watched }
}

const kStopTypes: Readonly<Partial<Record<GenerateResult['finishReason'], string>>> = {
  end: 'eos',
  stop: 'word',
}

function timingsOf({ promptTokens, reusedTokens, tokens, promptMs, generateMs }: GenerateResult): object {
  const computed = promptTokens - reusedTokens
  return {
    cache_n: reusedTokens,
    prompt_n: computed,
    prompt_ms: promptMs,
    prompt_per_second: promptMs > 0 ? (computed * 1000) / promptMs : 0,
    predicted_n: tokens,
    predicted_ms: generateMs,
    predicted_per_second: generateMs > 0 ? (tokens * 1000) / generateMs : 0,
  }
}

interface CompletionEvent {
  readonly index: 0
  readonly content: string
  readonly stop: boolean
  /** only in the last event: the text of all events. It is not sent with them. */
  readonly whole?: string
  readonly [field: string]: unknown
}

/** The events of an answer. The last one has what a whole answer has. */
async function* eventsOf(texts: TextThread, plan: Plan): AsyncGenerator<CompletionEvent, void, void> {
  let whole = ''
  let model = ''
  for await (const chunk of plan.chunks) {
    const content = chunk.choices[0]?.text ?? ''
    model = chunk.model
    whole += content
    if (content !== '') yield { index: 0, content, stop: false }
  }
  const result = plan.watched.result!
  const { finishReason, promptTokens, tokens } = result
  yield {
    index: 0,
    content: '',
    stop: true,
    model,
    tokens_predicted: tokens,
    tokens_evaluated: promptTokens,
    prompt: await texts.call('decode', plan.ids),
    has_new_line: whole.includes('\n'),
    truncated: finishReason === 'context',
    stop_type: kStopTypes[finishReason] ?? 'limit',
    stopping_word: result.stopString ?? '',
    tokens_cached: promptTokens + Math.max(0, tokens - 1), // the last one is not computed
    timings: timingsOf(result),
    whole,
  }
}

async function* sent(events: ReturnType<typeof eventsOf>): AsyncGenerator<object, void, void> {
  for await (const { whole: _, ...event } of events) yield event
}

export type LlamaAnswer =
  | { readonly json: unknown }
  | { readonly events: AsyncIterable<unknown>; failed(failure: Failure): unknown }

/** Answers in the form of llama.cpp's server, whole or as events. */
export async function answerInLlamaForm(
  served: CompletionServed,
  asked: LlamaRequest,
  signal: AbortSignal,
): Promise<LlamaAnswer> {
  const plan = await planOf(served, asked, signal)
  const events = eventsOf(served.texts, plan)
  if (asked.fields['stream'] === true) return { events: sent(events), failed: ({ body }) => body }
  let last: object = {}
  for await (const { whole, ...event } of events) if (whole !== undefined) last = { ...event, content: whole }
  return { json: last }
}

/** The ids of a prompt: a text, ids, or an array of both. Only at its beginning a text gets what the model adds there. */
async function idsOf({ texts, model }: CompletionServed, prompt: unknown): Promise<number[]> {
  const parts: unknown[] = Array.isArray(prompt) ? prompt : [prompt]
  const ids: number[] = []
  for (const [i, part] of parts.entries())
    if (typeof part === 'string')
      ids.push(...(await texts.call('encode', [part], { special: true, bos: i === 0 }))[0]!)
    else if (Number.isInteger(part) && Number(part) >= 0 && Number(part) < model.tokenizer.size)
      ids.push(Number(part))
    else
      throw new RequestError(
        400,
        'invalid-argument',
        'prompt must be a string, or an array of strings and token ids.',
      )
  return ids
}

/** Completes a prompt. Errors: those of requests. */
export async function completion(
  served: CompletionServed,
  given: Fields,
  signal: AbortSignal,
): Promise<LlamaAnswer> {
  const { prompt, ...fields } = given
  return await answerInLlamaForm(
    served,
    { route: '/completion', ids: await idsOf(served, prompt), fields },
    signal,
  )
}
