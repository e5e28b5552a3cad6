// Pocket TTS, about 100 million parameters with random weights: how fast it speaks, in Chromium and in Node.
//   npm run bench -- speak -- --types Q8_0,F16 --threads 1,2 --rounds 5 --save
// Runs alternate, and the first of each is not counted. Figures are medians: milliseconds of computing for a second of
// speech (below 1000 is faster than real time), and until the first samples; the longest time from an abort to its error.
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type * as Engine from 'ggufscope/engine'
import { pocketFiles, type SpeechMix } from '../fixtures/synthetic-speech.ts'
import { startChromium } from './common/chromium.ts'
import { machine, median } from './common/figures.ts'
import { saveResults, type ResultRow } from './common/results.ts'

const kModels = join(import.meta.dirname, '../../build/bench-models')
/** A sentence whose speech has several parts. */
const kText = 'the owl sleeps by day and wakes at night to hunt for mice in the old barn'
const kAborts = 5

/** Milliseconds. */
interface Run {
  perSecond: number
  first: number
  abort: number
}
interface Loaded {
  run(): Promise<Run>
  close(): void
}
interface Task {
  /** Address of the engine's module. */
  module: string
  model: string
  projector: string
  threads: number
  text: string
  aborts: number
}
interface Global {
  loaded: Loaded
}

/** Runs in the page or here. */
const load = async ({ module, model: url, projector, threads, text, aborts }: Task): Promise<void> => {
  const engine = (await import(module)) as typeof Engine
  const model = await engine.load(url, { projector, threads })
  const abortAfter = async (ms: number): Promise<number> => {
    const controller = new AbortController()
    let at = 0
    setTimeout(() => {
      at = performance.now()
      controller.abort()
    }, ms)
    try {
      for await (const _ of model.speak(text, { seed: 1, signal: controller.signal })) continue
    } catch {
      return performance.now() - at
    }
    return 0 // it had ended before
  }
  const run = async (): Promise<Run> => {
    const start = performance.now()
    let first = 0
    let seconds = 0
    for await (const { samples, sampleRate } of model.speak(text, { seed: 1 })) {
      first ||= performance.now() - start
      seconds += samples.length / sampleRate
    }
    const perSecond = (performance.now() - start) / seconds
    let abort = 0
    for (let i = 0; i < aborts; i++) abort = Math.max(abort, await abortAfter(first * (0.2 + 0.3 * i)))
    return { perSecond, first, abort }
  }
  Object.assign(globalThis, { loaded: { run, close: () => model.close() } satisfies Loaded })
}

const { values } = parseArgs({
  options: {
    types: { type: 'string', default: 'Q8_0,F16' },
    threads: { type: 'string', default: [...new Set([1, availableParallelism()])].join(',') },
    rounds: { type: 'string', default: '5' },
    save: { type: 'boolean', default: false },
  },
})

const chromium = await startChromium({ '/models': kModels })
console.log(`${machine()}, Chromium ${chromium.version}, Node ${process.versions.node}`)
console.log('| type, threads | where | ms for a second of speech | first samples | longest abort |')
console.log('| --- | --- | --: | --: | --: |')
const rows: ResultRow[] = []
try {
  for (const type of values.types.split(',') as SpeechMix[]) {
    const files = await pocketFiles(kModels, type)
    for (const threads of values.threads.split(',').map(Number)) {
      const at = (path: string) => `${chromium.url}/models/${basename(path)}`
      const task: Task = {
        module: `${chromium.url}/ours/engine/index.js`,
        model: at(files.model),
        projector: at(files.projector),
        threads,
        text: kText,
        aborts: kAborts,
      }
      const page = await chromium.open(load, task)
      const here = pathToFileURL(join(import.meta.dirname, '../../wasm/dist/engine/index.js')).href
      await load({ ...task, module: here })
      const { loaded } = globalThis as unknown as Global
      const contenders = {
        Chromium: () => page.evaluate(() => (globalThis as unknown as Global).loaded.run()),
        Node: () => loaded.run(),
      }
      const runs: Record<string, Run[]> = { Chromium: [], Node: [] }
      for (let round = 0; round <= Number(values.rounds); round++)
        for (const [name, run] of Object.entries(contenders)) {
          const result = await run()
          if (round > 0) runs[name]!.push(result)
        }
      const title = `${type}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`
      for (const [contender, list] of Object.entries(runs)) {
        const perSecond = median(list.map((run) => run.perSecond))
        const first = median(list.map((run) => run.first))
        const abort = Math.max(...list.map((run) => run.abort))
        rows.push({ case: title, contender, perSecond, first, abort })
        const figures = [perSecond, first, abort].map((ms) => ms.toFixed(0))
        console.log(`| ${title} | ${contender} | ${figures.join(' | ')} |`)
      }
      loaded.close()
      await page.close()
    }
  }
  if (values.save) saveResults('speak', { chromium: chromium.version }, rows)
} finally {
  await chromium.close()
}
process.exit()
