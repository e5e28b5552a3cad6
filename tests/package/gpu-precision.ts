// Products of integers on a GPU, in Node. gpu.test.ts runs this file in a process in which WebGPU finds SwiftShader.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { kAll, kLong } from '../fixtures/short.ts'
import { engine, textOf } from './engine.ts'
import { checkPasses, countsOf, kOptions, withoutTimes, withWorker } from './gpu-loading.ts'
import { smallLlama } from './small-llama.ts'
import { difference } from './vectors.ts'

const { load } = engine

const bytes = await smallLlama()
const kText = 'the bees make honey'.repeat(3)
async function logitsOf(model: Engine.Model): Promise<Float32Array[]> {
  const ids = [...model.tokenizer.encode(kText)]
  return [await model.evaluate(ids), await model.evaluate(ids.slice(0, 3))]
}
using exact = await load(bytes, { ...kOptions, device: 'cpu' })
const want = await logitsOf(exact)

/** Whether prompts and few tokens are computed in floats. Integers are less exact, but not wrong. */
const inFloats = async (model: Engine.Model): Promise<boolean[]> =>
  (await logitsOf(model)).map((got, i) => {
    const largest = want[i]!.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
    const off = difference(got, want[i]!) / largest
    assert.ok(off < 0.1, `${off}`)
    return off < 1e-4
  })

const options = { ...withWorker(), precision: undefined }
test('products of integers are computed where the precision says so', async () => {
  for (const precision of kAll ? ([undefined, 'fast'] as const) : (['fast'] as const)) {
    using model = await load(bytes, { ...options, precision })
    assert.equal(model.info.precision, precision ?? 'exact')
    const floats = precision === undefined
    assert.deepEqual(await inFloats(model), [floats, floats])
    // Activations are quantized in the products themselves.
    const before = (await countsOf()).length
    await textOf(model.generate('Once upon a time, there was a', { temperature: 0, maxTokens: 4 }))
    checkPasses((await countsOf()).slice(before), 6 * model.info.layers, 4)
  }
})

test(
  'auto times both kinds of products where the card is faster, and takes the faster ones',
  { skip: kLong },
  () =>
    withoutTimes(async (kept) => {
      const auto = { ...options, device: 'auto' } as const
      using cpu = await load(bytes, auto)
      assert.equal(cpu.info.device, 'cpu')
      const { gpu, integers: none } = kept.read()
      assert.equal(none, undefined)
      kept.write({ cpu: 20 * gpu, gpu })
      using timed = await load(bytes, auto)
      const { integers } = kept.read()
      assert.ok(integers?.length === 4 && integers.every((ms) => ms > 0), String(integers))
      const [token, integerToken, prompt, integerPrompt] = integers as [number, number, number, number]
      const inIntegers = [integerPrompt < 0.95 * prompt, integerToken < 0.95 * token]
      assert.equal(timed.info.precision, inIntegers.includes(true) ? 'fast' : 'exact')
      assert.deepEqual(
        await inFloats(timed),
        inIntegers.map((one) => !one),
      )
      for (const [times, prompts, tokens] of [
        [[2, 1, 2, 2], true, false],
        [[2, 2, 2, 1], false, true],
      ] as const) {
        kept.write({ cpu: 20 * gpu, gpu, integers: times })
        using model = await load(bytes, auto)
        assert.equal(model.info.precision, 'fast')
        assert.deepEqual(await inFloats(model), [prompts, tokens])
      }
    }),
)
