// What options of load() cost, in Node: 64-bit memory, a LoRA adapter, and a quantized KV cache, each beside the default on
// the same synthetic file. A prompt, and the tokens after it; runs alternate, and figures are medians.
//   npm run bench -- costs -- --type Q4_0 --threads 1 --prompts 512,4096 --rounds 5 --tokens 32 --rank 16
// Then the noise of quantized caches on the trained sample: the mean and the largest KL divergence of the next token's
// distribution from that with an f32 cache, over the tokens of a text that the sample wrote.
import { openAsBlob } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { load, type LoadOptions, type Model } from 'ggufscope/engine'
import { randomNumbers } from '../server/faults.ts'
import { writeGguf, type Tensor } from '../fixtures/gguf.ts'
import { f32, text } from '../fixtures/models.ts'
import { kMixes, kShapes, llamaModel, promptOf, syntheticFile, type Mix } from '../fixtures/synthetic.ts'
import { machine, median } from './common/figures.ts'

const kRoot = join(import.meta.dirname, '../..')
const kAlpha = 16
const kNoiseTokens = 192

const { values } = parseArgs({
  options: {
    type: { type: 'string', default: 'Q4_0' },
    threads: { type: 'string', default: '1' },
    prompts: { type: 'string', default: '512,4096' },
    rounds: { type: 'string', default: '5' },
    tokens: { type: 'string', default: '32' },
    rank: { type: 'string', default: '16' },
  },
})
const shape = kShapes.find(({ name }) => name === 'SmolLM2-135M')!
const mix = kMixes.find((name) => name === values.type)
if (!mix) throw new Error(`There is no mixture ${values.type}.`)
const tokens = Number(values.tokens)

/** A LoRA adapter with random F32 matrices for each matrix of the blocks. */
function adapterFor(model: Mix, rank: number): Uint8Array {
  const random = randomNumbers(rank)
  const tensors = llamaModel(shape, model).tensors!.flatMap(
    ({ name, shape: [rowLength, rows] }): Tensor[] => {
      if (!name.startsWith('blk.') || rows === undefined) return []
      const part = (end: string, columns: number, length: number): Tensor => {
        const floats = Float32Array.from({ length: columns * length }, () => (random() - 0.5) / 50)
        return {
          name: `${name}.lora_${end}`,
          shape: [columns, length],
          type: 'F32',
          data: new Uint8Array(floats.buffer),
        }
      }
      return [part('a', rowLength!, rank), part('b', rank, rows)]
    },
  )
  const metadata = [
    ['general.architecture', text('llama')],
    ['general.type', text('adapter')],
    ['adapter.type', text('lora')],
    ['adapter.lora.alpha', f32(kAlpha)],
  ] as const
  return writeGguf({ metadata, tensors })
}

interface Rates {
  readonly prompt: number[]
  readonly generation: number[]
}

let serial = 0
async function run(model: Model, length: number, { prompt, generation }: Rates): Promise<void> {
  const ids = promptOf(++serial, length, model.info.vocabularySize)
  const times: number[] = []
  const start = performance.now()
  for await (const _ of model.generate(ids, { maxTokens: tokens, temperature: 0, ignoreEnd: true }))
    times.push(performance.now() - start)
  prompt.push((1000 * length) / times[0]!)
  generation.push((1000 * (times.length - 1)) / (times.at(-1)! - times[0]!))
}

async function compare(path: string, length: number): Promise<void> {
  const rank = Number(values.rank)
  const kinds: Record<string, LoadOptions> = {
    'default, f16 cache': {},
    '64-bit memory': { variant: 'memory64' },
    [`adapter of rank ${rank}`]: { adapters: [{ source: adapterFor(mix!, rank) }] },
    'q8_0 cache': { cacheType: 'q8_0' },
    'q4_0 cache': { cacheType: 'q4_0' },
  }
  const options = { threads: Number(values.threads), contextLength: length + 2 * tokens }
  const running = new Map<string, { model: Model; rates: Rates }>()
  for (const [name, kind] of Object.entries(kinds)) {
    const model = await load(await openAsBlob(path), { ...options, ...kind })
    running.set(name, { model, rates: { prompt: [], generation: [] } })
    await run(model, length, { prompt: [], generation: [] })
  }
  for (let round = 0; round < Number(values.rounds); round++)
    for (const { model, rates } of running.values()) await run(model, length, rates)
  const first = [...running.values()][0]!.rates
  for (const [name, { model, rates }] of running) {
    const cell = (what: keyof Rates): string => {
      const rate = median(rates[what])
      return `${rate.toFixed(1)} | ${(rate / median(first[what])).toFixed(2)}x`
    }
    const { cache, total } = model.info.memory
    const megabytes = `${(cache / 1e6).toFixed(1)} | ${(total / 1e6).toFixed(0)}`
    console.log(`| ${name} | ${length} | ${cell('prompt')} | ${cell('generation')} | ${megabytes} |`)
    model.close()
  }
}

/** The logarithms of the probabilities of a row of logits. */
function logSoftmax(logits: Float32Array): Float64Array {
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity)
  const sum = Math.log(logits.reduce((total, x) => total + Math.exp(x - most), 0)) + most
  return Float64Array.from(logits, (x) => x - sum)
}

async function noise(): Promise<void> {
  const sample = await openAsBlob(join(kRoot, 'tests/fixtures/stories.gguf'))
  const rowsOf = async (cacheType: NonNullable<LoadOptions['cacheType']>, ids: readonly number[]) => {
    using model = await load(sample, { cacheType, threads: 1, precision: 'exact' })
    const { vocabularySize } = model.info
    const rows: Float64Array[] = []
    // One token at a time, so that each one reads the cache.
    for (const id of ids) rows.push(logSoftmax((await model.evaluate([id])).subarray(-vocabularySize)))
    return rows
  }
  const ids: number[] = [1]
  {
    using model = await load(sample, { threads: 1 })
    const written = model.generate([1], {
      maxTokens: kNoiseTokens,
      temperature: 0.8,
      seed: 1,
      ignoreEnd: true,
    })
    for await (const { token } of written) ids.push(token)
  }
  const exact = await rowsOf('f32', ids)
  console.log('\n| cache | mean KL divergence | largest |\n| --- | --: | --: |')
  for (const cacheType of ['f16', 'q8_0', 'q4_0'] as const) {
    const rows = await rowsOf(cacheType, ids)
    const divergences = exact.map((row, i) =>
      row.reduce((sum, p, j) => sum + Math.exp(p) * (p - rows[i]![j]!), 0),
    )
    const mean = divergences.reduce((a, b) => a + b, 0) / divergences.length
    console.log(`| ${cacheType} | ${mean.toExponential(1)} | ${Math.max(...divergences).toExponential(1)} |`)
  }
}

const path = await syntheticFile(join(kRoot, 'build/bench-models'), shape, mix)
console.log(
  `${machine()}, Node ${process.versions.node}, ${shape.name}, ${mix}, threads: ${values.threads}\n`,
)
console.log('| option | prompt | tokens a second | | generation after it | | cache, MB | all, MB |')
console.log('| --- | --: | --: | --: | --: | --: | --: | --: |')
for (const length of values.prompts.split(',').map(Number)) await compare(path, length)
await noise()
