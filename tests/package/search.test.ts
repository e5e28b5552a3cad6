// Search in texts: vectors of many texts, and an index that finds those nearest to a query.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type * as Node from 'ggufscope/node'
import { engine, stories } from './engine.ts'
import { loadNodePackage } from './packed.ts'
import { smallBert } from './small-bert.ts'

const cache = mkdtempSync(join(tmpdir(), 'search-'))
process.env['XDG_CACHE_HOME'] = cache
after(() => rmSync(cache, { recursive: true }))
const { VectorIndex } = await loadNodePackage()
const model = await engine.load(stories.slice(), { threads: 1, contextLength: 256 })
after(() => model.close())

const kTexts = [
  'The owl sleeps by day and flies at night.',
  'A dog runs after a ball in the park.',
  'Bees make honey from the flowers.',
  'The fox has a red coat and a long tail.',
  'A small boat sails on the blue sea.',
]

test('many texts have the vectors of single ones, with progress for each batch', async () => {
  const steps: string[] = []
  const vectors = await engine.embedAll(model, kTexts, {
    batch: 2,
    onProgress: ({ done, total }) => steps.push(`${done}/${total}`),
  })
  assert.deepEqual(steps, ['2/5', '4/5', '5/5'])
  for (const [i, text] of kTexts.entries()) assert.deepEqual(vectors[i], await model.embed(text))
  assert.deepEqual(await engine.embedAll(model, []), [])
  const raw = await engine.embedAll(model, kTexts.slice(0, 1), { normalize: false })
  assert.notDeepEqual(raw[0], vectors[0])
})

test('an abort ends after the batch', async () => {
  const control = new AbortController()
  let done = 0
  const onProgress = (progress: { done: number }) => {
    done = progress.done
    control.abort(new Error('enough'))
  }
  const embedded = engine.embedAll(model, kTexts, { batch: 1, onProgress, signal: control.signal })
  await assert.rejects(embedded, /enough/)
  assert.equal(done, 1)
})

// Numbers of a fixed seed.
let state = 1
const random = () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647 - 0.5
const vector = (n: number) => Float32Array.from({ length: n }, random)
const [n, length] = [2000, 256]
/** In groups, as texts about a few subjects are. */
const centres = Array.from({ length: 50 }, () => vector(length))
const near = (centre: Float32Array, noise: number) => centre.map((value) => value + noise * random())
const vectors = Array.from({ length: n }, (_, i) => near(centres[i % 50]!, 0.8))
const queries = centres.slice(0, 20).map((centre) => near(centre, 0.3))
const items = vectors.map((_, i) => `text ${i}`)
const cosine = (a: Float32Array, b: Float32Array) => {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * y[i]!, 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}
/** The positions of the ten nearest vectors, by a comparison of all. */
const exact = queries.map((query) =>
  vectors
    .map((one, index) => ({ index, score: cosine(query, one) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, 10),
)

// The smallest share of the ten nearest that is found, and the largest error of a cosine.
const kKinds: readonly [Node.VectorIndexOptions, recall: number, error: number][] = [
  [{}, 1, 1e-5],
  [{ type: 'int8' }, 0.97, 0.01],
  [{ type: 'int8', rescore: 'float32' }, 1, 1e-5],
  [{ type: 'binary', rescore: 'float32' }, 0.99, 1e-5],
  [{ type: 'binary', rescore: 'int8' }, 0.95, 0.01],
  [{ type: 'binary' }, 0.4, 1],
]
for (const [options, recall, error] of kKinds)
  test(`the nearest vectors are found: ${JSON.stringify(options)}`, async () => {
    const built = new VectorIndex(length, options)
    // In parts, with vectors of any scale.
    for (let at = 0; at < n; at += 300) {
      const some = vectors.slice(at, at + 300).map((one) => one.map((value) => 3 * value))
      built.add(items.slice(at, at + 300), some)
    }
    assert.equal(built.size, n)
    await built.save('nearest')
    const kept = await VectorIndex.open('nearest')
    assert.ok(kept)
    let found = 0
    for (const [i, query] of queries.entries()) {
      const matches = kept.search(query)
      assert.deepEqual(matches, built.search(query))
      const known = new Map(exact[i]!.map((one) => [one.index, one.score]))
      for (const { item, index, score } of matches) {
        assert.equal(item, `text ${index}`)
        if (!known.has(index)) continue
        found++
        assert.ok(Math.abs(score - known.get(index)!) <= error, `${score} instead of ${known.get(index)}`)
      }
    }
    const share = found / (10 * queries.length)
    assert.ok(share >= recall, `${share} of the nearest`)
    await VectorIndex.remove('nearest')
    assert.equal(await VectorIndex.open('nearest'), undefined)
  })

test('an index that grows after it was kept, few matches, and vectors of zeros', () => {
  const first = new VectorIndex(3, { type: 'int8' })
  first.add(['x', 'nothing'], [Float32Array.of(1, 0, 0), new Float32Array(3)])
  const index = VectorIndex.fromBytes(first.toBytes())
  index.add(['y'], [Float32Array.of(0, 2, 0)])
  assert.deepEqual(
    index.search(Float32Array.of(0.1, 9, 0)).map(({ item }) => item),
    ['y', 'x', 'nothing'],
  )
  assert.deepEqual(
    index.search(Float32Array.of(1, 0.5, 0), { topN: 1 }).map(({ item }) => item),
    ['x'],
  )
  assert.deepEqual(new VectorIndex(3).search(Float32Array.of(1, 0, 0)), [])
})

test('wrong vectors and damaged bytes are refused, and nothing is added', () => {
  const index = new VectorIndex(2)
  const invalid = { code: 'invalid-argument' }
  assert.throws(() => index.add(['a', 'b'], [Float32Array.of(1, 2), Float32Array.of(1, 2, 3)]), invalid)
  assert.throws(() => index.add(['a'], [Float32Array.of(1, NaN)]), invalid)
  assert.throws(() => index.add(['a'], []), invalid)
  assert.throws(() => index.search(Float32Array.of(1)), invalid)
  assert.equal(index.size, 0)
  index.add(['a'], [Float32Array.of(1, 2)])
  const bytes = index.toBytes()
  for (let end = 0; end < bytes.length; end++)
    assert.throws(() => VectorIndex.fromBytes(bytes.slice(0, end)), { name: 'GgufError' })
  const damaged = bytes.slice()
  damaged[9] = 0x21
  assert.throws(() => VectorIndex.fromBytes(damaged), { code: 'bad-length', offset: 4 })
  for (let at = 0; at < bytes.length; at++) {
    const flipped = bytes.slice()
    flipped[at]! ^= 0x81
    assert.throws(() => VectorIndex.fromBytes(flipped), { name: 'GgufError' }, `byte ${at}`)
  }
  assert.throws(() => VectorIndex.fromBytes(Uint8Array.of(...bytes, 0)), { code: 'bad-length' })
  assert.equal(VectorIndex.fromBytes(bytes).size, 1)
  assert.equal(VectorIndex.fromBytes(Uint8Array.of(9, ...bytes).subarray(1)).size, 1)
})

test('texts are searched, and a reranker orders what was found', async () => {
  const index = new VectorIndex(model.info.pooledLength, { type: 'binary', rescore: 'int8' })
  index.add(kTexts, await engine.embedAll(model, kTexts))
  const matches = index.search(await model.embed(kTexts[2]!), { topN: 3 })
  assert.equal(matches[0]!.item, kTexts[2])
  assert.ok(matches[0]!.score > 0.99)
  using reranker = await engine.load(await smallBert(4), { threads: 1 })
  const ranked = await reranker.rerank(
    'what do bees make',
    matches.map(({ item }) => item),
  )
  assert.equal(ranked.length, 3)
})
