// The types of standardized keys, from the catalogue that lint uses too (core/gguf/keys.inc).
import { GgufError } from '../api/errors.js'
import type { ValueType } from '../api/metadata.js'
import { kStandardKeys, type KeyForm, type ScalarType } from './standard-keys.js'
import type { WriteType, WriteValue } from '../api/edit.js'
import { arrayTypeOf, holds, isList } from './values.js'

interface StandardKey {
  readonly type: ScalarType
  readonly form: KeyForm
}

interface Row extends StandardKey {
  readonly pattern: RegExp
}

const kArch = '{arch}.'
// Rows by exact key, rows by the part after the architecture's name, and rows with other placeholders.
const exact = new Map<string, StandardKey>()
const behindArch = new Map<string, StandardKey>()
const patterns: Row[] = []
for (const [pattern, type, form] of kStandardKeys) {
  if (pattern.startsWith(kArch) && !pattern.includes('{', 1)) {
    const rest = pattern.slice(kArch.length)
    if (!behindArch.has(rest)) behindArch.set(rest, { type, form })
  } else if (pattern.includes('{')) {
    const escaped = pattern
      .replaceAll('.', '\\.')
      .replaceAll('{arch}', '[^.]+')
      .replaceAll('{id}', '\\d+')
      .replaceAll('{name}', '[^.]+')
      .replaceAll('{tensor}', '.+')
    patterns.push({ type, form, pattern: new RegExp(`^${escaped}$`) })
  } else {
    exact.set(pattern, { type, form })
  }
}

/** Returns the catalogue row of a key; undefined if the key is not standardized. */
export function standardKey(key: string): StandardKey | undefined {
  const dot = key.indexOf('.')
  return (
    exact.get(key) ??
    patterns.find(({ pattern }) => pattern.test(key)) ??
    (dot > 0 ? behindArch.get(key.slice(dot + 1)) : undefined)
  )
}

const isWideUnsigned = (type: string): boolean => type === 'u32' || type === 'u64'

/** True if readers accept a type instead of the row's. The rule is that of has_type_of in core/gguf/keys.cpp. */
function standsFor(type: ValueType, row: StandardKey, list: boolean): boolean {
  if (list ? row.form === 'one' : row.form === 'list') return false
  if (type === row.type || (isWideUnsigned(type) && isWideUnsigned(row.type))) return true
  return list && ((type === 'i32' && row.type === 'u32') || (type === 'u32' && row.type === 'i32'))
}

/** The type of an existing value, and of its elements if it is an array. */
interface Present {
  readonly type: ValueType
  readonly elementType: ValueType
}

/** True if the catalogue allows this type for the key, or if the key is not standardized. */
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
  // The type of the existing or the given value, if readers accept it.
  const kept = present && (present.type === 'array') === list ? present.elementType : undefined
  const given = list ? arrayTypeOf(value) : undefined
  for (const type of [kept, given] as (ScalarType | undefined)[])
    if (type !== undefined && standsFor(type, row, list) && (type === 'string' || fits(type))) return of(type)
  // Exceptions: a count too large for u32, a negative number in an array.
  const others = (['u64', 'i32', 'u32'] as const).filter((type) => type !== row.type && fits(type))
  return of(row.type === 'string' || fits(row.type) ? row.type : (others[0] ?? row.type))
}

/**
 * The type in which a value is written if none is given. For a standardized key: the existing type if readers accept
 * it, otherwise the catalogue's. For another key: the existing type. undefined: the type follows from the value.
 */
export function typeToWrite(
  key: string,
  value: WriteValue,
  present: Present | undefined,
): WriteType | undefined {
  const row = standardKey(key)
  if (row) return typeInRow(key, row, value, present)
  // Each element of an array of arrays has its own type.
  if (!present || present.elementType === 'array') return undefined
  return present.type === 'array' ? { arrayOf: present.elementType } : present.type
}
