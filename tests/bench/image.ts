// The time from an image to the first token: SmolVLM-256M in ggufscope and in wllama 3.13.0 (llama.cpp as wasm), both in
// Chromium, and in native llama.cpp's server, on the same synthetic files.
//   npm run bench:image -- --types Q8_0 --threads 1,2 --rounds 5 --size 1024x256
//     --llama-server PROGRAM  llama.cpp's, or a command that ends with it
// wllama computes on the CPU (n_gpu_layers: 0). --save stores the figures for the README.
// The projector enlarges an image to 2048 pixels and cuts it into tiles of 512, and adds one of the whole image: 1024x256
// has 5 tiles. Runs alternate, each with another image. Before them, each model answers a text. Figures are medians: the
// time from the call of chat() to the first token, and the processor time of the browser in it (of native llama.cpp: none).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type * as Engine from 'ggufscope/engine'
import { kImageTypes, smolVlmFiles, type ImageType } from '../fixtures/synthetic-media.ts'
import { startChromium, type Chromium } from './common/chromium.ts'
import { machine, median } from './common/figures.ts'
import { saveResults, type ResultRow } from './common/results.ts'

const kRoot = join(import.meta.dirname, '../..')
const kModels = join(kRoot, 'build/bench-models')
const kWllama = join(kRoot, 'node_modules/wllama-3/esm')
const kQuestion = 'What is it?'
const kContext = 2048
const kNative = 'llama.cpp, native'

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

/** Runs in the page. Returns a PNG, another one for each serial. */
async function draw([serial, width, height]: readonly [number, number, number]): Promise<number[]> {
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d')!
  for (let i = 0; i < 200; i++) {
    const at = serial * 7919 + i * 104_729
    context.fillStyle = `hsl(${at % 360} 70% ${30 + (at % 50)}%)`
    context.fillRect(at % width, (at * 31) % height, width / 8, height / 8)
  }
  return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())]
}
/** Runs in the page. Returns the milliseconds to the first token. */
async function timed(address: string): Promise<number> {
  const image = await (await fetch(address)).blob()
  const { loaded } = globalThis as unknown as Global
  const start = performance.now()
  await loaded.ask(image)
  return performance.now() - start
}

interface Runner {
  name: string
  /** Returns the milliseconds from an image to the first token. */
  run(serial: number): Promise<number>
  close(): Promise<unknown>
  ms: number[]
  processor: number[]
}
async function start(chromium: Chromium, name: string, load: LoadIn, task: LoadTask): Promise<Runner> {
  const page = await chromium.open(load, task)
  await page.evaluate(() => (globalThis as unknown as Global).loaded.ask())
  return {
    name,
    run: async (serial) => page.evaluate(timed, await imageOf(chromium, serial)),
    close: () => page.close(),
    ms: [],
    processor: [],
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}

/** Native llama.cpp's server. The time includes an HTTP request on this machine. */
async function startNative(
  chromium: Chromium,
  command: string,
  paths: string[],
  threads: number,
): Promise<Runner> {
  const port = await freePort()
  const [program = '', ...before] = command.split(' ')
  const [model = '', projector = ''] = paths
  const options = [
    '-m',
    model,
    '--mmproj',
    projector,
    '-t',
    String(threads),
    '-c',
    String(kContext),
    '-np',
    '1',
  ]
  const child = spawn(program, [...before, ...options, '--port', String(port), '--no-warmup'], {
    stdio: 'ignore',
  })
  const url = `http://127.0.0.1:${port}`
  while (
    !(await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`${command} ended with status ${child.exitCode}.`)
    await sleep(100)
  }
  const ask = async (image?: string) => {
    const text = { type: 'text', text: kQuestion }
    const content = image ? [{ type: 'image_url', image_url: { url: image } }, text] : [text]
    const request = {
      max_tokens: 1,
      temperature: 0,
      cache_prompt: false,
      messages: [{ role: 'user', content }],
    }
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(request),
    })
    if (!answer.ok) throw new Error(await answer.text())
    await answer.text()
  }
  await ask()
  return {
    name: kNative,
    async run(serial) {
      const png = Buffer.from(await (await fetch(await imageOf(chromium, serial))).arrayBuffer())
      const start = performance.now()
      await ask(`data:image/png;base64,${png.toString('base64')}`)
      return performance.now() - start
    },
    async close() {
      child.kill()
      await once(child, 'exit')
    },
    ms: [],
    processor: [],
  }
}

const { values } = parseArgs({
  options: {
    types: { type: 'string', default: kImageTypes.join(',') },
    threads: { type: 'string', default: [...new Set([1, availableParallelism()])].join(',') },
    rounds: { type: 'string', default: '5' },
    size: { type: 'string', default: '1024x256' },
    'llama-server': { type: 'string', default: '' },
    save: { type: 'boolean', default: false },
  },
})
const [width = 0, height = 0] = values.size.split('x').map(Number)

/** The address of a new image, drawn in Chromium. */
async function imageOf(chromium: Chromium, serial: number): Promise<string> {
  const page = await chromium.open(async () => {}, undefined)
  const bytes = await page.evaluate(draw, [serial, width, height] as const)
  await page.close()
  return chromium.add(`/image-${serial}.png`, Uint8Array.from(bytes))
}

let serial = 0
const results: ResultRow[] = []
async function measure({ processorTime }: Chromium, runners: readonly Runner[]): Promise<void> {
  for (let round = 0; round < Number(values.rounds); round++)
    for (const { run, ms, processor } of runners) {
      const before = await processorTime()
      ms.push(await run(++serial))
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
      if (values['llama-server']) {
        const paths = [files.model, files.projector]
        runners.push(await startNative(chromium, values['llama-server'], paths, threads))
      }
      await measure(chromium, runners)
      for (const { name, close, ms, processor } of runners) {
        results.push({
          case: `${type}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`,
          contender: name,
          firstToken: median(ms),
          ...(name === kNative ? {} : { processor: median(processor) }),
        })
        const ratio = median(ms) / median(runners[0]!.ms)
        console.log(
          `| ${type}, ${threads} | ${name} | ${median(ms).toFixed(0)} | ${median(processor).toFixed(0)} | ${ratio.toFixed(2)}x |`,
        )
        await close()
      }
    }
  }
  if (values.save) saveResults('image', { chromium: chromium.version }, results)
} finally {
  await chromium.close()
}
