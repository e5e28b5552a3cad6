// Products of integers and of binary16 on a GPU, in Node. gpu.test.ts runs this file in a process in which WebGPU finds
// SwiftShader, which has no binary16.
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

/** Whether prompts and few tokens are computed in floats. Others are less exact, but not wrong. */
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
  'auto times each kind of products where the card is faster, and takes the fastest ones',
  { skip: kLong },
  () =>
    withoutTimes(async (kept) => {
      const auto = { ...options, device: 'auto' } as const
      using cpu = await load(bytes, auto)
      assert.equal(cpu.info.device, 'cpu')
      const { gpu, products: none } = kept.read()
      assert.equal(none, undefined)
      kept.write({ cpu: 20 * gpu, gpu })
      using timed = await load(bytes, auto)
      const { products = [] } = kept.read()
      // Halves are timed where the device has them.
      assert.ok([4, 5].includes(products.length) && products.every((ms) => ms > 0), String(products))
      const [token, integerToken, prompt, ...others] = products as [number, number, number, ...number[]]
      const faster = [Math.min(...others) < 0.95 * prompt, integerToken < 0.95 * token]
      assert.equal(timed.info.precision, faster.includes(true) ? 'fast' : 'exact')
      assert.deepEqual(
        await inFloats(timed),
        faster.map((one) => !one),
      )
      const cases: [times: number[], prompts: boolean, tokens: boolean][] = [
        [[2, 1, 2, 2], true, false],
        [[2, 2, 2, 1], false, true],
      ]
      if (others.length > 1) cases.push([[2, 2, 2, 2, 1], false, true], [[2, 2, 2, 1.92, 1.96], true, true])
      for (const [times, prompts, tokens] of cases) {
        kept.write({ cpu: 20 * gpu, gpu, products: times })
        using model = await load(bytes, auto)
        assert.equal(model.info.precision, prompts && tokens ? 'exact' : 'fast')
        assert.deepEqual(await inFloats(model), [prompts, tokens])
      }
    }),
)
