// Keeps Node from printing a whole line of minified code, up to 100,000 characters, above an error of the package that nobody
// caught. Node leaves that line out if it contains kMark (AppendExceptionLine in its src/node_errors.cc). A limit of the length
// of lines would do the same, but splits `new URL('./quant.wasm', import.meta.url)`, which bundlers then don't find.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'

const dist = join(import.meta.dirname, '../wasm/dist')
const kMark = '/*node-do-not-add-exception-line*/'
/** Shorter lines are readable. */
const kLong = 300
const kDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The first number of a segment of a source map: by how much its column is beyond that of the segment before. */
function columnOf(segment: string): { value: number; length: number } {
  let bits = 0
  for (let i = 0; i < segment.length; i++) {
    const digit = kDigits.indexOf(segment[i]!)
    bits |= (digit & 31) << (5 * i)
    if (digit < 32) return { value: bits & 1 ? -(bits >> 1) : bits >> 1, length: i + 1 }
  }
  return { value: 0, length: 0 }
}

function encoded(value: number): string {
  let text = ''
  for (let bits = value << 1; ; bits >>= 5) {
    text += kDigits[(bits & 31) | (bits > 31 ? 32 : 0)]!
    if (bits <= 31) return text
  }
}

/** The mappings of a line into which the mark was inserted at a column. */
function moved(line: string, column: number): string {
  const segments = line.split(',')
  let at = 0
  for (const [i, segment] of segments.entries()) {
    const { value, length } = columnOf(segment)
    at += value
    if (at <= column) continue
    segments[i] = encoded(value + kMark.length) + segment.slice(length)
    break
  }
  return segments.join(',')
}

/** Marks the long lines that throw, after the first `throw` that is none within a text. */
function mark(script: string): void {
  const lines = readFileSync(script, 'utf8').split('\n')
  const map = `${script}.map`
  const parsed = existsSync(map) ? (JSON.parse(readFileSync(map, 'utf8')) as { mappings: string }) : undefined
  const mappings = parsed?.mappings.split(';')
  let marks = 0
  for (const [i, line] of lines.entries()) {
    const column = line.search(/\bthrow new [\w$]+\(/) + 'throw'.length
    if (line.length < kLong || column < 'throw'.length || line.includes(kMark)) continue
    lines[i] = line.slice(0, column) + kMark + line.slice(column)
    if (mappings?.[i]) mappings[i] = moved(mappings[i], column)
    marks++
  }
  if (marks === 0) return
  const marked = lines.join('\n')
  const code = (text: string): string => transformSync(text, { minifyWhitespace: true }).code
  if (code(marked) !== code(readFileSync(script, 'utf8'))) throw new Error(`${script}: the mark is in a text`)
  writeFileSync(script, marked)
  if (parsed && mappings) writeFileSync(map, JSON.stringify({ ...parsed, mappings: mappings.join(';') }))
}

for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.js') && !/^element|wasm\.js$/.test(name)) mark(join(dist, name))
