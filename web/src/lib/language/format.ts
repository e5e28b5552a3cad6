// Numbers, sizes and file text in readable form. Numbers are formatted as in the page's language.
import { figure, inWords } from './figures'
import { language } from './language.svelte'

/** Formats with at most `max` decimals, and at least `min`. */
export const number = (value: number | bigint, max: number, min = 0) =>
  figure(value, max, min, language.current)

/** Formats an integer: 1234567 -> "1,234,567". */
export function count(value: number | bigint): string {
  return number(value, 0)
}

/** Formats with a fixed number of decimals: 4.8 -> "4.80". */
export function fixed(value: number, decimals: number): string {
  return number(value, decimals, decimals)
}

/** Formats with three significant digits and no trailing zeros: 4.37, 43.7, 437. */
function significant(value: number): string {
  const digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return number(value, digits)
}

/** Formats a measured figure with three significant digits, and the rest as zeros: 4.37, 43.7, 5,420. */
export const rough = (value: number) => significant(Number(value.toPrecision(3)))

/** A number with its unit. Isolated, so that they keep their order in a text from right to left. */
function withUnit(figure: string, unit: string): string {
  return document.dir === 'rtl' ? `\u2066${figure} ${unit}\u2069` : `${figure} ${unit}`
}

function inUnits(value: number, base: number, units: string): string {
  const names = units.split(' ')
  while (value >= base - 0.5 && names.length > 1) {
    value /= base
    names.shift()
  }
  return withUnit(names[0] === 'B' ? count(value) : significant(value), names[0]!)
}

/** Decimal units, as disks and model hubs count: 4_370_000_000 -> "4.37 GB". */
export const bytes = (value: number) => inUnits(value, 1000, 'B kB MB GB TB PB')

/** Binary units, as memory is made and limited: 17_179_869_184 -> "16 GiB". */
export const memorySize = (value: number) => inUnits(value, 1024, 'B KiB MiB GiB TiB')

/** 7_241_732_096 -> "7.24 B". In sentences, the number and its unit stay on one line. */
export function compact(value: number): string {
  if (language.current.shortPowers) return value < 9999.5 ? count(value) : words(value)
  for (const [scale, unit] of [
    [1e12, 'T'],
    [1e9, 'B'],
    [1e6, 'M'],
    [1e3, 'K'],
  ] as const) {
    if (value >= scale * 0.9995) return withUnit(significant(value / scale), unit).replace(' ', '\u00a0')
  }
  return count(value)
}

/** 7_241_732_096 -> "7.24 billion", for use in sentences. */
export const words = (value: number) => inWords(value, language.current)

export function percent(part: number, whole: number): string {
  if (whole <= 0) return withUnit('0', '%')
  const share = (part / whole) * 100
  if (share > 0 && share < 0.1) return withUnit(`< ${number(0.1, 1)}`, '%')
  return withUnit(share >= 99.95 ? '100' : fixed(share, 1), '%')
}

/** Writes a number's text as the page's language does: "0.25" -> "0,25", "1.5e-7" -> "1,5e-7". */
export const localized = (text: string) => text.replace('.', language.current.decimal)

/** At most `digits` significant digits, however small the number is: 0.1361, 1.5e-7. */
export const precise = (value: number, digits: number) => localized(String(Number(value.toPrecision(digits))))

export function hex(value: number): string {
  return `0x${value.toString(16)}`
}

/** The shortest text that parses to the same float32: 1e-5, 0.1, 10000. */
export function float(value: number): string {
  if (!Number.isFinite(value) || Number.isInteger(value)) return String(value)
  for (let digits = 6; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return String(short)
  }
  return String(value)
}

// Characters that break lines, are invisible, or change the direction of a text: control and format characters (bidi marks,
// zero-width ones, tags), separators, what fonts leave out, the empty braille pattern; not Arabic signs that enclose numbers.
export const unseen =
  /(?![\u0600-\u0605\u06dd\u0890\u0891\u08e2])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}\u2800\ufffc]/gu
const named: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' }

/** Text from a file on one line, with invisible characters made visible. Truncated to `limit` characters. */
export function oneLine(text: string, limit = 400): string {
  const head = text.length > limit ? `${text.slice(0, limit)}…` : text
  return head.replace(unseen, (char) => named[char] ?? `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
}

/** As oneLine, but keeps line breaks and tabs, for blocks of text. */
export function textLine(text: string): string {
  return text.replace(unseen, (char) =>
    char === '\t' ? '    ' : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

/** Formats seconds, e.g. "1:02.5". */
export function clock(seconds: number): string {
  const tenths = Math.round(Math.max(0, seconds) * 10)
  const whole = `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, '0')}`
  return localized(`${whole}.${tenths % 10}`)
}

/** Bytes in lines of `width` hexadecimal pairs, each with its offset. */
export function hexDump(bytes: Uint8Array, offset: number, width: number): string {
  const digits = (value: number, length: number) => value.toString(16).padStart(length, '0')
  return Array.from({ length: Math.ceil(bytes.length / width) }, (_, i) => {
    const cells = [...bytes.subarray(i * width, (i + 1) * width)].map((byte) => digits(byte, 2))
    return `${digits(offset + i * width, 8)}  ${cells.join(' ')}`
  }).join('\n')
}
