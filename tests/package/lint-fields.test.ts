// For reference models with one changed key or tensor, lint refuses what llama.cpp's loader refuses. The verdicts of
// llama.cpp 0.7.0 are in tests/fixtures/field-verdicts.txt, one line for each model: field:changes, where a capital
// letter is a change that it refuses. `GGUFSCOPE_ALL=1 node --test tests/package/lint-fields.test.ts` counts them all.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { everyNth, kAll } from '../fixtures/short.ts'
import { kShared, loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()
const folders = ['arch', 'new/arch'].map((name) => join(kShared, '../vectors', name))

/** Where an entry of a header is: its name, and what follows the name. */
interface Entry {
  readonly name: string
  readonly start: number
  readonly rest: number
  readonly end: number
}

const kSizes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8]

/** The keys and tensors of a header of version 3. */
function entriesOf(bytes: Buffer): { keys: Entry[]; tensors: Entry[]; end: number } {
  let at = 24
  const number = (): number => Number(bytes.readBigUInt64LE((at += 8) - 8))
  const skip = (type: number): void => {
    if (type === 8) {
      const length = number()
      at += length
    } else if (type === 9) {
      const element = bytes.readUInt32LE((at += 4) - 4)
      for (let n = number(); n > 0; n--) skip(element)
    } else at += kSizes[type]!
  }
  const entry = (read: () => void): Entry => {
    const start = at
    const length = number()
    const name = bytes.toString('utf8', at, (at += length))
    const rest = at
    read()
    return { name, start, rest, end: at }
  }
  const counts = [Number(bytes.readBigUInt64LE(8)), Number(bytes.readBigUInt64LE(16))]
  const keys = Array.from({ length: counts[1]! }, () => entry(() => skip(bytes.readUInt32LE((at += 4) - 4))))
  const tensors = Array.from({ length: counts[0]! }, () =>
    entry(() => void (at += 16 + 8 * bytes.readUInt32LE(at))),
  )
  return { keys, tensors, end: at }
}

const u32 = (value: number): Buffer => {
  const out = Buffer.alloc(4)
  out.writeUInt32LE(value)
  return out
}

/** What follows the name of a key after a change. */
function changedKey(rest: Buffer, change: string): Buffer {
  const type = rest.readUInt32LE(0)
  const value = rest.subarray(4)
  if (change === 't') {
    if (type === 4) return Buffer.concat([u32(5), value])
    if (type !== 6) return Buffer.concat([u32(5), u32(1)])
    const out = Buffer.alloc(8)
    out.writeDoubleLE(value.readFloatLE(0))
    return Buffer.concat([u32(12), out])
  }
  const to = (x: number): number => (change === 'z' ? 0 : change === 'p' ? x + 1 : 2 * x)
  if (type === 4) return Buffer.concat([u32(4), u32(to(value.readUInt32LE(0)))])
  const out = Buffer.alloc(4)
  out.writeFloatLE(to(value.readFloatLE(0)))
  return Buffer.concat([u32(6), out])
}

/** The description of a tensor with twice or half as many rows. */
function changedShape(entry: Buffer, rest: number, longer: boolean): Buffer {
  const out = Buffer.from(entry)
  const at = rest + 4 + 8 * (out.readUInt32LE(rest) - 1)
  const n = out.readBigUInt64LE(at)
  out.writeBigUInt64LE(longer ? 2n * n : n / 2n, at)
  return out
}

function architectureOf(bytes: Buffer): string {
  const { rest, end } = entriesOf(bytes).keys.find(({ name }) => name === 'general.architecture')!
  return bytes.toString('utf8', rest + 12, end)
}

/** The file with one entry changed. */
function changed(bytes: Buffer, field: string, change: string): Buffer {
  const { keys, tensors, end } = entriesOf(bytes)
  const one = [...keys, ...tensors].find(({ name }) => name === field)
  assert.ok(one, field)
  const entry = bytes.subarray(one.start, one.end)
  const rest = one.rest - one.start
  let made: Buffer
  if (change === 'r') {
    // The last letter of the name.
    made = Buffer.from(entry)
    made[rest - 1] = 0x78
  } else if ('ln'.includes(change)) made = changedShape(entry, rest, change === 'l')
  else made = Buffer.concat([entry.subarray(0, rest), changedKey(entry.subarray(rest), change)])
  const header = Buffer.concat([bytes.subarray(0, one.start), made, bytes.subarray(one.end, end)])
  const data = bytes.subarray(Math.ceil(end / 32) * 32)
  return Buffer.concat([header, Buffer.alloc((32 - (header.length % 32)) % 32), data])
}

// The data stays where it is, so that these are found where the native files had their data moved.
const kPlaces = /^(tensor-(overlap|gap|order)|data-(size|truncated))$/

async function isRefused(bytes: Uint8Array): Promise<boolean> {
  using file = await open(new Uint8Array(bytes))
  return file.lint().some(({ level, code }) => level === 'error' && !kPlaces.test(code))
}

interface Case {
  readonly model: string
  readonly field: string
  readonly change: string
}

function* casesOf(line: string): Generator<Case> {
  const [model = '', fields = ''] = line.split('\t')
  for (const word of fields.split(' ')) {
    const at = word.lastIndexOf(':')
    for (const change of word.slice(at + 1)) yield { model, field: word.slice(0, at), change }
  }
}

test(
  'lint judges changed fields as llama.cpp does',
  { skip: !folders.every(existsSync) && 'needs ../shared' },
  async (t) => {
    const lines = readFileSync(new URL('../fixtures/field-verdicts.txt', import.meta.url), 'utf8')
    const cases = lines
      .trimEnd()
      .split('\n')
      .flatMap((line) => [...casesOf(line)])
    assert.ok(cases.length > 7000)
    const files = new Map<string, Buffer>()
    const wrong: string[] = []
    const tried = everyNth(cases, 131)
    for (const { model, field, change } of tried) {
      const path = folders.map((folder) => join(folder, model, 'model.gguf')).find(existsSync)
      if (path === undefined) continue
      const bytes = files.get(model) ?? readFileSync(path)
      files.set(model, bytes)
      const name = field.replace(/^~/, architectureOf(bytes))
      const theirs = change !== change.toLowerCase()
      const ours = await isRefused(changed(bytes, name, change.toLowerCase()))
      if (ours !== theirs) wrong.push(`${model} ${name} ${change}: ours ${ours}`)
    }
    const share = 100 * (1 - wrong.length / tried.length)
    t.diagnostic(`${tried.length} changes, ${wrong.length} differ: ${share.toFixed(2)} % agree`)
    if (kAll) for (const one of wrong) t.diagnostic(one)
    assert.ok(share >= 99, wrong.join('\n'))
  },
)
