// Options are checked by tables with one row for each option, which says what its value must be.
import { GgufError } from './errors.js'

/** A check. If the value is bad, it returns in words what the value must be. */
export type Check = (value: unknown) => string | undefined

const check =
  (words: string, holds: (value: unknown) => boolean): Check =>
  (value) =>
    holds(value) ? undefined : words

const range = (kind: string, min: number, max: number): string => {
  if (max !== Infinity) return `${kind} from ${min} to ${max}`
  return min === -Infinity ? kind : `${kind} of ${min} at least`
}
/** A finite number within bounds. */
export const number = (min = -Infinity, max = Infinity): Check =>
  check(range('a number', min, max), (v) => Number.isFinite(v) && min <= Number(v) && Number(v) <= max)
export const integer = (min = -Infinity, max = Infinity): Check =>
  check(
    range('a whole number', min, max),
    (v) => Number.isSafeInteger(v) && min <= Number(v) && Number(v) <= max,
  )
/** A seed. Its lowest 32 bits count; OpenAI's clients send up to 2^63, which JavaScript rounds. */
export const seed = check(
  'a whole number of at most 64 bits',
  (v) => Number.isInteger(v) && Math.abs(Number(v)) <= 2 ** 64,
)
export const oneOf = (...values: readonly unknown[]): Check =>
  check(values.map((value) => JSON.stringify(value)).join(' or '), (v) => values.includes(v))
export const flag = check('true or false', (v) => typeof v === 'boolean')
export const text = check('a string', (v) => typeof v === 'string')
export const callback = check('a function', (v) => typeof v === 'function')
export const object = check('an object', (v) => typeof v === 'object' && v !== null && !Array.isArray(v))
export const list = check('an array', (v) => Array.isArray(v))
export const signal = check(
  'an AbortSignal',
  (v) => typeof v === 'object' && v !== null && 'aborted' in v && 'addEventListener' in v,
)
export const bytes = check('a Uint8Array', (v) => v instanceof Uint8Array)
/** headers of requests, as fetch() takes them */
export const headers = check('headers: an object of texts, pairs of texts, or a Headers', (v) => {
  try {
    void new Headers(v as HeadersInit)
    return typeof v === 'object' && v !== null
  } catch {
    return false
  }
})
/** Accepts any value, because the code that uses it checks it. */
export const anything: Check = () => undefined
/** An object with that function: a loaded model, or one that stands for it. */
export const modelWith = (member: string): Check =>
  check('a model that load() returned', (v) => typeof v === 'object' && v !== null && member in v)
export const isIterable = check(
  'iterable',
  (v) => typeof v === 'object' && v !== null && (Symbol.iterator in v || Symbol.asyncIterator in v),
)
export const either = (...checks: readonly Check[]): Check => {
  return (value) => {
    const words = checks.map((one) => one(value))
    return words.includes(undefined) ? undefined : words.join(' or ')
  }
}

/** Options of functions that read, and of those that also report progress. */
export const kReadChecks = { signal }
export const kProgressChecks = { signal, onProgress: callback }

/** words: "an array of texts" */
export const listOf = (element: Check, words: string): Check =>
  check(words, (v) => Array.isArray(v) && v.every((one) => element(one) === undefined))

export function shown(value: unknown): string {
  if (Array.isArray(value)) return value.every(Number.isFinite) ? `[${value.join(', ')}]` : 'an array'
  if (typeof value !== 'string') return typeof value === 'object' && value ? 'an object' : String(value)
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}...` : value)
}

/** Refuses an argument with the error 'invalid-argument'. what: the function, such as "generate()" */
export function checkArgument(what: string, name: string, value: unknown, check: Check): void {
  const words = check(value)
  if (words === undefined) return
  throw new GgufError('invalid-argument', `The ${name} of ${what} must be ${words}, not ${shown(value)}.`)
}

/**
 * Refuses options that are not in the table, and values that they must not have, with the error 'invalid-argument'.
 * An undefined option counts as absent. what: the function that has these options, such as "generate()".
 */
export function checkOptions(
  what: string,
  options: unknown,
  checks: Readonly<Record<string, Check>>,
): asserts options is object {
  const fail = (message: string): never => {
    throw new GgufError('invalid-argument', message)
  }
  if (object(options) !== undefined) fail(`${what} takes an object of options, not ${shown(options)}.`)
  for (const [name, value] of Object.entries(options as object)) {
    if (value === undefined) continue
    if (!Object.hasOwn(checks, name))
      fail(`${what} has no option ${JSON.stringify(name)}. It has ${Object.keys(checks).join(', ')}.`)
    const words = checks[name]!(value)
    if (words !== undefined) fail(`The option ${name} of ${what} must be ${words}, not ${shown(value)}.`)
  }
}
