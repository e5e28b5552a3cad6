// node scripts/make-known-layouts.ts FILE...: writes wasm/src/sparse/known-layouts.ts, where the arrays of the vocabularies
// of these files lie. The files in ../shared/data/vocab were taken. Needs a built package.
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Known } from '../wasm/dist/sparse/known.js'
import { fingerprint, layoutOfHoles } from '../wasm/dist/sparse/layouts.js'
import { Walk } from '../wasm/dist/sparse/walk.js'

const rows = new Map<string, string>()
for (const path of process.argv.slice(2)) {
  const bytes = readFileSync(path)
  const known = new Known()
  known.add(0, bytes)
  const walk = new Walk(known)
  const stop = walk.go()
  if (stop.kind !== 'end') throw new Error(`${path}: ${stop.kind}`)
  const first = walk.longArrays.find(({ strings }) => strings !== undefined)
  if (!first) throw new Error(`${path}: no vocabulary`)
  const id = fingerprint(first.strings!, bytes.subarray(first.offset))
  const layout = layoutOfHoles(walk.longArrays, first.offset)
  const name = basename(path, '.gguf').replace(/^ggml-vocab-/, '')
  rows.set(`'${id}'`, `${JSON.stringify(layout)}, // ${name}`)
}
writeFileSync(
  join(import.meta.dirname, '../wasm/src/sparse/known-layouts.ts'),
  `// Written by scripts/make-known-layouts.ts.\nimport type { Layout } from './walk.js'\n\n// prettier-ignore\nexport const kKnownLayouts: Readonly<Record<string, Layout>> = {\n${[...rows].map(([id, row]) => `  ${id}: ${row}\n`).join('')}}\n`,
)
