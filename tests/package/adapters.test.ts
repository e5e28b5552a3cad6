// Adapters through the package, against llama.cpp's logits: every base model of the vectors with two of its runs.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type * as Node from 'ggufscope/node'
import { skipWithout } from '../fixtures/skip-without.ts'
import { packedFile } from './packed.ts'
import { difference, kLora, kVectors, loraMetaOf } from './vectors.ts'

const { load, GgufError } = (await import(pathToFileURL(packedFile('wasm/dist/node.js')).href)) as typeof Node

const skip = skipWithout(kLora)

const read = (path: string): Uint8Array => new Uint8Array(readFileSync(path))
async function loaded(name: string, options: Node.LoadOptions = {}): Promise<Node.Model> {
  return await load(read(join(kVectors, loraMetaOf(name).base)), {
    contextLength: 256,
    cacheType: 'f32',
    precision: 'exact',
    threads: 1,
    ...options,
  })
}

test(
  'adapters move the logits as llama.cpp says, and leave no trace',
  { skip, timeout: 300_000 },
  async () => {
    for (const name of readdirSync(kLora).filter((name) => name !== 'odd')) {
      const { tokens, runs } = loraMetaOf(name)
      using model = await loaded(name)
      const before = await model.evaluate(tokens)
      for (const run of ['a-minus0.75', 'a-1.0-b-0.5']) {
        const { adapters, tolerance, ...files } = runs[run]!
        const choices = adapters.map(([file, scale]) => ({ source: join(kLora, name, file), scale }))
        const infos = await model.setAdapters(choices)
        assert.deepEqual(model.adapters, infos)
        assert.ok(
          infos.every(({ kind, targets, ignored }) => kind === 'lora' && targets > 0 && !ignored.length),
        )
        const expected = new Float32Array(read(join(kLora, name, files[tolerance.compare_with]!)).buffer)
        const moved = difference(await model.evaluate(tokens), expected)
        assert.ok(moved <= tolerance.max_abs, `${name} ${run}: ${moved}`)
      }
      assert.deepEqual(await model.setAdapters([]), [])
      assert.deepEqual(await model.evaluate(tokens), before, name)
    }
  },
)

test('forks have adapters of their own', { skip }, async () => {
  const { tokens } = loraMetaOf('llama')
  const adapter = { source: read(join(kLora, 'llama', 'a.gguf')) }
  const vector = { source: read(join(kLora, 'llama', 'cvec.gguf')) }
  using model = await loaded('llama', { adapters: [adapter, vector] })
  assert.deepEqual(
    model.adapters.map(({ kind }) => kind),
    ['lora', 'control-vector'],
  )
  const both = await model.evaluate(tokens)
  using fork = await model.fork()
  assert.deepEqual(await fork.evaluate(tokens), both)
  await fork.setAdapters([])
  const plain = await fork.evaluate(tokens)
  assert.notDeepEqual(plain, both)
  assert.deepEqual(await model.evaluate(tokens), both)
  await fork.setAdapters([
    { ...adapter, scale: 0 },
    { ...vector, layers: [100, 200] },
  ])
  assert.deepEqual(await fork.evaluate(tokens), plain)
})

test('a file of another kind beside a model is refused by its name and kind', { skip }, async () => {
  const base = loraMetaOf('llama').base
  const [model, lora, vector, projector] = [
    join(kVectors, base),
    join(kLora, 'llama', 'a.gguf'),
    join(kLora, 'llama', 'cvec.gguf'),
    join(kVectors, 'media/vision/gemma3/mmproj.gguf'),
  ] as const
  const adapter = (source: string, kind?: 'lora' | 'control-vector') => ({ adapters: [{ source, kind }] })
  const cases: [options: Node.LoadOptions, what: string, wanted: string][] = [
    [adapter(model), "model ('llama')", 'adapter'],
    [adapter(model, 'lora'), "model ('llama')", 'adapter'],
    [adapter(model, 'control-vector'), "model ('llama')", 'control-vector'],
    [adapter(vector, 'lora'), 'control-vector', 'adapter'],
    [adapter(lora, 'control-vector'), 'adapter', 'control-vector'],
    [adapter(projector), 'projector', 'adapter'],
    [{ projector: model }, "model ('llama')", 'projector'],
    [{ projector: lora }, 'adapter', 'projector'],
    [{ draft: lora }, 'adapter', 'model'],
    [{ draft: projector }, 'projector', 'model'],
  ]
  for (const [options, what, wanted] of cases)
    await assert.rejects(loaded('llama', options), (error: Error) => {
      assert.match(error.message, /^The file '[\w.-]+\.gguf' is of the kind /)
      assert.ok(error.message.endsWith(` is of the kind ${what}, not ${wanted}.`), error.message)
      return true
    })
  for (const options of [adapter(lora, 'lora'), adapter(vector, 'control-vector'), adapter(vector)])
    (await loaded('llama', options)).close()
})

test('unusual adapters are refused without side effects', { skip }, async () => {
  const { tokens } = loraMetaOf('llama-gqa')
  const odd = JSON.parse(readFileSync(join(kLora, 'odd', 'meta.json'), 'utf8')) as {
    cases: readonly { file: string; outcome: string }[]
  }
  using model = await loaded('llama-gqa', { adapters: [{ source: join(kLora, 'llama-gqa', 'a.gguf') }] })
  const before = await model.evaluate(tokens)
  for (const { file } of odd.cases.filter(({ outcome }) => outcome !== 'taken'))
    await assert.rejects(
      model.setAdapters([{ source: join(kLora, 'odd', file) }]),
      (error) => error instanceof GgufError && error.code !== 'wasm',
      file,
    )
  const code = (expected: string) => (error: unknown) => error instanceof GgufError && error.code === expected
  const whole = read(join(kLora, 'llama-gqa', 'a.gguf'))
  await assert.rejects(model.setAdapters([{ source: whole.subarray(0, -1) }]), code('truncated'))
  await assert.rejects(model.setAdapters([{ source: whole, scale: NaN }]), code('invalid-argument'))
  await assert.rejects(model.setAdapters([{ source: whole, layers: [2, 1] }]), code('invalid-argument'))
  const aborted = AbortSignal.abort(new Error('enough'))
  await assert.rejects(model.setAdapters([{ source: whole }], { signal: aborted }), /enough/)
  assert.deepEqual(await model.evaluate(tokens), before)
  const [info] = await model.setAdapters([{ source: join(kLora, 'odd', 'norm-tensor-ignored.gguf') }])
  assert.ok(info!.ignored.length > 0)
})
