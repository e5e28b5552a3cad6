// Speed of models in Chromium: a prompt (of 128 tokens) and the tokens after it, in ggufscope and in wllama (llama.cpp
// as wasm, on the CPU: n_gpu_layers is 0) 2.3.1 and 3.13.0, on the same synthetic files. "ggufscope in Node" is the package in this process, without a
// figure for memory.
//   npm run bench:engine -- --shapes SmolLM2-135M --types Q4_0,Q8_0 --threads 1,2 --rounds 5 --loads 5 --tokens 32
//   npm run bench:engine -- --shapes SmolLM2-135M --types Q4_0 --threads 1 --prompt 4096 --tokens 32
//   npm run bench:engine -- --shapes SmolLM2-135M --types Q4_0 --threads 1 --depth 4096 --prompt 128 --tokens 32
//   npm run bench:engine -- --shapes SmolLM2-135M --threads 1 --contenders ggufscope,memory64 --rounds 9
//   npm run bench:engine -- --shapes 6GiB --types Q8_0 --threads 2 --contenders ggufscope --rounds 1 --loads 1 --prompt 8 --tokens 4
//   npm run bench:engine -- --shapes stories15M --types Q4_0 --threads 1 --prompt 16384 --warm-up 512 --rounds 1 --loads 1
// memory64: ggufscope with 64-bit memory. --shapes 6GiB needs 12 GB of free memory.
// --save stores the figures for the README.
// --depth: number of tokens before each run's prompt. They are computed before it and not timed. --cache-type: type of
// our KV cache; the others keep f16. Each contender has its own page with the loaded model. Runs alternate (A B C A B
// C), each with another prompt and after a rest. The first run of each, in which it is compiled, is not counted. It has a
// prompt of at most --warm-up tokens; then the memory is that of such a prompt, too.
// Figures are medians. Times are measured outside: from the call to the first piece, and between pieces. Loads
// alternate, too, each into a new page. The table also shows which part of the generation's time reading all weights
// would take, at the rate at which the same page's threads read memory right after it, and how much else the machine
// did meanwhile.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium, type Browser } from '@playwright/test'
import type * as Engine from 'ggufscope/engine'
import {
  characterOf,
  kLargeShape,
  kMixes,
  kShapes,
  promptOf,
  syntheticFile,
  type Mix,
} from '../fixtures/synthetic.ts'
import { startServer } from '../server/server.ts'
import { kBrowser } from '../web/browser.ts'
import { ofProcesses, ticksOf } from './common/browser-processes.ts'
import { machine, median } from './common/figures.ts'
import { saveResults, type ResultRow } from './common/results.ts'

const kRoot = join(import.meta.dirname, '../..')
const kDist = join(kRoot, 'wasm/dist')
/** The minimal context. Prompts and depths may need more. */
const kContext = 256

interface Task {
  /** the text before the prompt, which is computed first; empty: none */
  before: string
  beforeTokens: number[]
  prompt: string
  promptTokens: number[]
  tokens: number
}
/** Milliseconds from the start to each piece. */
type Times = number[]

interface Loaded {
  run(task: Task): Promise<Times>
  /** How often per second memory of the size of the weights can be read. */
  readings?(): Promise<number>
  close?(): void
}
interface Bench {
  loaded: Loaded
}
interface LoadTask {
  /** Address of our engine's module. */
  engine: string
  url: string
  threads: number
  context: number
  cacheType: 'f32' | 'f16' | 'q8_0' | 'q4_0'
  variant: 'memory64' | undefined
}

/** Loads a model in the page or here, and stores the function that runs tasks in globalThis.loaded. */
type LoadIn = (task: LoadTask) => Promise<void>

const loadOurs: LoadIn = async ({ engine, url, threads, context, cacheType, variant }) => {
  const { load } = (await import(engine)) as typeof Engine
  const model = await load(url, { threads, contextLength: context, cacheType, variant })
  if (model.info.threads !== threads) throw new Error(model.info.variantReason)
  const loaded: Loaded = {
    async run({ beforeTokens, promptTokens, tokens }) {
      const times: Times = []
      const options = { maxTokens: tokens, temperature: 0, ignoreEnd: true }
      if (beforeTokens.length > 0)
        for await (const _ of model.generate(beforeTokens, { ...options, maxTokens: 1 })) continue
      const start = performance.now()
      const all = [...beforeTokens, ...promptTokens]
      for await (const _ of model.generate(all, options)) times.push(performance.now() - start)
      return times
    },
    async readings() {
      return (await model.peaks()).dram / model.info.memory.weights
    },
    close() {
      model.close()
    },
  }
  Object.assign(globalThis, { loaded })
}

interface Wllama2 {
  loadModel(blobs: Blob[], options: object): Promise<void>
  createCompletion(prompt: string, options: object): Promise<AsyncIterable<unknown>>
}
const loadWllama2: LoadIn = async ({ url, threads, context }) => {
  const address = new URL('/wllama-2/index.js', location.href).href
  const { Wllama } = (await import(address)) as { Wllama: new (paths: object, config: object) => Wllama2 }
  const paths = Object.fromEntries(
    ['single-thread/wllama.wasm', 'multi-thread/wllama.wasm'].map((path) => [path, `/wllama-2/${path}`]),
  )
  const wllama = new Wllama(paths, { suppressNativeLog: true })
  const blob = await (await fetch(url)).blob()
  await wllama.loadModel([blob], { n_threads: threads, n_ctx: context })
  const loaded: Loaded = {
    async run({ before, prompt, tokens }) {
      const times: Times = []
      const useCache = before !== ''
      const options = { nPredict: tokens, sampling: { temp: 0 }, stream: true, useCache }
      if (useCache)
        for await (const _ of await wllama.createCompletion(before, { ...options, nPredict: 1 })) continue
      const start = performance.now()
      // Reads all pieces, because wllama continues to compute if the loop is left.
      for await (const _ of await wllama.createCompletion(before + prompt, options))
        times.push(performance.now() - start)
      return times
    },
  }
  Object.assign(globalThis, { loaded })
}

interface Wllama3 {
  loadModel(blobs: Blob[], options: object): Promise<void>
  createCompletion(options: object): Promise<AsyncIterable<{ choices: { text: string }[] }>>
}
const loadWllama3: LoadIn = async ({ url, threads, context }) => {
  const address = new URL('/wllama-3/index.js', location.href).href
  const { Wllama } = (await import(address)) as { Wllama: new (paths: object, config: object) => Wllama3 }
  const wllama = new Wllama({ default: '/wllama-3/wasm/wllama.wasm' }, { suppressNativeLog: true })
  const blob = await (await fetch(url)).blob()
  const options = { n_threads: threads, n_ctx: context, n_gpu_layers: 0, n_parallel: 1 }
  await wllama.loadModel([blob], options)
  const loaded: Loaded = {
    async run({ before, prompt, tokens }) {
      const times: Times = []
      const cached = before !== ''
      const request = { temperature: 0, ignore_eos: true, cache_prompt: cached, stream: true }
      if (cached)
        for await (const _ of await wllama.createCompletion({ ...request, prompt: before, max_tokens: 1 }))
          continue
      const start = performance.now()
      const whole = { ...request, prompt: before + prompt, max_tokens: tokens }
      for await (const chunk of await wllama.createCompletion(whole))
        if (chunk.choices[0]?.text) times.push(performance.now() - start)
      return times
    },
  }
  Object.assign(globalThis, { loaded })
}

const kHere = 'ggufscope in Node'
const kMemory64 = 'memory64'
const kContenders: Readonly<Record<string, LoadIn>> = {
  ggufscope: loadOurs,
  [kHere]: loadOurs,
  [kMemory64]: loadOurs,
  'wllama 2.3.1': loadWllama2,
  'wllama 3.13.0': loadWllama3,
}

const kPageBytes = 4096
const kSampleMs = 25
// Meanwhile, the browser cleans up after a closed page, and threads that poll for work go to sleep.
const kRestMs = 500

/** The maximal growth in bytes of the memory of all of the browser's processes, including that of an empty page. */
async function peakMemory(browser: Browser, task: () => Promise<void>): Promise<number> {
  const resident = () =>
    ofProcesses(
      browser,
      (folder) => kPageBytes * Number(readFileSync(`${folder}/statm`, 'utf8').split(' ')[1]),
    )
  const before = await resident()
  let peak = 0
  let done = false
  const watching = (async () => {
    while (!done) {
      peak = Math.max(peak, (await resident()) - before)
      await sleep(kSampleMs)
    }
  })()
  try {
    await task()
  } finally {
    done = true
    await watching
  }
  return peak
}

/** Processor time so far in ticks: all and busy for the machine, and that of the browser's processes. */
async function processorTime(browser: Browser): Promise<{ all: number; busy: number; own: number }> {
  const fields = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]!
    .trim()
    .split(/\s+/)
    .slice(1, 9)
    .map(Number)
  const all = fields.reduce((sum, n) => sum + n, 0)
  const own = await ofProcesses(browser, ticksOf)
  return { all, busy: all - fields[3]! - fields[4]!, own }
}

interface Runner {
  run(task: Task): Promise<Times>
  readings(): Promise<number | undefined>
  close(): Promise<void>
}

interface Result {
  name: string
  loadMs: number[]
  peakBytes: number[]
  prompt: number[]
  generation: number[]
  /** generation's rate relative to the rate at which all weights can be read, measured right after it */
  ofMemory: number[]
}

interface Lengths {
  depth: number
  prompt: number
  tokens: number
}

let serial = 0
function task({ depth, prompt, tokens }: Lengths, vocabulary: number): Task {
  serial++
  const all = promptOf(serial, depth + prompt, vocabulary)
  const textOf = (some: number[]) => some.map(characterOf).join('')
  const [beforeTokens, promptTokens] = [all.slice(0, depth), all.slice(depth)]
  return { before: textOf(beforeTokens), beforeTokens, prompt: textOf(promptTokens), promptTokens, tokens }
}

async function cell(
  browser: Browser,
  url: string,
  path: string,
  vocabulary: number,
  threads: number,
  {
    contenders,
    rounds,
    loads,
    cacheType,
    warmUp,
    ...lengths
  }: {
    contenders: string[]
    rounds: number
    loads: number
    cacheType: LoadTask['cacheType']
    warmUp: number
  } & Lengths,
): Promise<{ results: Result[]; foreign: number }> {
  const { depth, prompt, tokens } = lengths
  const context = Math.max(kContext, depth + prompt + tokens + 8)
  const runners: Runner[] = []
  const results: Result[] = []
  const load = async (name: string): Promise<number> => {
    const page = name === kHere ? undefined : await browser.newPage()
    await page?.goto(`${url}/index.html`)
    const engine =
      page === undefined ? pathToFileURL(join(kDist, 'engine/index.js')).href : `${url}/ours/engine/index.js`
    const variant = name === kMemory64 ? name : undefined
    const given: LoadTask = { engine, url: url + path, threads, context, cacheType, variant }
    const start = performance.now()
    const load = kContenders[name]!
    await (page === undefined ? load(given) : page.evaluate(load, given))
    const ms = performance.now() - start
    const { loaded } = globalThis as unknown as Bench
    runners.push({
      run: (task) =>
        page === undefined
          ? loaded.run(task)
          : page.evaluate((task) => (globalThis as unknown as Bench).loaded.run(task as Task), task),
      readings: async () =>
        page === undefined
          ? loaded.readings?.()
          : page.evaluate(() => (globalThis as unknown as Bench).loaded.readings?.()),
      close: async () => (page === undefined ? loaded.close?.() : page.close()),
    })
    return ms
  }
  /** Loads a contender and computes its first tokens. */
  const begin = async ({ name, loadMs, peakBytes }: Result): Promise<void> => {
    const peak = await peakMemory(browser, async () => {
      loadMs.push(await load(name))
      const short = {
        depth: Math.min(depth, warmUp),
        prompt: Math.min(prompt, warmUp),
        tokens: Math.min(tokens, 8),
      }
      await runners.at(-1)!.run(task(short, vocabulary))
    })
    peakBytes.push(peak)
  }
  try {
    for (const name of contenders) {
      const result: Result = { name, loadMs: [], peakBytes: [], prompt: [], generation: [], ofMemory: [] }
      results.push(result)
      await begin(result)
    }
    const before = await processorTime(browser)
    for (let round = 0; round < rounds; round++) {
      for (const [i, runner] of runners.entries()) {
        await sleep(kRestMs)
        const times = await runner.run(task(lengths, vocabulary))
        if (times.length !== tokens)
          throw new Error(`${results[i]!.name}: ${times.length} pieces of ${tokens}`)
        results[i]!.prompt.push((1000 * prompt) / times[0]!)
        const generation = (1000 * (tokens - 1)) / (times.at(-1)! - times[0]!)
        results[i]!.generation.push(generation)
        const readings = await runner.readings()
        if (readings !== undefined) results[i]!.ofMemory.push(generation / readings)
      }
    }
    const after = await processorTime(browser)
    for (const runner of runners.splice(0)) await runner.close()
    for (let i = 1; i < loads; i++) {
      for (const result of results) {
        await begin(result)
        await runners.pop()!.close()
        await sleep(kRestMs)
      }
    }
    const foreign = (after.busy - before.busy - (after.own - before.own)) / (after.all - before.all)
    return { results, foreign: Math.max(0, foreign) }
  } finally {
    for (const runner of runners) await runner.close()
  }
}

const { values } = parseArgs({
  options: {
    shapes: { type: 'string', default: kShapes.map(({ name }) => name).join(',') },
    types: { type: 'string', default: kMixes.join(',') },
    threads: { type: 'string', default: `1,${availableParallelism()}` },
    contenders: {
      type: 'string',
      default: Object.keys(kContenders)
        .filter((name) => name !== kMemory64)
        .join(','),
    },
    rounds: { type: 'string', default: '5' },
    loads: { type: 'string', default: '5' },
    depth: { type: 'string', default: '0' },
    prompt: { type: 'string', default: '128' },
    'cache-type': { type: 'string', default: 'f16' },
    'warm-up': { type: 'string', default: 'Infinity' },
    tokens: { type: 'string', default: '32' },
    save: { type: 'boolean', default: false },
    // bandwidth of the server; a link of 500 Mbit/s has about 60e6
    bandwidth: { type: 'string', default: 'Infinity' },
  },
})
const kContenderNames = Object.keys(kContenders)
const contenders = values.contenders.split(',').map((name) => {
  const found = kContenderNames.find((known) => known.startsWith(name.trim()))
  if (found === undefined) throw new Error(`${name} is none of ${kContenderNames.join(', ')}`)
  return found
})

const server = await startServer({ isolated: true, cors: false })
server.mount('/ours', kDist)
server.mount('/wllama-2', join(kRoot, 'node_modules/wllama-2/esm'))
server.mount('/wllama-3', join(kRoot, 'node_modules/wllama-3/esm'))
server.mount('/models', join(kRoot, 'build/bench-models'))
server.add('/index.html', '<!doctype html><title>bench</title>')
server.setBandwidth(Number(values.bandwidth))
const browser = await chromium.launch(kBrowser)
// The first page starts processes that all pages share.
await (await browser.newPage()).goto(`${server.url}/index.html`)
console.log(`${machine()}, Chromium ${browser.version()}`)
console.log(
  `Tokens a second: prompt of ${values.prompt}${values.depth === '0' ? '' : ` after ${values.depth} others`} / generation after it. Load: milliseconds until ready, ${values.bandwidth} bytes a second. Memory: MB by which the browser grew at most, until the first tokens were there.`,
)
const peers = contenders.filter((name) => name.startsWith('wllama'))
const saved: ResultRow[] = []
console.log(
  `\n| shape, type, threads | ${contenders.join(' | ')} | to the fastest wllama | load | memory | reading | others' share of the machine |`,
)
console.log(`| --- |${' --: |'.repeat(contenders.length + 5)}`)
try {
  for (const shapeName of values.shapes.split(',')) {
    const shape = [...kShapes, kLargeShape].find(({ name }) => name === shapeName)
    if (!shape) throw new Error(`There is no shape ${shapeName}.`)
    for (const mix of values.types.split(',')) {
      if (!kMixes.includes(mix as Mix)) throw new Error(`There is no mixture ${mix}.`)
      const file = basename(await syntheticFile(join(kRoot, 'build/bench-models'), shape, mix as Mix))
      for (const threads of values.threads.split(',').map(Number)) {
        const { results, foreign } = await cell(
          browser,
          server.url,
          `/models/${file}`,
          shape.vocabulary,
          threads,
          {
            contenders,
            rounds: Number(values.rounds),
            loads: Number(values.loads),
            cacheType: values['cache-type'] as LoadTask['cacheType'],
            warmUp: Number(values['warm-up']),
            depth: Number(values.depth),
            prompt: Number(values.prompt),
            tokens: Number(values.tokens),
          },
        )
        const rate = (name: string, what: 'prompt' | 'generation') =>
          median(results.find((result) => result.name === name)![what])
        for (const { name } of results)
          saved.push({
            case: `${shape.name}, ${mix}, ${threads} ${threads === 1 ? 'thread' : 'threads'}, ${values.prompt} tokens`,
            contender: name,
            prompt: rate(name, 'prompt'),
            generation: rate(name, 'generation'),
          })
        const figures = results.map(({ name }) => [rate(name, 'prompt'), rate(name, 'generation')] as const)
        const fastest = (what: 'prompt' | 'generation') => Math.max(...peers.map((name) => rate(name, what)))
        const ratio = (what: 'prompt' | 'generation') =>
          peers.length > 0 && contenders.includes('ggufscope')
            ? (rate('ggufscope', what) / fastest(what)).toFixed(1)
            : '-'
        console.log(
          `| ${shape.name}, ${mix}, ${threads} | ${figures.map(([prompt, generation]) => `${prompt.toFixed(1)} / ${generation.toFixed(1)}`).join(' | ')} | ${ratio('prompt')}x / ${ratio('generation')}x | ${results.map(({ loadMs }) => median(loadMs).toFixed(0)).join(' / ')} | ${results.map(({ peakBytes }) => (median(peakBytes) / 1e6).toFixed(0)).join(' / ')} | ${results.flatMap(({ ofMemory }) => (ofMemory.length > 0 ? `${(100 * median(ofMemory)).toFixed(0)} %` : [])).join(' / ')} | ${(100 * foreign).toFixed(0)} % |`,
        )
      }
    }
  }
  if (values.save) saveResults('engine', { chromium: browser.version() }, saved)
} finally {
  await browser.close()
  await server.close()
}
