// Checks questions, and lists their options in the order in which a model scores them.
import { GgufError } from '../api/errors.js'
import type { DecisionKind } from './kinds.js'
import type { QuestionType } from './types.js'

export interface Option {
  readonly key: string
  /** null: none */
  readonly description: unknown
}

export interface Question {
  readonly id: string
  readonly type: QuestionType
  readonly instructions: unknown
  readonly options: readonly Option[]
}

export const invalid = (message: string): GgufError => new GgufError('invalid-argument', message)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** Text, an object or an array. */
const isContent = (value: unknown): boolean =>
  typeof value === 'string' || (typeof value === 'object' && value !== null)

const encoder = new TextEncoder()

/** Orders texts by their bytes, as llama.cpp does. */
function compareBytes(a: string, b: string): number {
  const [x, y] = [encoder.encode(a), encoder.encode(b)]
  const at = x.findIndex((byte, i) => byte !== y[i])
  return at < 0 ? x.length - y.length : x[at]! - (y[at] ?? -1)
}

/** A JSON value whose objects have sorted keys. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => compareBytes(a, b))
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]))
}

function choiceOptions(criteria: unknown, kind: DecisionKind): Option[] {
  if (!isObject(criteria) || Object.keys(criteria).length === 0)
    throw invalid('"criteria" must be a non-empty object')
  const options = Object.entries(criteria).map(([key, value]) => ({ key, description: value ?? null }))
  if (
    kind.strict &&
    options.some(({ key, description }) => key === '' || !(description === null || isContent(description)))
  )
    throw invalid('option keys must be non-empty, descriptions must be null, text, an object or an array')
  if (kind.strict && options.length < 2) throw invalid('"criteria" must have at least 2 options')
  return kind.sorted ? options.sort((a, b) => compareBytes(a.key, b.key)) : options
}

function scoreOptions(criteria: unknown, kind: DecisionKind): Option[] {
  if (!Array.isArray(criteria) || criteria.length < 2 || criteria.length > 10)
    throw invalid('"criteria" must be an array of 2 to 10 levels')
  if (kind.strict && !criteria.every(isContent))
    throw invalid('level descriptions must be text, an object or an array')
  return criteria.map((description: unknown, i) => ({ key: String(i), description: description ?? null }))
}

function noulOptions(criteria: unknown, kind: DecisionKind): Option[] {
  if (criteria !== undefined && criteria !== null && !isObject(criteria))
    throw invalid('"criteria" must be an object')
  const given = criteria ?? {}
  if (
    kind.strict &&
    Object.entries(given).some(([key, value]) => !/^(false|true)$/.test(key) || !isContent(value))
  )
    throw invalid('"criteria" may only describe "false" and "true" with text, an object or an array')
  const names = [
    ['false', 'no'],
    ['true', 'yes'],
  ] as const
  const options = names.map(([key, alias]) => {
    const named = Object.hasOwn(given, key) ? given[key] : kind.yesNo ? given[alias] : null
    return { key, description: named ?? null }
  })
  return kind.trueFirst ? options.reverse() : options
}

const kOptions: Readonly<Record<QuestionType, (criteria: unknown, kind: DecisionKind) => Option[]>> = {
  choice: choiceOptions,
  score: scoreOptions,
  noul: noulOptions,
}

function questionOf(id: string, given: unknown, kind: DecisionKind, maxOptions: number): Question {
  if (!isObject(given)) throw invalid('must be an object')
  const { type, instructions, criteria } = given
  if (!kind.nullInstructions && (instructions === undefined || instructions === null))
    throw invalid('"instructions" must be provided')
  if (kind.strict && !(isContent(instructions) && instructions !== ''))
    throw invalid('"instructions" must be non-empty text, an object or an array')
  if (typeof type !== 'string' || !Object.hasOwn(kOptions, type))
    throw invalid('"type" must be one of: choice, score, noul')
  const options = kOptions[type as QuestionType](criteria, kind)
  if (options.length > maxOptions)
    throw invalid(`too many options (${options.length}), this model supports at most ${maxOptions}`)
  return { id, type: type as QuestionType, instructions: instructions ?? null, options }
}

/** Error: 'invalid-argument', with the messages of llama.cpp's server. */
/** Whether a message has a part that is no text: a template would write its bytes as text. */
const hasMedia = (message: unknown): boolean =>
  isObject(message) &&
  'role' in message &&
  Array.isArray(message['content']) &&
  message['content'].some((part) => isObject(part) && 'type' in part && part['type'] !== 'text')

export function checkState(state: unknown, kind: DecisionKind): void {
  if (state === undefined || (state === null && !kind.nullState)) throw invalid('"state" must be provided')
  if (kind.strict && !isContent(state)) throw invalid('"state" must be text, an object or an array')
  if (Array.isArray(state) && state.some(hasMedia))
    throw new GgufError(
      'unsupported',
      'The messages of "state" may have parts of text only: no images, no audio.',
    )
}

/** Error: 'invalid-argument', with the messages of llama.cpp's server. */
export function parseQuestions(questions: unknown, kind: DecisionKind, maxOptions: number): Question[] {
  if (!isObject(questions) || Object.keys(questions).length === 0)
    throw invalid('"questions" must be a non-empty object')
  return Object.entries(questions).map(([id, given]) => {
    try {
      return questionOf(id, given, kind, maxOptions)
    } catch (error) {
      throw error instanceof GgufError ? invalid(`questions.${id}: ${error.message}`) : error
    }
  })
}
