// Writes numbers as a language does. Intl.NumberFormat does the same, but takes tens of milliseconds to start.
import type { Language } from '../../texts/languages.ts'

/** Rounds to `max` decimals, and shows at least `min` of them: 1234.5 -> "1,234.5". */
export function figure(
  value: number | bigint,
  max: number,
  min: number,
  { group, decimal }: Pick<Language, 'group' | 'decimal'>,
): string {
  // Numbers from there on, infinities and NaN have no decimals.
  if (!(value < 1e21 && value > -1e21)) return String(value)
  const [whole = '', part = ''] = typeof value === 'bigint' ? [String(value)] : value.toFixed(max).split('.')
  const decimals = part.replace(/0+$/, '').padEnd(min, '0')
  return whole.replace(/\B(?=(\d{3})+$)/g, group) + (decimals && decimal + decimals)
}

/** Three significant digits and a word: 7_241_732_096 -> "7.24 billion". */
export function inWords(value: number, { powers, decimal }: Language): string {
  const [power, one, other] = powers.find(([power]) => value >= power * 0.9995) ?? [1, '', '']
  const rounded = Number((value / power).toPrecision(3))
  return figure(rounded, 2, 0, { group: '', decimal }) + (rounded === 1 ? one : other)
}
