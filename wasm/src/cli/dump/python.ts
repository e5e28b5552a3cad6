// Values as Python and NumPy write them: numbers, texts, titles and rounding.
import type { TypedScalar } from './fields.js'

/** The fewest significant digits that give the number again, in the precision of its type. */
function shortestDigits(value: number, single: boolean): string {
  if (!single) return value.toExponential()
  for (let digits = 0; digits < 9; digits++) {
    const text = value.toExponential(digits)
    if (Math.fround(Number(text)) === value) return text
  }
  return value.toExponential(9)
}

/** A float as Python's repr(), or with `single` as NumPy's str() of a float32. */
export function floatText(value: number, single = false): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const [mantissa, power] = shortestDigits(Math.abs(value), single).split('e') as [string, string]
  const sign = value < 0 ? '-' : ''
  const exponent = Number(power)
  if (Math.abs(value) < 1e-4 || Math.abs(value) >= (single ? 1e6 : 1e16))
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  const digits = mantissa.replace('.', '')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.padEnd(exponent + 1, '0')
  return `${sign}${whole.slice(0, exponent + 1)}.${whole.slice(exponent + 1) || '0'}`
}

/** A scalar as NumPy's str() writes it. */
export function numpyText({ type, value }: TypedScalar): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (type === 'f32' || type === 'f64') return floatText(value as number, type === 'f32')
  return String(value)
}

/** What Python's repr() escapes: control and format characters, separators other than the space, unassigned ones. */
const kUnprintable = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u
const kEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escaped(character: string): string {
  const known = kEscapes[character]
  if (known !== undefined) return known
  if (!kUnprintable.test(character)) return character
  const code = character.codePointAt(0)!
  const [letter, width] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8]
  return `\\${letter}${code.toString(16).padStart(width, '0')}`
}

/** A scalar as Python's repr() writes it. */
export function pythonText({ type, value }: TypedScalar): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (type === 'f32' || type === 'f64') return floatText(value as number)
  if (typeof value !== 'string') return String(value)
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'"
  const text = Array.from(value, escaped).join('')
  return quote + (quote === "'" ? text.replaceAll("'", "\\'") : text) + quote
}

/** str.title(): a letter after none is upper case, the others lower case. */
export function titled(text: string): string {
  let inWord = false
  return Array.from(text, (character) => {
    const cased = character.toLowerCase() !== character.toUpperCase()
    const shown = inWord ? character.toLowerCase() : character.toUpperCase()
    inWord = cased
    return cased ? shown : character
  }).join('')
}

/** Rounds a half to the even neighbour, like Python's round() and format(). */
export function rounded(value: number, digits = 0): string {
  const scaled = value * 10 ** digits
  const floor = Math.floor(scaled)
  if (scaled - floor !== 0.5) return value.toFixed(digits)
  return ((floor % 2 === 0 ? floor : floor + 1) / 10 ** digits).toFixed(digits)
}

/** The length in code points, which is what Python counts. */
export const lengthOf = (text: string): number => Array.from(text).length

export const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - lengthOf(text))) + text
export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - lengthOf(text)))

/** text[from:to] of Python, in code points. */
export const sliced = (text: string, from: number, to?: number): string =>
  Array.from(text).slice(from, to).join('')
