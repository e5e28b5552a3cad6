// Traces of a model: probabilities, readings of the layers, attention and ablated parts, against a computation in double
// precision and llama.cpp's logits.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { llamaReference, type ReferencePart } from '../fixtures/llama-reference.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { engine, kStories, stories, textOf } from './engine.ts'
import { loadNodePackage } from './packed.ts'
import { runCli } from './run-cli.ts'
import { kVectors } from './vectors.ts'

const { open } = await loadNodePackage()
const file = await open(kStories)
const model = await engine.load(stories.slice(), { precision: 'exact', cacheType: 'f32', maxForks: 1 })
after(() => {
  model.close()
  file.close()
})
const kText = 'Once upon a time there was a little cat who lived in a house near the river and liked to'
const ids = model.tokenizer.encode(kText, { special: true, bos: true })
const kLayers = model.info.layers
const kHeads = Number(file.metadata.get('llama.attention.head_count'))
const kAllHeads = Array.from({ length: kLayers * kHeads }, (_, i) => ({
  layer: Math.floor(i / kHeads),
  head: i % kHeads,
}))

const isNear = (got: number, expected: number, what: string): void =>
  assert.ok(Math.abs(got - expected) < 2e-4, `${what}: ${got} instead of ${expected}`)

for (const ablate of [
  [],
  [{ layer: 1, head: 3 }],
  [{ layer: 1 }, { layer: 2, head: 0 }],
] satisfies ReferencePart[][])
  test(`a trace equals a computation in double precision, without ${JSON.stringify(ablate)}`, async () => {
    const reference = await llamaReference(file, ids, ablate)
    const steps: number[] = []
    const trace = await model.trace(kText, {
      best: 4,
      attention: kAllHeads,
      ablate,
      onProgress: ({ done, total }) => steps.push(done / total),
    })
    assert.equal(steps.at(-1), 1)
    assert.deepEqual(
      trace.layers.map(({ layer }) => layer),
      Array.from({ length: kLayers + 1 }, (_, i) => i),
    )
    for (const { layer, tokens, logprobs } of trace.layers)
      for (const [t, expected] of reference.logProbabilities(reference.states[layer]!).entries()) {
        const sorted = Array.from(expected).sort((a, b) => b - a)
        for (let i = 0; i < 4; i++) {
          isNear(logprobs[4 * t + i]!, sorted[i]!, `layer ${layer}, token ${t}, place ${i}`)
          isNear(expected[tokens[4 * t + i]!]!, sorted[i]!, `layer ${layer}, token ${t}, id ${i}`)
        }
      }
    const output = reference.logProbabilities(reference.states[kLayers]!)
    assert.ok(Number.isNaN(trace.logprobs[0]))
    assert.equal(trace.ranks[0], -1)
    for (let t = 1; t < ids.length; t++) {
      const expected = output[t - 1]![ids[t]!]!
      isNear(trace.logprobs[t]!, expected, `token ${t}`)
      assert.equal(trace.ranks[t], output[t - 1]!.filter((other) => other > expected).length)
    }
    for (const { layer, head, weights } of trace.attention)
      for (let q = 0; q < ids.length; q++)
        for (let k = 0; k < ids.length; k++)
          isNear(
            weights[q * ids.length + k]!,
            reference.attention[layer]![head]![q]![k] ?? 0,
            `head ${layer}:${head}, ${q} to ${k}`,
          )
  })

test('an answer without parts is what traces without them foresee, and forks keep them apart', async () => {
  const ablate = [{ layer: 0, head: 2 }, { layer: 2 }]
  const options = { temperature: 0, maxTokens: 6, ignoreEnd: true } as const
  const tokens = [...ids]
  for (let i = 0; i < 6; i++) {
    const { layers } = await model.trace(tokens, { layers: [kLayers], best: 1, ablate })
    tokens.push(layers[0]!.tokens[tokens.length - 1]!)
  }
  const expected = model.tokenizer.decode(tokens.slice(ids.length))
  const whole = await textOf(model.generate(kText, options))
  assert.notEqual(expected, whole)
  assert.equal(await textOf(model.generate(kText, { ...options, ablate })), expected)
  // The cache of an answer without parts is not used for one with all of them, and the other way around.
  const fork = await model.fork()
  assert.equal(await textOf(fork.generate(kText, options)), whole)
  assert.equal(await textOf(model.generate(kText, { ...options, ablate })), expected)
  assert.equal(await textOf(model.generate(kText, options)), whole)
  await assert.doesNotReject(model.saveState())
  await textOf(model.generate(kText, { ...options, ablate }))
  await assert.rejects(model.saveState(), { code: 'unsupported' })
  fork.close()
})

test('wrong layers, heads and texts are refused, and an abort ends a trace', async () => {
  const rejects = (options: object, code: string) => assert.rejects(model.trace(ids, options), { code })
  await rejects({ layers: [kLayers + 1] }, 'out-of-range')
  await rejects({ attention: [{ layer: 0, head: kHeads }] }, 'out-of-range')
  await rejects({ ablate: [{ layer: kLayers }] }, 'out-of-range')
  await rejects({ attention: [{ layer: 0 }] }, 'invalid-argument')
  await rejects({ ablate: [{ layer: -1 }] }, 'invalid-argument')
  await rejects({ best: 0 }, 'invalid-argument')
  await assert.rejects(model.trace([]), { code: 'out-of-range' })
  await assert.rejects(model.trace([1 << 20]), { code: 'out-of-range' })
  const control = new AbortController()
  const long = Array.from({ length: 300 }, (_, i) => ids[i % ids.length]!)
  await assert.rejects(
    model.trace(long, { signal: control.signal, onProgress: () => control.abort(new Error('enough')) }),
    /enough/,
  )
  assert.equal((await model.trace(ids, { layers: [] })).logprobs.length, ids.length)
})

// The ablated head hides that its attention is of no numbers, which a trace of it shows.
test('attention that is no numbers is an error with its layer', async () => {
  const tensor = file.tensor('blk.1.attn_q.weight')!
  assert.equal(tensor.type, 'Q6_K')
  const bytes = stories.slice()
  bytes.set([0, 0x7e], tensor.offset + 208) // the first block's scale, of the first head
  using broken = await engine.load(bytes, { maxForks: 0 })
  const head = { layer: 1, head: 0 }
  const message = /are not numbers.*layer 1 \(/
  await assert.rejects(broken.trace(ids), { code: 'out-of-range', message })
  assert.ok((await broken.trace(ids, { ablate: [head] })).logprobs.slice(1).every(Number.isFinite))
  await assert.rejects(broken.trace(ids, { ablate: [head], attention: [head] }), {
    code: 'out-of-range',
    message,
  })
})

test('the command shows probabilities, readings and attention', async () => {
  const { out } = await runCli(['trace', kStories, kText, '--attention', '1:3', '--layers', 'all', '--json'])
  const json = JSON.parse(out) as { ids: number[]; logprobs: (number | null)[]; layers: object[] }
  assert.deepEqual(json.ids, ids)
  assert.equal(json.logprobs[0], null)
  assert.equal(json.layers.length, kLayers + 1)
  const shown = await runCli(['trace', kStories, kText, '--attention', '1:3', '--ablate', '0:1,2'])
  assert.equal(shown.out.trim().split('\n').length, ids.length + 1)
  assert.match(shown.out, /head 1:3 attends to/)
  const wrong = await runCli(['trace', kStories, kText, '--attention', '1'])
  assert.equal(wrong.status, 2)
  assert.match(wrong.err, /LAYER:HEAD/)
})

interface Meta {
  readonly tolerance: { readonly compare_with: string; readonly max_abs: number }
}

// Windows, a soft cap, sinks, latent attention, experts, an encoder, several residual streams, recurrence.
const kNames: Readonly<Record<string, { heads?: number; layers: 'all' | 'output' | 'none' }>> = {
  gemma2: { heads: 0, layers: 'all' },
  'gpt-oss': { heads: 0, layers: 'all' },
  deepseek2: { heads: 0, layers: 'all' },
  bloom: { heads: 0, layers: 'all' },
  bert: { heads: 0, layers: 'none' },
  deepseek4: { layers: 'output' },
  mamba: { layers: 'all' },
}
for (const [name, { heads, layers }] of Object.entries(kNames)) {
  const folder = join(kVectors, 'arch', name)
  test(`${name}: the output that is read is that of llama.cpp`, { skip: skipWithout(folder) }, async () => {
    const read = (part: string): Buffer => readFileSync(join(folder, part))
    const meta = JSON.parse(read('meta.json').toString()) as Meta
    const tokens = JSON.parse(read('tokens.json').toString()) as number[]
    using loaded = await engine.load(new Uint8Array(read('model.gguf')), {
      precision: 'exact',
      cacheType: 'f32',
      contextLength: 256,
    })
    const attention = heads === undefined ? [] : [{ layer: 0, head: heads }]
    const trace = await loaded.trace(tokens, { attention, best: 1 })
    const { length } = trace.layers
    assert.equal(length, { all: loaded.info.layers + 1, output: 1, none: 0 }[layers])
    for (const { weights } of trace.attention)
      for (let q = 0; q < tokens.length; q++) {
        const sum = weights.subarray(q * tokens.length, (q + 1) * tokens.length).reduce((a, b) => a + b, 0)
        assert.ok(name === 'gpt-oss' ? sum > 0 && sum < 1 : Math.abs(sum - 1) < 1e-5, `token ${q}: ${sum}`)
      }
    if (heads === undefined)
      await assert.rejects(loaded.trace(tokens, { attention: [{ layer: 0, head: 0 }] }), (error: unknown) =>
        ['unsupported', 'out-of-range'].includes((error as { code: string }).code),
      )
    if (layers === 'none') return
    const bytes = read(meta.tolerance.compare_with)
    const logits = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
    const size = loaded.info.vocabularySize
    for (let t = 0; t + 1 < tokens.length; t++) {
      const row = logits.subarray(t * size, (t + 1) * size)
      const max = row.reduce((a, b) => Math.max(a, b))
      const sum = max + Math.log(row.reduce((all, logit) => all + Math.exp(logit - max), 0))
      const expected = row[tokens[t + 1]!]! - sum
      assert.ok(
        Math.abs(trace.logprobs[t + 1]! - expected) < 2 * meta.tolerance.max_abs + 1e-4,
        `token ${t + 1}`,
      )
    }
  })
}
