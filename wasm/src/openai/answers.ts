// The answers to prompts, in sequence, as events, which chat and completions convert to chunks or whole objects.
import type { FinishReason, GenerateOptions, GenerateResult } from '../engine/types.js'
import { LogprobQueue } from './logprobs.js'
import type { Given } from './requests.js'
import type { CompletionModel, ContentLogprob, SamplingRequest, Usage } from './types.js'

export interface AnswerEvent {
  readonly index: number
  readonly text: string
  readonly logprobs: readonly ContentLogprob[]
  /** only in the last event of an answer */
  readonly finish?: FinishReason
}

export interface AnswersOptions {
  readonly prompts: readonly (string | readonly number[])[]
  /** number of answers to each prompt */
  readonly n: number
  readonly generate: GenerateOptions
  /** number of most likely tokens to report with each token; undefined: no log probabilities */
  readonly alternatives: number | undefined
}

/** Counts the tokens of all answers, and those of a prompt once. */
export class UsageCounter {
  #prompt = 0
  #cached = 0
  #completion = 0

  add({ promptTokens, reusedTokens, tokens }: GenerateResult, isFirst: boolean): void {
    this.#completion += tokens
    if (!isFirst) return
    this.#prompt += promptTokens
    this.#cached += reusedTokens
  }

  get usage(): Usage {
    return {
      prompt_tokens: this.#prompt,
      completion_tokens: this.#completion,
      total_tokens: this.#prompt + this.#completion,
      prompt_tokens_details: { cached_tokens: this.#cached },
    }
  }
}

/** The chunk with the usage of a stream. */
export function usageOf(
  { stream_options: options }: Given<SamplingRequest>,
  counter: UsageCounter,
): {
  readonly ownChunk: boolean
  /** for chunks that are not the last */
  readonly meanwhile: { usage?: null }
  atFinish(isLast: boolean): { usage?: Usage | null }
} {
  const ownChunk = options?.include_usage === true
  const meanwhile = ownChunk ? { usage: null } : {}
  return {
    ownChunk,
    meanwhile,
    atFinish: (isLast) => (options === undefined && isLast ? { usage: counter.usage } : meanwhile),
  }
}

export async function* answersOf(
  model: CompletionModel,
  { prompts, n, generate, alternatives }: AnswersOptions,
  counter: UsageCounter,
): AsyncGenerator<AnswerEvent, void, void> {
  for (const [i, prompt] of prompts.entries())
    for (let which = 0; which < n; which++) {
      const index = i * n + which
      let result: GenerateResult | undefined
      const options: GenerateOptions = {
        ...generate,
        seed: generate.seed === undefined ? undefined : (generate.seed >>> 0) + which, // a large one would stay the same
        logprobs: alternatives === undefined ? 0 : Math.max(1, alternatives),
        onDone: (done) => (result = done),
      }
      const queue = alternatives === undefined ? undefined : new LogprobQueue(model.tokenizer, alternatives)
      for await (const piece of model.generate(prompt, options)) {
        const logprobs = queue?.take(piece) ?? []
        if (piece.text !== '' || logprobs.length > 0) yield { index, text: piece.text, logprobs }
      }
      counter.add(result!, which === 0)
      const finish = result!.finishReason
      yield { index, text: '', logprobs: queue?.finish(finish) ?? [], finish }
    }
}

export function finishOf(reason: FinishReason): 'stop' | 'length' {
  return reason === 'end' || reason === 'stop' ? 'stop' : 'length'
}

/** The common fields of all answers and chunks of a request. */
export function frameOf<O extends string>(
  model: CompletionModel,
  object: O,
  prefix: string,
  name: string | undefined,
): { id: string; object: O; created: number; model: string } {
  return {
    id: `${prefix}-${crypto.randomUUID()}`,
    object,
    created: Math.floor(Date.now() / 1000),
    model: name ?? model.info.architecture,
  }
}
