// The GPU in Node: what the card reaches, our kernels, and models of real shapes with random weights. Results are lines of
// JSON on the output and in a file.
//   node gpu.mjs [--out FILE] [--small] [--software] [--shapes 1B,8B] [--types Q4_K_M,Q8_0]
// --small: sizes that a software adapter finishes in a minute. --software: such an adapter is allowed; else the benchmark
// refuses it, because a silent fallback makes every figure wrong.
import { appendFileSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { load, type Model } from 'ggufscope/node'
import { create, globals } from 'webgpu'
import { kWeightTypes } from '../../../wasm/src/gpu/layout.ts'
import { promptOf, syntheticFile, type LlamaShape, type Mix } from '../../fixtures/synthetic.ts'
import { machine, median } from '../common/figures.ts'
import { copyBandwidth, dispatchCost, readStreams, streamsFile, timeProduct } from './measure.ts'
import { kCardShapes } from './shapes.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    small: { type: 'boolean', default: false },
    software: { type: 'boolean', default: false },
    shapes: { type: 'string' },
    types: { type: 'string', default: 'Q4_K_M,Q8_0' },
    root: { type: 'string', default: '.' },
    features: { type: 'string', default: '' },
  },
})

function say(what: object): void {
  const line = JSON.stringify(what)
  console.log(line)
  if (values.out !== undefined) appendFileSync(values.out, `${line}\n`)
}

async function openDevice(): Promise<GPUDevice> {
  Object.assign(globalThis, globals)
  // It stays referenced: Dawn ends at random once it is collected.
  const gpu = create(values.features === '' ? [] : values.features.split(','))
  Object.assign(globalThis, { gpuOfBenchmark: gpu })
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' })
  if (adapter === null) throw new Error('No adapter answers.')
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info
  say({ machine: machine(), vendor, architecture, device, description, isFallbackAdapter })
  say({ features: [...adapter.features] })
  if ((isFallbackAdapter || vendor === 'google') && !values.software)
    throw new Error('Software answers instead of a card.')
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits
  say({ maxBufferSize, maxStorageBufferBindingSize })
  return adapter.requestDevice({
    requiredFeatures: (['subgroups', 'shader-f16'] as const).filter((one) => adapter.features.has(one)),
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
  })
}

async function measureCard(device: GPUDevice): Promise<void> {
  const bytes = values.small ? 1 << 24 : 1 << 30
  say({ copy: await copyBandwidth(device, bytes, values.small ? 4 : 20), unit: 'GB/s', bytes })
  say({ dispatch: 1000 * (await dispatchCost(device, values.small ? 40 : 1000)), unit: 'us' })
  const streams = readStreams(streamsFile(values.root))
  const shapes = values.small ? [[256, 256]] : [[4096, 4096], [4096, 14_336], [2048, 2048]] // prettier-ignore
  for (const [id, { name }] of kWeightTypes) {
    if (values.small && !['Q4_0', 'Q4_K'].includes(name)) continue
    for (const [nIn, nOut] of shapes as [number, number][])
      for (const kernel of ['mat_vec', 'mat_mul'] as const) {
        const subgroups = kernel === 'mat_vec' && device.features.has('subgroups') ? [true, false] : [false]
        const kinds = [
          { integers: false, halves: false },
          { integers: true, halves: false },
          ...(device.features.has('shader-f16') ? [{ integers: false, halves: true }] : []),
        ]
        const ways = subgroups.flatMap((mode) => kinds.map((kind) => ({ subgroups: mode, ...kind })))
        const tokens = kernel === 'mat_vec' ? 1 : values.small ? 40 : 512
        // As many matrices as a cache of 64 MB does not hold.
        const matrices = values.small ? 2 : Math.max(4, Math.ceil((512 << 20) / (nIn * nOut)))
        const dispatches = values.small ? 4 : kernel === 'mat_vec' ? 400 : 20
        const options = { rows: tokens, nIn, nOut, matrices, dispatches }
        const rows = await timeProduct(device, { kernel, type: id }, streams.get(name)!, ways, options)
        for (const row of rows) say({ kernel, type: name, ...options, ...row })
      }
  }
}

/** Milliseconds to the first token of a prompt, and of each token after it. */
async function timesOf(model: Model, prompt: number[], maxTokens: number) {
  const times: number[] = []
  const began = performance.now()
  for await (const _ of model.generate(prompt, { maxTokens, temperature: 0, ignoreEnd: true }))
    times.push(performance.now() - began)
  return { first: times[0]!, token: (times.at(-1)! - times[0]!) / (times.length - 1) }
}

async function measureModel(folder: string, shape: LlamaShape, mix: Mix): Promise<void> {
  // Node's openAsBlob knows sizes of 32 bits.
  const file = await syntheticFile(folder, shape, mix)
  const { size } = statSync(file)
  const promptLength = values.small ? 32 : 2048
  const loaded = async (precision: 'exact' | 'fast') => {
    const began = performance.now()
    const model = await load(file, {
      device: 'gpu',
      allowFallbackAdapter: values.software,
      contextLength: promptLength + 256,
      cacheType: 'f16',
      precision,
    })
    return {
      precision,
      model,
      loadMs: performance.now() - began,
      runs: [] as { first: number; token: number }[],
    }
  }
  // Floats and integers in turn.
  const both = [await loaded('exact'), await loaded('fast')]
  for (let i = 0; i < 4; i++)
    for (const { model, runs } of both)
      runs.push(await timesOf(model, promptOf(i, promptLength, shape.vocabulary), values.small ? 6 : 128))
  for (const { precision, model, loadMs, runs } of both) {
    model.close()
    // The first run compiles what is compiled on demand.
    const firsts = median(runs.slice(1).map(({ first }) => first))
    const token = median(runs.slice(1).map((run) => run.token))
    say({
      model: shape.name,
      mix,
      precision,
      bytes: size,
      loadMs,
      promptTokensPerSecond: (1000 * promptLength) / firsts,
      msPerToken: token,
      tokensPerSecond: 1000 / token,
      gbytesPerSecond: size / token / 1e6,
    })
  }
}

const device = await openDevice()
await measureCard(device)
device.destroy()
const folder = mkdtempSync(join(tmpdir(), 'gpu-models-'))
for (const name of (values.shapes ?? (values.small ? 'stories15M' : 'SmolLM2-135M,1B,8B')).split(','))
  for (const mix of values.types.split(',')) {
    const shape = kCardShapes.find((one) => one.name === name)
    if (shape === undefined) throw new Error(`There is no shape ${name}.`)
    await measureModel(folder, shape, mix as Mix)
  }
process.exit(0)
