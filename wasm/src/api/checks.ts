// Options are checked by tables with one row for each option, which says what its value must be.
import { GgufError } from './errors.js'

/** A check. If the value is bad, it returns in words what the value must be. */
export type Check = (value: unknown) => string | undefined

const check =
  (words: string, holds: (value: unknown) => boolean): Check =>
  (value) =>
    holds(value) ? undefined : words

const range = (kind: string, least: number, most: number): string => {
  if (most !== Infinity) return `${kind} from ${least} to ${most}`
  return least === -Infinity ? kind : `${kind} of ${least} at least`
}
/** A finite number within bounds. */
export const number = (least = -Infinity, most = Infinity): Check =>
  check(range('a number', least, most), (v) => Number.isFinite(v) && least <= Number(v) && Number(v) <= most)
export const integer = (least = -Infinity, most = Infinity): Check =>
  check(
    range('a whole number', least, most),
    (v) => Number.isSafeInteger(v) && least <= Number(v) && Number(v) <= most,
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
/** Accepts any value, because the code that uses it checks it. */
export const anything: Check = () => undefined
export const either = (...checks: readonly Check[]): Check => {
  return (value) => {
    const words = checks.map((one) => one(value))
    return words.includes(undefined) ? undefined : words.join(' or ')
  }
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'string') return typeof value === 'object' && value ? 'an object' : String(value)
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}...` : value)
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
