// The time from an image to the first token: SmolVLM-256M in ggufscope and in wllama 3.13.0 (llama.cpp as wasm), both in
// Chromium on the same synthetic files.
//   npm run bench:image -- --types Q8_0 --threads 1,2 --rounds 5 --size 1024x256
// The projector enlarges an image to 2048 pixels and cuts it into tiles of 512, and adds one of the whole image: 1024x256
// has 5 tiles. Runs alternate, each with another image. Before them, each model answers a text. Figures are medians: the
// time from the call of chat() to the first token, and the processor time of the browser in it.
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from '@playwright/test'
import type * as Engine from 'ggufscope/engine'
import { kImageTypes, smolVlmFiles, type ImageType } from '../fixtures/synthetic-media.ts'
import { startChromium, type Chromium } from './common/chromium.ts'
import { machine, median } from './common/figures.ts'

const kRoot = join(import.meta.dirname, '../..')
const kModels = join(kRoot, 'build/bench-models')
const kWllama = join(kRoot, 'node_modules/wllama-3/esm')
const kQuestion = 'What is it?'
const kContext = 2048

interface LoadTask {
  url: string
  model: string
  projector: string
  threads: number
  context: number
  question: string
}
interface Loaded {
  /** Resolves at the first token. Without an image, only the question is asked. */
  ask(image?: Blob): Promise<void>
}
interface Global {
  loaded: Loaded
}
type LoadIn = (task: LoadTask) => Promise<void>

const loadOurs: LoadIn = async ({ url, model: address, projector, threads, context, question }) => {
  const { load } = (await import(`${url}/ours/engine/index.js`)) as typeof Engine
  const model = await load(address, { projector, threads, contextLength: context })
  const loaded: Loaded = {
    async ask(image) {
      const text = { type: 'text' as const, text: question }
      const content = image ? [{ type: 'image' as const, image }, text] : [text]
      const options = { maxTokens: 1, temperature: 0, ignoreEnd: true }
      for await (const _ of model.chat([{ role: 'user', content }], options)) continue
    },
  }
  Object.assign(globalThis, { loaded })
}

interface Wllama {
  loadModel(blobs: Blob[], options: object): Promise<void>
  createChatCompletion(options: object): Promise<AsyncIterable<unknown>>
}
const loadWllama: LoadIn = async ({ url, model, projector, threads, context, question }) => {
  const address = `${url}/wllama/index.js`
  const { Wllama } = (await import(address)) as { Wllama: new (paths: object, config: object) => Wllama }
  const wllama = new Wllama({ default: '/wllama/wasm/wllama.wasm' }, { suppressNativeLog: true })
  const files = [model, projector].map(async (file) => (await fetch(file)).blob())
  const options = { n_threads: threads, n_ctx: context, n_gpu_layers: 0, n_parallel: 1 }
  await wllama.loadModel(await Promise.all(files), options)
  const loaded: Loaded = {
    async ask(image) {
      const text = { type: 'text', text: question }
      const content = image ? [{ type: 'image', data: await image.arrayBuffer() }, text] : [text]
      const request = { max_tokens: 1, temperature: 0, ignore_eos: true, cache_prompt: false, stream: true }
      const messages = [{ role: 'user', content }]
      for await (const _ of await wllama.createChatCompletion({ ...request, messages })) continue
    },
  }
  Object.assign(globalThis, { loaded })
}

/** Runs in the page. Returns the milliseconds to the first token. */
async function timed([serial, width, height]: readonly [number, number, number]): Promise<number> {
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d')!
  for (let i = 0; i < 200; i++) {
    const at = serial * 7919 + i * 104_729
    context.fillStyle = `hsl(${at % 360} 70% ${30 + (at % 50)}%)`
    context.fillRect(at % width, (at * 31) % height, width / 8, height / 8)
  }
  const image = await canvas.convertToBlob()
  const { loaded } = globalThis as unknown as Global
  const start = performance.now()
  await loaded.ask(image)
  return performance.now() - start
}

interface Runner {
  name: string
  page: Page
  ms: number[]
  processor: number[]
}
async function start(chromium: Chromium, name: string, load: LoadIn, task: LoadTask): Promise<Runner> {
  const page = await chromium.open(load, task)
  await page.evaluate(() => (globalThis as unknown as Global).loaded.ask())
  return { name, page, ms: [], processor: [] }
}

const { values } = parseArgs({
  options: {
    types: { type: 'string', default: kImageTypes.join(',') },
    threads: { type: 'string', default: [...new Set([1, availableParallelism()])].join(',') },
    rounds: { type: 'string', default: '5' },
    size: { type: 'string', default: '1024x256' },
  },
})
const [width = 0, height = 0] = values.size.split('x').map(Number)

let serial = 0
async function measure({ processorTime }: Chromium, runners: readonly Runner[]): Promise<void> {
  for (let round = 0; round < Number(values.rounds); round++)
    for (const { page, ms, processor } of runners) {
      const before = await processorTime()
      ms.push(await page.evaluate(timed, [++serial, width, height] as const))
      processor.push((await processorTime()) - before)
    }
}

const chromium = await startChromium({ '/models': kModels, '/wllama': kWllama })
console.log(`${machine()}, Chromium ${chromium.version}`)
console.log(`SmolVLM-256M, an image of ${values.size}; milliseconds to the first token.\n`)
console.log('| type, threads | engine | first token | processor | to ggufscope |')
console.log('| --- | --- | --: | --: | --: |')
try {
  for (const type of values.types.split(',')) {
    if (!kImageTypes.includes(type as ImageType)) throw new Error(`There is no type ${type}.`)
    const files = await smolVlmFiles(kModels, type as ImageType)
    const [model, projector] = [files.model, files.projector].map(
      (path) => `${chromium.url}/models/${basename(path)}`,
    )
    for (const threads of values.threads.split(',').map(Number)) {
      const task: LoadTask = {
        url: chromium.url,
        model: model!,
        projector: projector!,
        threads,
        context: kContext,
        question: kQuestion,
      }
      const runners = [
        await start(chromium, 'ggufscope', loadOurs, task),
        await start(chromium, 'wllama 3.13.0', loadWllama, task),
      ]
      await measure(chromium, runners)
      for (const { name, page, ms, processor } of runners) {
        const ratio = median(ms) / median(runners[0]!.ms)
        console.log(
          `| ${type}, ${threads} | ${name} | ${median(ms).toFixed(0)} | ${median(processor).toFixed(0)} | ${ratio.toFixed(2)}x |`,
        )
        await page.close()
      }
    }
  }
} finally {
  await chromium.close()
}
