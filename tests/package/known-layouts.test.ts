// The script that turns a list of files and addresses into the table of known vocabularies.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { madeWords, unseenHeader } from '../fixtures/unseen.ts'
import { startServer } from '../server/server.ts'
import { kRoot } from './packed.ts'

type Table = Readonly<Record<string, readonly (readonly [offset: number, length: number])[]>>

const server = await startServer()
after(() => server.close())
const folder = mkdtempSync(join(tmpdir(), 'ggufscope-layouts-'))
after(() => rmSync(folder, { recursive: true }))
const out = join(folder, 'table.ts')

/** Runs the script. Returns its exit status, its messages and the table that it wrote. */
async function run(...args: readonly string[]): Promise<{ status: number; errors: string; table: Table }> {
  const script = join(kRoot, 'scripts/make-known-layouts.ts')
  const { status, errors } = await new Promise<{ status: number; errors: string }>((resolve) => {
    execFile(process.execPath, [script, '--out', out, ...args], (error, _, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, errors: stderr }),
    )
  })
  const module = (await import(`${pathToFileURL(out).href}?${Math.random()}`)) as { kKnownLayouts: Table }
  return { status, errors, table: module.kKnownLayouts }
}

const kShape = { kind: 'gpt2', merges: 'one each', tensors: 200, scores: false, usual: true } as const
const small = unseenHeader(1, madeWords, { ...kShape, tokens: 30_000 })
const large = unseenHeader(2, madeWords, { ...kShape, tokens: 60_000 })

test('a list of files and addresses becomes rows of the table', async () => {
  const path = join(folder, 'small.gguf')
  const list = join(folder, 'list.txt')
  writeFileSync(path, small.header)
  writeFileSync(list, `${server.url}/large.gguf?download=true\n\n${server.url}/missing.gguf\n`)
  server.add('/large.gguf', large.header)
  const { status, errors, table } = await run('--list', list, path)
  assert.equal(status, 1, 'one address is missing')
  assert.match(errors, /missing\.gguf: The server answers 404\./)
  assert.equal(Object.keys(table).length, 2)
  for (const { header, encoded } of [small, large]) {
    const tokens = encoded.get('tokenizer.ggml.tokens')!
    const id = Object.keys(table).find((one) => one.startsWith(`${tokens.count.toString(36)}-`))
    const begin = Buffer.from(header).indexOf(tokens.bytes)
    const places = [...encoded.values()].map(({ bytes }) => [
      Buffer.from(header).indexOf(bytes) - begin,
      bytes.length,
    ])
    assert.deepEqual(table[id!], places)
  }
  const again = await run('--keep', path)
  assert.deepEqual(again, { status: 0, errors: '', table })
})

test('a file that is no model gives a message and no row', async () => {
  const path = join(folder, 'text.gguf')
  writeFileSync(path, 'no model'.repeat(100))
  const cut = join(folder, 'cut.gguf')
  writeFileSync(cut, small.header.subarray(0, 300_000))
  const { status, errors, table } = await run(path, cut)
  assert.equal(status, 1)
  assert.match(errors, /text\.gguf: This is not a GGUF file of version 2 or 3\./)
  assert.match(errors, /cut\.gguf: The file ends within its header\./)
  assert.deepEqual(table, {})
})
