// Colours, and texts of files that are safe on a terminal.
import { counted as plainlyCounted } from '../api/counted.js'
import type { MetadataValue } from '../api/metadata.js'
import { kEmojiJoiner, kInvisible } from '../audit/invisible.js'

export interface Style {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  yellow(text: string): string
}

/** Colours, if the terminal supports them (not with NO_COLOR or TERM=dumb). */
export function styleFor(stream: { isTTY?: boolean }, environment: NodeJS.ProcessEnv): Style {
  const forced = environment['FORCE_COLOR']
  const wanted =
    forced !== undefined ? forced !== '0' : stream.isTTY === true && environment['TERM'] !== 'dumb'
  const color = wanted && !environment['NO_COLOR']
  const paint = (code: number) => (text: string) => (color ? `\x1b[${code}m${text}\x1b[0m` : text)
  return { bold: paint(1), dim: paint(2), red: paint(31), yellow: paint(33) }
}

// Between letters of scripts whose words need them: Arabic, those of India, Khmer.
const kLetterJoiner = /(?<=[\u0600-\u0dff\u1780-\u17ff])[\u200c\u200d](?=[\u0600-\u0dff\u1780-\u17ff])/u
const kHidden = new RegExp(
  `(${kEmojiJoiner.source}|${kLetterJoiner.source})|[\t\n\r]|${kInvisible.source}`,
  'gu',
)

/**
 * Escapes characters in text of a file that a terminal would execute, and those that show nothing or change the order of
 * others: a name must not look like another one.
 */
export function visible(text: string): string {
  return text.replace(kHidden, (character, joiner: string | undefined) => {
    if (joiner !== undefined) return character
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    const code = character.codePointAt(0)!.toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}

export function shorten(text: string, length: number): string {
  const characters = [...text]
  return characters.length <= length ? text : characters.slice(0, length - 1).join('') + '\u2026'
}

// On fewer, letters would stand below each other: the terminal wraps the lines.
const kMinColumns = 40

/** The columns of the terminal, or the user's setting; undefined if both are unknown. */
export function widthOf(stream: { columns?: number }, environment: NodeJS.ProcessEnv): number | undefined {
  const columns = stream.columns || Number(environment['COLUMNS'])
  return Number.isInteger(columns) && columns > 0 ? Math.max(kMinColumns, columns) : undefined
}

/** Wraps text into lines of whole words. A word that is longer than a line gets its own line. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && width(last) + 1 + width(word) <= columns)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function cutMiddle(text: string, length: number): string {
  const characters = [...text]
  if (characters.length <= length) return text
  const end = Math.floor((length - 1) / 2)
  return `${characters.slice(0, length - 1 - end).join('')}\u2026${characters.slice(characters.length - end).join('')}`
}

/** Shortens names in the middle, unless a shortened name would equal another one. */
export function shortenNames(names: readonly string[], length: number): string[] {
  const short = names.map((name) => cutMiddle(name, length))
  const seen = new Map<string, Set<string>>()
  short.forEach((text, i) => seen.set(text, (seen.get(text) ?? new Set()).add(names[i]!)))
  return short.map((text, i) => (seen.get(text)!.size > 1 ? names[i]! : text))
}

const kByteUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

export function bytesText(bytes: number): string {
  const unit = Math.min(kByteUnits.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  return unit === 0
    ? plainlyCounted(bytes, 'byte')
    : `${(bytes / 1024 ** unit).toFixed(2)} ${kByteUnits[unit]}`
}

/** 8030261248 -> "8.03 B" */
export function countText(count: number): string {
  for (const [size, unit] of [
    [1e12, 'T'],
    [1e9, 'B'],
    [1e6, 'M'],
    [1e3, 'K'],
  ] as const) {
    if (count >= size) return `${(count / size).toFixed(2)} ${unit}`
  }
  return String(count)
}

/** A count as toLocaleString('en-US') writes it, for which Node loads the rules of languages for 10 ms. */
export function grouped(count: number): string {
  if (!Number.isSafeInteger(count)) return count.toLocaleString('en-US')
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** A number with four digits. */
export const short = (value: number): string =>
  Number.isFinite(value) ? Number(value.toPrecision(4)).toString() : String(value)

/** A count with grouped digits and its noun. */
export function counted(count: number, one: string, many?: string): string {
  return plainlyCounted(count, one, many, grouped(count))
}

/** The width of a text in terminal columns: East Asian wide characters and emoji take two, combining marks none. */
export function width(text: string): number {
  let columns = 0
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue
    columns +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(
        character,
      )
        ? 2
        : 1
  }
  return columns
}

type Rows = readonly (readonly string[])[]
type Align = '<' | '>'

const widthsOf = (rows: Rows, align: readonly Align[]): number[] =>
  align.map((_, column) => rows.reduce((max, row) => Math.max(max, width(row[column] ?? '')), 0))

const kMinText = 8

/** Shortens the widest columns of text in their middle, as far as the rows need it to fit. */
function fitted(rows: Rows, align: readonly Align[], columns: number): Rows {
  const widths = widthsOf(rows, align)
  const used = widths.filter((one) => one > 0)
  let over = used.reduce((sum, one) => sum + one, 2 * (used.length - 1)) - columns
  const rooms = [...widths]
  for (; over > 0; over--) {
    const texts = rooms.map((room, column) => (align[column] === '<' ? room : 0))
    const widest = texts.indexOf(Math.max(...texts))
    if (widest < 0 || rooms[widest]! <= kMinText) break
    rooms[widest]!--
  }
  const short = rooms.map((room, column) =>
    room < widths[column]!
      ? shortenNames(
          rows.map((row) => row[column] ?? ''),
          room,
        )
      : undefined,
  )
  return rows.map((row, i) => row.map((cell, column) => short[column]?.[i] ?? cell))
}

/** A row whose cells do not fit beside each other: as many as fit on each line. */
function stacked(row: readonly string[], columns: number): string {
  const lines: string[] = []
  for (const cell of row.filter((one) => one !== '')) {
    const last = lines.at(-1)
    if (last !== undefined && width(last) + 2 + width(cell) <= columns) lines.push(`${lines.pop()!}  ${cell}`)
    else lines.push(last === undefined ? cell : `  ${cell}`)
  }
  return lines.join('\n')
}

/**
 * Rows as aligned columns, two spaces apart; '>' aligns right. The last column is not padded. columns: of the terminal, if
 * they are known: text is shortened, or rows take several lines.
 */
export function table(given: Rows, align: readonly Align[], columns = Infinity): string[] {
  const rows = columns === Infinity ? given : fitted(given, align, columns)
  const widths = widthsOf(rows, align)
  if (widths.reduce((sum, one) => sum + one, 2 * (widths.length - 1)) > columns + 2)
    return given.map((row) => stacked(row, columns))
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const padding = ' '.repeat(Math.max(0, widths[column]! - width(cell)))
        if (align[column] === '>') return padding + cell
        return column === row.length - 1 ? cell : cell + padding
      })
      .join('  ')
      .trimEnd(),
  )
}

interface Printed {
  readonly style: Pick<Style, 'bold'>
  readonly columns: number | undefined
  print(line: string): void
}

/** Prints rows as a table whose first row is the head. */
export function printTable(rows: Rows, align: readonly Align[], { print, style, columns }: Printed): void {
  const [head, ...lines] = table(rows, align, columns)
  print(style.bold(head!))
  for (const line of lines) print(line)
}

/** Rows whose last column is a sentence, which is wrapped beside the others, or below them where no room is. */
export function sentences(rows: Rows, align: readonly Align[], columns = Infinity): string[][] {
  const heads = table(
    rows.map((row) => row.slice(0, -1)),
    align.slice(0, -1),
  )
  const left = heads.reduce((max, head) => Math.max(max, width(head)), 0) + 2
  const longest = Math.max(24, ...rows.flatMap((row) => row.at(-1)!.split(' ').map(width)))
  const below = columns - left < longest
  const indent = ' '.repeat(below ? 2 : left)
  return rows.map((row, i) => {
    const text = row.at(-1)!
    const lines = columns === Infinity ? [text] : wrap(text, columns - indent.length)
    const [first = '', ...more] = lines.map((line) => indent + line)
    return below
      ? [heads[i]!, first, ...more]
      : [heads[i]! + ' '.repeat(left - width(heads[i]!)) + first.slice(left), ...more]
  })
}

/** A metadata value on one line. */
export function valueText(value: MetadataValue, length: number): string {
  if (typeof value === 'string') return shorten(visible(value.slice(0, 4 * length)), length)
  if (typeof value !== 'object') return String(value)
  const shown = value
    .slice(0, 6)
    .map((element) => (typeof element === 'object' ? '[...]' : JSON.stringify(jsonScalar(element))))
  const more = value.length > shown.length ? ', ...' : ''
  return shorten(visible(`[${shown.join(', ')}${more}]`), length)
}

/** Escapes the same characters, except newlines, as JSON does. */
export function inEscapes(text: string): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(kHidden, (character, joiner?: string) =>
    joiner !== undefined || character === '\n' ? character : character.split('').map(escaped).join(''),
  )
}

/** A replacer for JSON.stringify: bigints, NaN and infinities become strings, typed arrays plain arrays. */
export function jsonScalar(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array)
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}
