// What requests of other APIs have in common while they become chat requests.
import { checkOptions, type Check } from '../../api/checks.js'
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

/** Refuses values of the wrong kind in the fields that are in the table. Null means absent. */
export function checkFields(body: Fields, checks: Readonly<Record<string, Check>>): void {
  const given = Object.keys(checks).map((name) => [name, body[name] ?? undefined])
  checkOptions('the request', Object.fromEntries(given), checks)
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
