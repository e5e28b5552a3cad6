// For models with one changed field, lint refuses exactly those that llama.cpp's loader refuses. The results of
// llama.cpp 0.7.0 are in tests/fixtures/corruptions.json. If lint differs on purpose, the reason is stated here and in
// web/docs/reference/lint-and-llama-cpp.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { corruptions } from '../fixtures/corruptions.ts'
import { writeGguf } from '../fixtures/gguf.ts'
import { text } from '../fixtures/models.ts'
import { loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()
const verdicts = JSON.parse(
  readFileSync(new URL('../fixtures/corruptions.json', import.meta.url), 'utf8'),
) as Record<string, string>

/** Name of the corruption -> why lint's verdict differs. */
const differences: Record<string, string> = {
  'blk.0.attn_q.weight in I32': 'llama.cpp loads tensors of any type that ggml knows',
}

/** Lint's errors; empty if there are none. */
async function refusal(bytes: Uint8Array): Promise<string> {
  try {
    using file = await open(bytes)
    return file
      .lint()
      .filter(({ level }) => level === 'error')
      .map(({ code, message }) => `${code}: ${message}`)
      .join('; ')
  } catch (error) {
    return String(error)
  }
}

test('lint refuses what llama.cpp refuses', async () => {
  assert.ok(corruptions.length > 60, `${corruptions.length}`)
  assert.deepEqual(
    corruptions.map(({ name }) => name).sort(),
    Object.keys(verdicts).sort(),
    'record-corruptions.ts makes the verdicts anew',
  )
  const wrong: string[] = []
  const unused = new Set(Object.keys(differences))
  for (const { name, bytes } of corruptions) {
    const found = await refusal(bytes())
    const theirs = verdicts[name]!
    if ((found !== '') === theirs.startsWith('refuses')) continue
    if (!unused.delete(name)) wrong.push(`${name}: llama.cpp ${theirs}; lint ${found || 'accepts'}`)
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual([...unused], [], 'these agree by now')
})

/** What llama.cpp 0.7.0 did with each tensor of the reference models when one of them had another type. */
interface TypeVerdict {
  readonly verdict: 'accepts' | 'refuses'
  readonly dimensions: number
  readonly type: string
  readonly names: string
}

// llama.cpp takes rows of RWKV's first weights for F32 whatever they are, and computes with what it finds there.
const kMisread = 'blk.0.time_mix_first.weight'

test('lint refuses the types with which llama.cpp cannot compute', async () => {
  const rows = JSON.parse(
    readFileSync(new URL('../fixtures/tensor-types.json', import.meta.url), 'utf8'),
  ) as TypeVerdict[]
  const wrong: string[] = []
  let n = 0
  const judge = async (name: string, dimensions: number, type: string, accepted: boolean): Promise<void> => {
    const shape = [32, ...Array<number>(dimensions - 1).fill(2)]
    const metadata = [['general.architecture', text('llama')]] as const
    using file = await open(writeGguf({ metadata, tensors: [{ name, shape, type }] }))
    const refused = file.lint().some(({ code }) => code === 'tensor-type')
    n++
    if (refused === accepted && name !== kMisread) wrong.push(`${name} of ${type}`)
  }
  for (const { verdict, dimensions, type, names } of rows)
    for (const [i, name] of names.split(' ').entries()) {
      await judge(name, dimensions, type, verdict === 'accepts')
      // No matrix of these types has a product; F32 and quantized ones are as F16.
      if (i % 4 === 0)
        for (const other of ['I32', 'F64', 'Q8_1'])
          await judge(name, dimensions, other, other === 'I32' && name.includes('tid2eid'))
      if (i % 4 === 2) await judge(name, dimensions, 'Q8_0', verdict === 'accepts')
    }
  assert.ok(n > 400, `${n}`)
  assert.deepEqual(wrong, [])
})

test('the documentation has every difference', () => {
  const page = readFileSync(
    new URL('../../web/docs/reference/lint-and-llama-cpp.md', import.meta.url),
    'utf8',
  )
  for (const [name, reason] of Object.entries(differences))
    assert.ok(page.includes(reason), `${name}: ${reason}`)
})
