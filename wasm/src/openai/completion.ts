// Answers OpenAI's requests for completions.
import { GgufError } from '../api/errors.js'
import { answersOf, finishOf, frameOf, usageOf, UsageCounter, type AnswersOptions } from './answers.js'
import { completionLogprobs } from './logprobs.js'
import { checkCall, checkCompletionRequest, generateOptionsOf, maxTokensOf, type Given } from './requests.js'
import type { CallOptions, Completion, CompletionChunk, CompletionModel, CompletionRequest } from './types.js'

/** One text or several, each as a string or as token ids. */
export function textsOf(what: string, given: unknown): (string | readonly number[])[] {
  const isIds = (value: unknown): value is readonly number[] =>
    Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id))
  if (typeof given === 'string' || isIds(given)) return [given]
  if (Array.isArray(given) && given.length > 0 && given.every((one) => typeof one === 'string' || isIds(one)))
    return given
  throw new GgufError(
    'invalid-argument',
    `${what} must be a string, an array of token ids, or an array of either: none of them empty.`,
  )
}

/** The fill-in-the-middle prompt for a suffix. */
function fillIn(
  model: CompletionModel,
  prompt: string | readonly number[],
  suffix: string,
): readonly number[] {
  const { tokenizer } = model
  const { fimPrefix, fimSuffix, fimMiddle, bos } = tokenizer.special
  if (fimPrefix === undefined || fimSuffix === undefined || fimMiddle === undefined)
    throw new GgufError('unsupported', 'This model was not trained to fill in: send no suffix.')
  const before = typeof prompt === 'string' ? tokenizer.encode(prompt) : prompt
  const begin = tokenizer.addsBos && bos !== undefined ? [bos] : []
  return [...begin, fimPrefix, ...before, fimSuffix, ...tokenizer.encode(suffix), fimMiddle]
}

function planOf(
  model: CompletionModel,
  request: Given<CompletionRequest>,
  call: CallOptions,
): AnswersOptions & { readonly echoes: readonly string[] } {
  const texts = textsOf('The prompt', request.prompt)
  const { suffix, echo = false, logprobs } = request
  if (echo && logprobs !== undefined)
    throw new GgufError(
      'unsupported',
      'Log probabilities of the prompt are not available: send echo or logprobs, not both.',
    )
  const { tokenizer } = model
  return {
    prompts: suffix ? texts.map((text) => fillIn(model, text, suffix)) : texts,
    n: request.n ?? 1,
    generate: { ...generateOptionsOf(request, call), maxTokens: maxTokensOf(request.max_tokens) },
    alternatives: logprobs,
    echoes: echo
      ? texts.map((text) => (typeof text === 'string' ? text : tokenizer.decode(text, { special: false })))
      : [],
  }
}

async function* chunks(
  model: CompletionModel,
  request: Given<CompletionRequest>,
  call: CallOptions,
): AsyncGenerator<CompletionChunk, void, void> {
  const plan = planOf(model, request, call)
  const frame = frameOf(model, 'text_completion', 'cmpl', request.model)
  const counter = new UsageCounter()
  const usage = usageOf(request, counter)
  const last = plan.prompts.length * plan.n - 1
  const lengths: number[] = []
  for await (const event of answersOf(model, plan, counter)) {
    const { index, finish } = event
    const echoed = lengths[index] === undefined ? (plan.echoes[Math.floor(index / plan.n)] ?? '') : ''
    const text = echoed + event.text
    const offset = (lengths[index] ??= 0)
    const logprobs = event.logprobs.length > 0 ? completionLogprobs(event.logprobs, offset) : null
    for (const { token } of event.logprobs) lengths[index] += token.length
    const finish_reason = finish === undefined ? null : finishOf(finish)
    const told = finish === undefined ? usage.meanwhile : usage.atFinish(index === last)
    if (text !== '' || logprobs || finish_reason)
      yield { ...frame, choices: [{ index, text, logprobs, finish_reason }], ...told }
  }
  if (usage.ownChunk) yield { ...frame, choices: [], usage: counter.usage }
}

async function whole(
  model: CompletionModel,
  request: Given<CompletionRequest>,
  call: CallOptions,
): Promise<Completion> {
  const plan = planOf(model, request, call)
  const frame = frameOf(model, 'text_completion', 'cmpl', request.model)
  const counter = new UsageCounter()
  const choices: Completion['choices'] = []
  const all = [] as Parameters<typeof completionLogprobs>[0][]
  for await (const { index, text, logprobs, finish } of answersOf(model, plan, counter)) {
    const choice = (choices[index] ??= {
      index,
      text: plan.echoes[Math.floor(index / plan.n)] ?? '',
      logprobs: null,
      finish_reason: 'length',
    })
    choice.text += text
    all[index] = [...(all[index] ?? []), ...logprobs]
    if (finish === undefined) continue
    choice.finish_reason = finishOf(finish)
    if (plan.alternatives !== undefined) choice.logprobs = completionLogprobs(all[index], 0)
  }
  return { ...frame, choices, usage: counter.usage }
}

/**
 * Continues a prompt, in OpenAI's older format. With stream: true, yields chunks as they arrive. Errors:
 * 'invalid-argument' for options that are unknown or out of range, 'unsupported' for those that the model cannot
 * support, and those of generate().
 */
export function createCompletion(
  model: CompletionModel,
  request: CompletionRequest & { readonly stream: true },
  call?: CallOptions,
): Promise<AsyncGenerator<CompletionChunk, void, void>>
export function createCompletion(
  model: CompletionModel,
  request: CompletionRequest & { readonly stream?: false | null | undefined },
  call?: CallOptions,
): Promise<Completion>
export function createCompletion(
  model: CompletionModel,
  request: CompletionRequest,
  call?: CallOptions,
): Promise<Completion | AsyncGenerator<CompletionChunk, void, void>>
export async function createCompletion(
  model: CompletionModel,
  request: CompletionRequest,
  call: CallOptions = {},
): Promise<Completion | AsyncGenerator<CompletionChunk, void, void>> {
  checkCall('createCompletion()', model, call)
  const given = checkCompletionRequest('createCompletion()', request, false)
  return given.stream ? chunks(model, given, call) : await whole(model, given, call)
}

/** The same as chunks, for any value of request.stream. */
export function streamCompletion(
  model: CompletionModel,
  request: CompletionRequest,
  call: CallOptions = {},
): AsyncGenerator<CompletionChunk, void, void> {
  checkCall('streamCompletion()', model, call)
  return chunks(model, checkCompletionRequest('streamCompletion()', request, true), call)
}
