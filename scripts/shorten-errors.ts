// Keeps Node from printing a whole line of minified code, up to 100,000 characters, above an error of the package that nobody
// caught. Node leaves that line out if it contains kMark (AppendExceptionLine in its src/node_errors.cc). A limit of the length
// of lines would do the same, but splits `new URL('./quant.wasm', import.meta.url)`, which bundlers then don't find.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, encode } from '@jridgewell/sourcemap-codec'
import { transformSync } from 'esbuild'

const dist = join(import.meta.dirname, '../wasm/dist')
const kMark = '/*node-do-not-add-exception-line*/'
/** Shorter lines are readable. */
const kLong = 300

/** Marks the long lines that throw, after the first `throw` that is none within a text. */
function mark(script: string): void {
  const lines = readFileSync(script, 'utf8').split('\n')
  const map = `${script}.map`
  const parsed = existsSync(map) ? (JSON.parse(readFileSync(map, 'utf8')) as { mappings: string }) : undefined
  const mappings = decode(parsed?.mappings ?? '')
  let marks = 0
  for (const [i, line] of lines.entries()) {
    const column = line.search(/\bthrow new [\w$]+\(/) + 'throw'.length
    if (line.length < kLong || column < 'throw'.length || line.includes(kMark)) continue
    lines[i] = line.slice(0, column) + kMark + line.slice(column)
    for (const segment of mappings[i] ?? []) if (segment[0] > column) segment[0] += kMark.length
    marks++
  }
  if (marks === 0) return
  const marked = lines.join('\n')
  const code = (text: string): string => transformSync(text, { minifyWhitespace: true }).code
  if (code(marked) !== code(readFileSync(script, 'utf8'))) throw new Error(`${script}: the mark is in a text`)
  writeFileSync(script, marked)
  if (parsed) writeFileSync(map, JSON.stringify({ ...parsed, mappings: encode(mappings) }))
}

for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.js') && !/^element|wasm\.js$/.test(name)) mark(join(dist, name))
