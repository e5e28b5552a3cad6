// node scripts/make-known-layouts.ts [--keep] [--list FILE] [--out FILE] FILE|ADDRESS...: writes the table
// wasm/src/sparse/known-layouts.ts (or --out), which records where the vocabulary arrays of these files are. --keep: keeps
// existing rows. --list: a file with more files and addresses, one on each line. Addresses are those that open() takes, and
// only their headers are read. A file that cannot be read gives a message, and exit status 1 after the others. The
// checked-in table was made from the files in ../shared/data/vocab. It needs a built package.
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { KnownBytes } from '../wasm/dist/sparse/known-bytes.js'
import { fingerprint, layoutOfArrays } from '../wasm/dist/sparse/header-layouts.js'
import { Walk } from '../wasm/dist/sparse/walk.js'

// The joined module has no types.
const joined = new URL('../wasm/dist/open.js', import.meta.url).href
const { addressOf } = (await import(joined)) as { addressOf: (source: string) => URL }

const kFirstBytes = 1 << 20
const kMaxBytes = 1 << 28

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    keep: { type: 'boolean', default: false },
    list: { type: 'string', multiple: true, default: [] },
    out: { type: 'string', default: join(import.meta.dirname, '../wasm/src/sparse/known-layouts.ts') },
  },
})
const listed = values.list.flatMap((name) => readFileSync(name, 'utf8').split('\n'))
const names = [...positionals, ...listed.map((line) => line.trim())].filter((name) => name !== '')

/** At most that many first bytes of a file. */
async function beginning(name: string, length: number): Promise<Uint8Array> {
  if (!/^(https?|hf):/.test(name)) {
    const file = openSync(name, 'r')
    const bytes = new Uint8Array(length)
    const read = readSync(file, bytes, 0, length, 0)
    closeSync(file)
    return bytes.subarray(0, read)
  }
  const response = await fetch(addressOf(name), { headers: { Range: `bytes=0-${length - 1}` } })
  if (response.status === 206) return new Uint8Array(await response.arrayBuffer())
  await response.body?.cancel()
  throw new Error(
    response.ok ? 'The server does not support range requests.' : `The server answers ${response.status}.`,
  )
}

/** The row of a file's vocabulary: its id and the layout. */
async function rowOf(name: string): Promise<[id: string, row: string]> {
  for (let length = kFirstBytes; length <= kMaxBytes; length *= 2) {
    const bytes = await beginning(name, length)
    const known = new KnownBytes()
    known.add(0, bytes)
    const walk = new Walk(known)
    if (!walk.isKnownVersion) throw new Error('This is not a GGUF file of version 2 or 3.')
    const stop = walk.advance()
    if (stop.kind === 'wrong') throw new Error('The header is invalid.')
    if (stop.kind === 'end') {
      const first = walk.longArrays.find(({ strings }) => strings !== undefined)
      const id = first && fingerprint(first.strings!, bytes.subarray(first.offset))
      if (id === undefined) throw new Error('The header has no vocabulary.')
      const layout = JSON.stringify(layoutOfArrays(walk.longArrays, first!.offset))
      return [
        id,
        `${layout}, // ${basename(name.replace(/[?#].*/, ''), '.gguf').replace(/^ggml-vocab-/, '')}`,
      ]
    }
    if (bytes.length < length) throw new Error('The file ends within its header.')
  }
  throw new Error(`The header is longer than ${kMaxBytes} bytes.`)
}

const rows = new Map<string, string>()
if (values.keep)
  for (const [, id, row] of readFileSync(values.out, 'utf8').matchAll(/^ {2}'([^']+)': (.*)$/gm))
    rows.set(id!, row!)
for (const name of names)
  try {
    rows.set(...(await rowOf(name)))
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
writeFileSync(
  values.out,
  `// Written by scripts/make-known-layouts.ts.\nimport type { HeaderLayout } from './walk.js'\n\n// prettier-ignore\nexport const kKnownLayouts: Readonly<Record<string, HeaderLayout>> = {\n${[...rows].map(([id, row]) => `  '${id}': ${row}\n`).join('')}}\n`,
)
