// /infill, as in llama.cpp's server: a prompt of a code model's fill-in-the-middle tokens, and the text between.
import type { SpecialTokens } from '../../api/text.js'
import {
  streamCompletion,
  type CompletionChunk,
  type CompletionModel,
  type CompletionRequest,
  type GenerateResult,
} from '../../engine/index.js'
import { RequestError, type Failure } from './failures.js'
import { observed, type ObservedModel } from './requests.js'
import type { TextThread } from './text-thread.js'

type Fields = Readonly<Record<string, unknown>>

interface Served {
  readonly model: CompletionModel
  readonly texts: TextThread
  readonly id: string
}

interface Chunk {
  readonly filename: string
  readonly text: string
}

// What llama.cpp writes where the format of code models wants the names of the repository and of the file.
const kRepository = 'myproject\n'
const kFile = 'filename\n'
/** before a further text, if the vocabulary has no separator of files */
const kSnippet = '\n\n--- snippet ---\n\n'

/** The most tokens of prefix and suffix together: llama.cpp's size of a batch. */
const kBatch = 2048

/** Fields that llama.cpp's clients send. They change no text here. */
const kWithoutEffect = new Set(['cache_prompt', 'id_slot', 'n_indent', 'n_keep', 'response_fields', 'samplers', 't_max_predict_ms', 't_max_prompt_ms', 'timings_per_token']) // prettier-ignore
/** Fields of a completion request that /infill has not. */
const kOthers = ['n', 'best_of', 'echo', 'suffix', 'logprobs']

const kRoles = [
  ['fimPrefix', 'prefix'],
  ['fimSuffix', 'suffix'],
  ['fimMiddle', 'middle'],
] as const

type FimTokens = SpecialTokens & Record<(typeof kRoles)[number][0], number>

function fimTokensOf(special: SpecialTokens): FimTokens {
  const missing = kRoles.filter(([role]) => special[role] === undefined).map(([, name]) => name)
  if (missing.length === 0) return special as FimTokens
  throw new RequestError(
    501,
    'unsupported',
    `This model cannot fill in: its vocabulary has no token for the ${missing.join(', the ')}.`,
  )
}

function refuse(message: string): never {
  throw new RequestError(400, 'invalid-argument', message)
}

function textOf(given: Fields, name: string, ...fallback: string[]): string {
  const value = given[name] ?? fallback[0]
  return typeof value === 'string' ? value : refuse(`/infill needs ${name}, a string.`)
}

function chunksOf(extra: unknown): Chunk[] {
  if (extra === undefined || extra === null) return []
  if (!Array.isArray(extra)) refuse('input_extra must be an array of {"filename", "text"}.')
  return (extra as unknown[]).map((chunk, i) => {
    const { filename = 'tmp', text } = (chunk ?? {}) as Fields
    if (typeof text === 'string' && typeof filename === 'string') return { filename, text }
    return refuse(`Chunk ${i} of input_extra must have a text, a string, and may have a filename, a string.`)
  })
}

/** The ids of a prompt: further files, the prefix, the beginning of the middle, the suffix. max: tokens to generate */
async function promptOf({ model, texts }: Served, given: Fields, max: number): Promise<number[]> {
  const { tokenizer } = model
  const special = fimTokensOf(tokenizer.special)
  const { fimRepository, fimSeparator, bos } = special
  const names = [kRepository, kFile, kSnippet]
  const chunks = chunksOf(given['input_extra'])
  const plain = [textOf(given, 'input_prefix'), textOf(given, 'input_suffix'), ...names]
  const extra = chunks.flatMap(({ filename, text }) => [`${filename}\n`, text])
  const encoded = await texts.call('encode', [...plain, ...extra], { special: false, bos: false })
  const [begin] = await texts.call('encode', [textOf(given, 'prompt', '')], { special: true, bos: false })
  const [prefix, suffix, repository, file, snippet, ...others] = encoded as [
    number[], number[], number[], number[], number[], ...number[][],
  ] // prettier-ignore
  const before: number[] = []
  const add = (...lists: readonly (readonly number[])[]): void => {
    for (const ids of lists) for (const id of ids) before.push(id)
  }
  if (fimRepository !== undefined) add([fimRepository], repository)
  for (let i = 0; i < others.length; i += 2)
    if (fimSeparator === undefined) add(snippet, others[i + 1]!)
    else add([fimSeparator], others[i]!, others[i + 1]!)
  if (fimSeparator !== undefined) add([fimSeparator], file)

  // Texts that are too long lose what is farthest from the gap. Small contexts keep half of their room.
  const { contextLength } = model.info
  const batch = Math.min(kBatch, Math.floor(contextLength / 2))
  const beforeRoom = Math.max(0, contextLength - batch - 2 * Math.max(0, max))
  const prefixRoom = 3 * Math.floor(batch / 4)
  const suffixRoom = Math.max(0, Math.floor(batch / 4) - 2 - begin!.length)
  return [
    ...before.slice(Math.max(0, before.length - beforeRoom)),
    ...(tokenizer.addsBos && bos !== undefined ? [bos] : []),
    special.fimPrefix,
    ...prefix.slice(Math.max(0, prefix.length - prefixRoom)),
    ...begin!,
    special.fimSuffix,
    ...suffix.slice(0, suffixRoom),
    special.fimMiddle,
  ]
}

interface Plan {
  readonly ids: readonly number[]
  readonly chunks: AsyncIterable<CompletionChunk>
  readonly watched: ObservedModel
}

async function planOf(served: Served, given: Fields, signal: AbortSignal): Promise<Plan> {
  const { input_prefix, input_suffix, input_extra, prompt, n_predict, stream, ...others } = given
  const fields = Object.entries(others).filter(([name]) => !kWithoutEffect.has(name))
  const other = kOthers.find((name) => (others[name] ?? undefined) !== undefined)
  if (other !== undefined) throw new RequestError(400, 'unsupported', `/infill has no option ${other}.`)
  const max = n_predict ?? others['max_tokens']
  const ids = await promptOf(served, given, Number.isInteger(max) ? Number(max) : 0)
  const request = { model: served.id, ...Object.fromEntries(fields), max_tokens: max, prompt: ids }
  const watched = observed(served.model)
  const chunks = streamCompletion(watched.model, request as CompletionRequest, { signal })
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

interface InfillEvent {
  readonly index: 0
  readonly content: string
  readonly stop: boolean
  /** only in the last event: the text of all events. It is not sent with them. */
  readonly whole?: string
  readonly [field: string]: unknown
}

/** The events of an answer. The last one has what a whole answer has. */
async function* eventsOf(texts: TextThread, plan: Plan): AsyncGenerator<InfillEvent, void, void> {
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

type InfillAnswer =
  | { readonly json: unknown }
  | { readonly events: AsyncIterable<unknown>; failed(failure: Failure): unknown }

/** Answers in the form of llama.cpp's server, whole or as events. Errors: those of requests, and 501 without tokens. */
export async function infill(served: Served, given: Fields, signal: AbortSignal): Promise<InfillAnswer> {
  const plan = await planOf(served, given, signal)
  const events = eventsOf(served.texts, plan)
  if (given['stream'] === true) return { events: sent(events), failed: ({ body }) => body }
  let last: object = {}
  for await (const { whole, ...event } of events) if (whole !== undefined) last = { ...event, content: whole }
  return { json: last }
}
