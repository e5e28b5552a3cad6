// Embeddings and rankings: pooling, normalization, batches, also in OpenAI's format. They use a small generated BERT,
// and llama.cpp's vectors if the shared data exists.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type OpenAI from 'openai'
import type * as Engine from 'ggufscope/engine'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, kShared, packedFile } from './packed.ts'
import { kBias, kContext, kHead, kWidth, smallBert } from './small-bert.ts'

const { load, createEmbedding, createRerank } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine

const options = { precision: 'exact' } as const
const [reranker, encoder, stories] = await Promise.all([
  smallBert(4).then((bytes) => load(bytes, options)),
  smallBert(2).then((bytes) => load(bytes, options)),
  load(new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/stories.gguf')))),
])
after(() => [reranker, encoder, stories].forEach((model) => model.close()))

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((sum, value, i) => sum + value * b[i]!, 0)
function near(got: ArrayLike<number>, want: ArrayLike<number>, most = 1e-5): void {
  assert.equal(got.length, want.length)
  const worst = Array.from(got).reduce((d, value, i) => Math.max(d, Math.abs(value - want[i]!)), 0)
  assert.ok(worst <= most, `differs by ${worst}`)
}

test('a file whose pooling is none gives the vectors of all tokens', async () => {
  using model = await load(await smallBert(0), options)
  assert.equal(model.info.pooling, 'none')
  const text = 'what do bees make'
  assert.deepEqual(await model.embed(text), await model.embed(text, { pooling: 'none' }))
  await assert.rejects(createEmbedding(model, { input: text }), { code: 'unsupported' })
})

test('the file determines the pooling, and pooled vectors are normalized', async () => {
  assert.deepEqual(
    [reranker.info.pooling, encoder.info.pooling, stories.info.pooling],
    ['rank', 'cls', 'mean'],
  )
  assert.deepEqual(reranker.info.labels, ['yes', 'no'])
  assert.equal(encoder.info.pooledLength, kWidth)
  const text = 'what do bees make'
  const raw = { normalize: false } as const
  const [rows, mean, cls, last] = [
    await encoder.embed(text, { pooling: 'none' }),
    await encoder.embed(text, { ...raw, pooling: 'mean' }),
    await encoder.embed(text, raw),
    await encoder.embed(text, { ...raw, pooling: 'last' }),
  ]
  const count = rows.length / kWidth
  assert.equal(count, 6)
  near(cls, rows.slice(0, kWidth))
  near(last, rows.slice(-kWidth))
  near(
    mean,
    Array.from({ length: kWidth }, (_, i) => {
      let sum = 0
      for (let t = 0; t < count; t++) sum += rows[t * kWidth + i]!
      return sum / count
    }),
  )
  for (const pooling of ['mean', 'cls', 'last'] as const) {
    const vector = await encoder.embed(text, { pooling })
    near([dot(vector, vector)], [1])
    const plain = await encoder.embed(text, { pooling, normalize: -1 })
    near(
      vector,
      plain.map((value) => value / Math.sqrt(dot(plain, plain))),
    )
    near([Math.max(...(await encoder.embed(text, { pooling, normalize: 0 })).map(Math.abs))], [32760], 0.01)
    const one = await encoder.embed(text, { pooling, normalize: 1 })
    near([one.reduce((sum, value) => sum + Math.abs(value), 0)], [1])
  }
  const each = await encoder.embed(text, { pooling: 'none', normalize: true })
  for (let t = 0; t < count; t++) {
    const row = each.slice(t * kWidth, (t + 1) * kWidth)
    near([dot(row, row)], [1])
  }
})

test('several texts give several vectors, of texts and of ids', async () => {
  const texts = ['bees make honey', 'owls sleep by day', 'bees']
  let tokens = 0
  const vectors = await encoder.embed(texts, { onDone: (done) => (tokens = done.tokens) })
  assert.equal(vectors.length, 3)
  const ids = texts.map((text) => encoder.tokenizer.encode(text, { bos: true }))
  assert.equal(tokens, ids.flat().length)
  for (const [i, text] of texts.entries()) near(vectors[i]!, await encoder.embed(text), 0)
  assert.deepEqual(await encoder.embed(ids), vectors)
  assert.deepEqual(await encoder.embed([]), [])
  const controller = new AbortController()
  controller.abort(new Error('enough'))
  await assert.rejects(encoder.embed(texts, { signal: controller.signal }), /enough/)
  for (const wrong of [{ pooling: 'max' }, { normalize: -2 }, { normalize: 'yes' }, { pool: 'mean' }])
    await assert.rejects(encoder.embed('a', wrong as object), { code: 'invalid-argument' })
})

test('texts up to the context length are embedded whole, and longer ones are refused', async () => {
  const text = (words: number) => Array(words).fill('bees').join(' ')
  assert.equal((await encoder.embed(text(kContext - 2))).length, kWidth)
  await assert.rejects(encoder.embed(text(kContext - 1)), { code: 'out-of-range' })
})

test('ranking applies the head to the first token', async () => {
  const query = 'what do bees make'
  const documents = ['owls sleep by day', 'bees make honey', 'honey']
  const scores: number[] = []
  for (const document of documents) {
    const { tokenizer } = reranker
    const pair = [2, ...tokenizer.encode(query), 3, ...tokenizer.encode(document), 3]
    const cls = await reranker.embed(pair, { pooling: 'cls', normalize: false })
    const wanted = [0, 1].map((i) => dot(cls, kHead.slice(i * kWidth, (i + 1) * kWidth)) + kBias[i]!)
    near(await reranker.embed(pair), wanted)
    scores.push(wanted[0]!)
  }
  let tokens = 0
  const ranked = await reranker.rerank(query, documents, { onDone: (done) => (tokens = done.tokens) })
  assert.deepEqual(
    ranked.map(({ score }) => score).toSorted((a, b) => b - a),
    ranked.map(({ score }) => score),
  )
  for (const { index, score } of ranked) near([score], [scores[index]!])
  assert.ok(tokens > 20)
  assert.deepEqual(await reranker.rerank(query, documents, { topN: 1 }), ranked.slice(0, 1))
  for (const model of [stories]) {
    await assert.rejects(model.rerank(query, documents), { code: 'unsupported' })
    await assert.rejects(model.embed('a', { pooling: 'rank' }), { code: 'unsupported' })
  }
})

test('embeddings and rankings in the shape of requests', async () => {
  const input = ['bees make honey', 'owls sleep by day']
  const answer: OpenAI.CreateEmbeddingResponse = await createEmbedding(encoder, { input, model: 'small' })
  assert.equal(answer.object, 'list')
  assert.equal(answer.model, 'small')
  assert.deepEqual(
    answer.data.map(({ object, index }) => [object, index]),
    [
      ['embedding', 0],
      ['embedding', 1],
    ],
  )
  near(answer.data[1]!.embedding, await encoder.embed(input[1]!))
  assert.ok(answer.usage.prompt_tokens === answer.usage.total_tokens && answer.usage.total_tokens > 8)
  const packed = await createEmbedding(encoder, { input: input[0]!, encoding_format: 'base64' })
  const bytes = Buffer.from(packed.data[0]!.embedding, 'base64')
  near(
    Array.from({ length: kWidth }, (_, i) => bytes.readFloatLE(4 * i)),
    answer.data[0]!.embedding,
  )
  const short = (await createEmbedding(encoder, { input: input[0]!, dimensions: 8 })).data[0]!.embedding
  near([dot(short, short)], [1])
  const scale = answer.data[0]!.embedding[0]! / short[0]!
  near(
    short.map((value) => value * scale),
    answer.data[0]!.embedding.slice(0, 8),
  )
  for (const wrong of [
    {},
    { input: [] },
    { input: '', dimensions: 99 },
    { input: 'a', encoding_format: 'int8' },
  ])
    await assert.rejects(createEmbedding(encoder, wrong as unknown as Engine.EmbeddingRequest), {
      code: 'invalid-argument',
    })
  await assert.rejects(createEmbedding(reranker, { input: 'a' }), { code: 'unsupported' })

  const documents = ['owls sleep by day', { text: 'bees make honey' }]
  const ranked = await createRerank(reranker, { query: 'bees', documents, return_documents: true, top_n: 2 })
  assert.equal(ranked.results.length, 2)
  assert.ok(ranked.results[0]!.relevance_score >= ranked.results[1]!.relevance_score)
  for (const { index, document } of ranked.results)
    assert.equal(document!.text, ['owls sleep by day', 'bees make honey'][index])
  assert.ok(ranked.usage.total_tokens > 0)
  for (const wrong of [
    { documents },
    { query: 'a' },
    { query: 'a', documents: [5] },
    { query: 'a', documents, top_n: 0 },
  ])
    await assert.rejects(createRerank(reranker, wrong as unknown as Engine.RerankRequest), {
      code: 'invalid-argument',
    })
})

const kVectors = join(kShared, '../vectors/pooling')
const skip = skipWithout(kVectors)

interface Meta {
  pooling_of_file: Engine.Pooling
  pairs?: { question: string; document: string; ids: number[]; score_exact?: number[]; score: number[] }[]
  normalized?: Record<string, unknown> & { text: string; pooling: Engine.Pooling }
}

test('pairs and norms match llama.cpp', { skip }, async () => {
  let pairs = 0
  let norms = 0
  for (const name of readdirSync(kVectors)) {
    const meta = JSON.parse(readFileSync(join(kVectors, name, 'meta.json'), 'utf8')) as Meta
    using model = await load(new Uint8Array(readFileSync(join(kVectors, name, 'model.gguf'))), options)
    assert.equal(model.info.pooling, meta.pooling_of_file, name)
    for (const { question, document, ids, score, score_exact = score } of meta.pairs ?? []) {
      const [ranked] = await model.rerank(question, [document])
      near([ranked!.score], score_exact.slice(0, 1), 1e-3)
      near(await model.embed(ids), score_exact, 1e-3)
      pairs++
    }
    for (const [norm, want] of Object.entries(meta.normalized ?? {})) {
      if (!/^-?\d+$/.test(norm)) continue
      const { text, pooling } = meta.normalized!
      const values = want as number[]
      const got = await model.embed(text, { pooling, normalize: Number(norm) })
      near(got, values, 6e-3 * Math.max(...values.map(Math.abs)))
      norms++
    }
  }
  assert.ok(pairs >= 24 && norms >= 5, `${pairs} pairs, ${norms} norms`)
})
