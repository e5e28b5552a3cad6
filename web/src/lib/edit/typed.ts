// Converts between values and the texts that a person types.
import type { MetadataValue, ValueType } from 'ggufscope'
import type { ChangeValue } from 'ggufscope/edit'
import { count, float } from '../language/format'
import { t } from '../language/text'
import { isArray } from '../contents/values'
import type { Plain } from '../../texts/text'

export type ScalarType = Exclude<ValueType, 'array'>

/** types in the order of the menu */
export const scalarTypes: readonly { id: ScalarType; title: Plain }[] = [
  { id: 'string', title: 'string: text' },
  { id: 'bool', title: 'bool: true or false' },
  { id: 'u32', title: 'u32: whole number from 0' },
  { id: 'i32', title: 'i32: whole number' },
  { id: 'f32', title: 'f32: decimal number' },
  { id: 'u64', title: 'u64: large whole number from 0' },
  { id: 'i64', title: 'i64: large whole number' },
  { id: 'f64', title: 'f64: precise decimal number' },
  { id: 'u8', title: 'u8: 0 to 255' },
  { id: 'i8', title: 'i8: -128 to 127' },
  { id: 'u16', title: 'u16: 0 to 65,535' },
  { id: 'i16', title: 'i16: -32,768 to 32,767' },
]

/** Describes the texts that are valid for a type. */
export function hintOf(type: string): string {
  const [, sign, width] = /^([ui])(\d+)$/.exec(type) ?? []
  if (width !== undefined) {
    const bits = BigInt(width)
    const [least, most] =
      sign === 'u' ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]
    return t('A whole number from {least} to {most}.', { least: count(least), most: count(most) })
  }
  if (type === 'f32' || type === 'f64')
    return t('A number such as 0.5 or 1e-5. NaN, Infinity and -Infinity are allowed, too.')
  return ''
}

/** Formats a value for a text field. */
export function fieldText(value: MetadataValue | ChangeValue | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return float(value)
  if (Array.isArray(value)) return JSON.stringify(value)
  return isArray(value as MetadataValue) ? '' : String(value)
}

/** Parses a text as a value of a type. Invalid text is returned as a string, which the package refuses. */
export function typed(text: string, type: string): ChangeValue {
  if (type === 'string') return text
  const trimmed = text.trim()
  if (type === 'bool') return trimmed === 'true' ? true : trimmed === 'false' ? false : text
  const number = Number(trimmed)
  const exact = type.startsWith('f') ? Number.isFinite(number) : Number.isSafeInteger(number)
  return trimmed !== '' && exact ? number : text
}
