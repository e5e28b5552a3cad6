// node scripts/make-known-layouts.ts [--keep] [--list FILE] FILE|ADDRESS...: writes wasm/src/sparse/known-layouts.ts,
// which records where the vocabulary arrays of these files are. --keep: keeps existing rows. --list: a file with more
// files and addresses, one on each line. Only the header of an address is read. The checked-in table was made from
// the files in ../shared/data/vocab. It needs a built package.
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Known } from '../wasm/dist/sparse/known.js'
import { fingerprint, layoutOfHoles } from '../wasm/dist/sparse/layouts.js'
import { Walk } from '../wasm/dist/sparse/walk.js'

const kFirstBytes = 1 << 20
const kMaxBytes = 1 << 28

const path = join(import.meta.dirname, '../wasm/src/sparse/known-layouts.ts')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    keep: { type: 'boolean', default: false },
    list: { type: 'string', multiple: true, default: [] },
  },
})
const listed = values.list.flatMap((name) => readFileSync(name, 'utf8').split('\n'))
const names = [...positionals, ...listed.map((line) => line.trim())].filter((name) => name !== '')

/** The first bytes of a file. */
async function beginning(name: string, length: number): Promise<Uint8Array> {
  if (!/^https?:/.test(name)) return readFileSync(name)
  const response = await fetch(name, { headers: { Range: `bytes=0-${length - 1}` } })
  if (response.status !== 206)
    throw new Error(`${name}: status ${response.status} where a range was asked for`)
  return new Uint8Array(await response.arrayBuffer())
}

/** The walk over its whole header. */
async function walked(name: string): Promise<{ walk: Walk; bytes: Uint8Array }> {
  for (let length = kFirstBytes; ; length *= 2) {
    const bytes = await beginning(name, length)
    const known = new Known()
    known.add(0, bytes)
    const walk = new Walk(known)
    const stop = walk.go()
    if (stop.kind === 'end') return { walk, bytes }
    if (stop.kind === 'wrong' || bytes.length < length || length >= kMaxBytes)
      throw new Error(`${name}: ${stop.kind}`)
  }
}

const rows = new Map<string, string>()
if (values.keep)
  for (const [, id, row] of readFileSync(path, 'utf8').matchAll(/^  ('[^']+'): (.*)$/gm)) rows.set(id!, row!)
for (const source of names) {
  const { walk, bytes } = await walked(source)
  const first = walk.longArrays.find(({ strings }) => strings !== undefined)
  if (!first) throw new Error(`${source}: no vocabulary`)
  const id = fingerprint(first.strings!, bytes.subarray(first.offset))
  const layout = layoutOfHoles(walk.longArrays, first.offset)
  const name = basename(source.replace(/[?#].*/, ''), '.gguf').replace(/^ggml-vocab-/, '')
  rows.set(`'${id}'`, `${JSON.stringify(layout)}, // ${name}`)
}
writeFileSync(
  path,
  `// Written by scripts/make-known-layouts.ts.\nimport type { Layout } from './walk.js'\n\n// prettier-ignore\nexport const kKnownLayouts: Readonly<Record<string, Layout>> = {\n${[...rows].map(([id, row]) => `  ${id}: ${row}\n`).join('')}}\n`,
)
