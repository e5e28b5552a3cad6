// What requests of other APIs have in common while they become chat requests.
import type { CompletionModel, GenerateResult } from '../../engine/index.js'
import { RequestError } from './failures.js'

export type Fields = Readonly<Record<string, unknown>>
export type Item = Record<string, unknown>

/** The fields of an object; none of another value. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

/** Contents as blocks: a text is one block. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [{ type: 'text', text: value }]

/** The tools of a request. */
export function toolsOf(tools: unknown): readonly unknown[] {
  if (tools === undefined || tools === null) return []
  return Array.isArray(tools) ? tools : refuse('The tools must be an array.')
}

export interface ObservedModel {
  readonly model: CompletionModel
  /** of the latest answer */
  result: GenerateResult | undefined
}

/** A model that keeps the result of its latest answer, which has more than the answers of OpenAI's API tell. */
export function observed(model: CompletionModel): ObservedModel {
  const out: ObservedModel = {
    result: undefined,
    model: {
      ...model,
      generate: (prompt, options = {}) =>
        model.generate(prompt, {
          ...options,
          onDone: (result) => {
            out.result = result
            options.onDone?.(result)
          },
        }),
    },
  }
  return out
}

/** Ends a request with status 400, because it asks for what is not there. */
export function refuse(message: string): never {
  throw new RequestError(400, 'unsupported', message)
}
