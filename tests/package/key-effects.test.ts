// Keys that llama.cpp reads for an architecture change its output here, too, by as much. The numbers are the largest
// differences of llama.cpp 0.7.0's own output with and without the key.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Scalar } from 'ggufscope'
import { skipWithout } from '../fixtures/skip-without.ts'
import { engine } from './engine.ts'
import { kShared, loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()
const vectors = join(kShared, '../vectors')
const skip = skipWithout(vectors)

async function withKey(path: string, key: string, value: Scalar): Promise<Uint8Array<ArrayBuffer>> {
  using file = await open(path)
  const builder = await file.edit()
  builder.set(`${String(file.metadata.get('general.architecture'))}.${key}`, value)
  const pieces: Uint8Array[] = []
  for await (const piece of (await builder.build()).pieces()) pieces.push(piece)
  return new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer())
}

const difference = (a: Float32Array, b: Float32Array): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0)

const options = { contextLength: 128, precision: 'exact', cacheType: 'f32' } as const

const kLogits: [model: string, key: string, value: Scalar, moved: number][] = [
  ['grok', 'rope.scaling.yarn_attn_factor', 0.37, 3.43621],
  ['grok', 'rope.scaling.attn_factor', 0.37, 3.43621],
  ['gpt-oss', 'rope.scaling.type', 'none', 9.25233],
  ['deepseek4', 'rope.dimension_count_swa', 2, 9.44343],
]
for (const [model, key, value, moved] of kLogits)
  test(`${model}: ${key} = ${String(value)}`, { skip }, async () => {
    const path = join(vectors, 'arch', model, 'model.gguf')
    const tokens = Array.from({ length: 24 }, (_, i) => ((i * 37 + 11) % 200) + 3)
    const logits = async (bytes: Uint8Array<ArrayBuffer>) => {
      const loaded = await engine.load(bytes, options)
      try {
        return await loaded.evaluate(tokens)
      } finally {
        loaded.close()
      }
    }
    const base = await logits(new Uint8Array(readFileSync(path)))
    const got = difference(base, await logits(await withKey(path, key, value)))
    assert.ok(Math.abs(got - moved) < 5e-3, `${got} instead of ${moved}`)
  })

// Of 24 tokens, (i * 7) % 20 + 5, as one sequence.
const kRanks: [model: string, activation: string, moved: number][] = [
  ['bert-rank', 'gelu', 0.144925],
  ['bert-rank', 'silu', 0.159195],
  ['bert-rank', 'tanh', 0],
  ['neo-bert-rank', 'silu', 1.39607],
  ['jina-bert-v2-rank', 'gelu', 0.896824],
]
for (const [model, activation, moved] of kRanks)
  test(`${model}: classifier.activation = ${activation}`, { skip }, async () => {
    const path = join(vectors, 'pooling', model, 'model.gguf')
    const tokens = Array.from({ length: 24 }, (_, i) => ((i * 7) % 20) + 5)
    const score = async (bytes: Uint8Array<ArrayBuffer>) => {
      const loaded = await engine.load(bytes, options)
      try {
        return new Float32Array(await loaded.embed(tokens, { pooling: 'rank' }))
      } finally {
        loaded.close()
      }
    }
    const base = await score(new Uint8Array(readFileSync(path)))
    const got = Math.abs(
      base[0]! - (await score(await withKey(path, 'classifier.activation', activation)))[0]!,
    )
    assert.ok(Math.abs(got - moved) < 5e-3, `${got} instead of ${moved}`)
  })

test('an unknown activation of a classifier is refused, as llama.cpp does', { skip }, async () => {
  const path = join(vectors, 'pooling', 'bert-rank', 'model.gguf')
  await assert.rejects(
    engine.load(await withKey(path, 'classifier.activation', 'foo')),
    /classifier\.activation/,
  )
})

test('modern-bert: hidden_activation', { skip }, async () => {
  const path = join(vectors, 'arch', 'modern-bert', 'model.gguf')
  const tokens = Array.from({ length: 24 }, (_, i) => ((i * 37 + 11) % 200) + 3)
  const vectorsOf = async (name: string) => {
    const loaded = await engine.load(await withKey(path, 'hidden_activation', name), options)
    try {
      return new Float32Array(await loaded.embed(tokens, { pooling: 'mean', normalize: false }))
    } finally {
      loaded.close()
    }
  }
  const gelu = await vectorsOf('gelu')
  for (const [name, changes] of [
    ['silu', true],
    ['swish', true],
    ['reglu', true],
    ['foo', false], // llama.cpp takes the default
  ] as const)
    assert.equal(difference(gelu, await vectorsOf(name)) > 1e-3, changes, name)
  await assert.rejects(vectorsOf('relu'), { code: 'unsupported' })
})
