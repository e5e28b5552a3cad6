// The types that standardized keys are written in, from the catalogue that lint reads, too (core/gguf/keys.inc).
import { GgufError } from '../api/errors.js'
import type { ValueType } from '../api/metadata.js'
import { kStandardKeys, type KeyForm, type ScalarType } from './standard-keys.js'
import type { WriteType, WriteValue } from '../api/edit.js'
import { arrayTypeOf, holds, isList } from './values.js'

export interface StandardKey {
  readonly type: ScalarType
  readonly form: KeyForm
}

interface Row extends StandardKey {
  readonly pattern: RegExp
}

const kArch = '{arch}.'
// By their text; behind the name of an architecture; those with other placeholders.
const exact = new Map<string, StandardKey>()
const behindArch = new Map<string, StandardKey>()
const patterns: Row[] = []
for (const [pattern, type, form] of kStandardKeys) {
  if (pattern.startsWith(kArch)) {
    const rest = pattern.slice(kArch.length)
    if (!behindArch.has(rest)) behindArch.set(rest, { type, form })
  } else if (pattern.includes('{')) {
    const escaped = pattern
      .replaceAll('.', '\\.')
      .replaceAll('{id}', '\\d+')
      .replaceAll('{name}', '[^.]+')
      .replaceAll('{tensor}', '.+')
    patterns.push({ type, form, pattern: new RegExp(`^${escaped}$`) })
  } else {
    exact.set(pattern, { type, form })
  }
}

/** The row of the catalogue that a key matches; undefined for a key that is not standardized. */
export function standardKey(key: string): StandardKey | undefined {
  const dot = key.indexOf('.')
  return (
    exact.get(key) ??
    patterns.find(({ pattern }) => pattern.test(key)) ??
    (dot > 0 ? behindArch.get(key.slice(dot + 1)) : undefined)
  )
}

const isWideUnsigned = (type: string): boolean => type === 'u32' || type === 'u64'

/** Whether readers take that type for the row's: has_type_of in core/gguf/keys.cpp says the same. */
function standsFor(type: ValueType, row: StandardKey, list: boolean): boolean {
  if (list ? row.form === 'one' : row.form === 'list') return false
  if (type === row.type || (isWideUnsigned(type) && isWideUnsigned(row.type))) return true
  return list && ((type === 'i32' && row.type === 'u32') || (type === 'u32' && row.type === 'i32'))
}

/** A value that is there: its type, and that of its elements. */
export interface Present {
  readonly type: ValueType
  readonly elementType: ValueType
}

/** Whether a value of that type is what the catalogue says of the key; true for a key that is not standardized. */
export function isStandard(key: string, { type, elementType }: Present): boolean {
  const row = standardKey(key)
  return !row || standsFor(elementType, row, type === 'array')
}

/** "a string", "an array of f32" */
export function describeRow({ type, form }: StandardKey): string {
  const one = `${/^[fi]/.test(type) ? 'an' : 'a'} ${type}`
  return form === 'one' ? one : form === 'list' ? `an array of ${type}` : `${one} or an array of ${type}`
}

function typeInRow(
  key: string,
  row: StandardKey,
  value: WriteValue,
  present: Present | undefined,
): WriteType {
  const list = isList(value)
  if (list ? row.form === 'one' : row.form === 'list')
    throw new GgufError(
      'invalid-argument',
      `${key} is ${describeRow(row)}, not ${list ? 'an array' : 'a single value'}. A type given with it overrides this.`,
    )
  const of = (type: ScalarType): WriteType => (list ? { arrayOf: type } : type)
  const fits = (type: ScalarType): boolean =>
    standsFor(type, row, list) &&
    (list ? [...(value as Iterable<WriteValue>)] : [value]).every((one) => !isList(one) && holds(type, one))
  // The type of what is there, or of what is given, where readers take it.
  const kept = present && (present.type === 'array') === list ? present.elementType : undefined
  const given = list ? arrayTypeOf(value) : undefined
  for (const type of [kept, given] as (ScalarType | undefined)[])
    if (type !== undefined && standsFor(type, row, list) && (type === 'string' || fits(type))) return of(type)
  // A count that u32 does not hold, a negative number in an array.
  const others = (['u64', 'i32', 'u32'] as const).filter((type) => type !== row.type && fits(type))
  return of(row.type === 'string' || fits(row.type) ? row.type : (others[0] ?? row.type))
}

/**
 * The type to write a value in where none is given: the catalogue's for a standardized key, but for one that is there in
 * a type that readers take as well; else the type of what is there; undefined: what the value looks like.
 */
export function typeToWrite(
  key: string,
  value: WriteValue,
  present: Present | undefined,
): WriteType | undefined {
  const row = standardKey(key)
  if (row) return typeInRow(key, row, value, present)
  // An array of arrays says its types in each element.
  if (!present || present.elementType === 'array') return undefined
  return present.type === 'array' ? { arrayOf: present.elementType } : present.type
}
