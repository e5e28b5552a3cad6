// Pocket TTS, about 100 million parameters with random weights: how fast it speaks, in Chromium and in Node.
//   npm run bench -- speak -- --types Q8_0,F16 --threads 1,2 --rounds 5 --save
// Runs alternate, and the first of each is not counted. Figures are medians of milliseconds: of computing for a second of
// speech (below 1000 is faster than real time), until the first samples, and the longest time from an abort to its error.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type * as Engine from 'ggufscope/engine'
import { pocketFiles, type SpeechMix } from '../fixtures/synthetic-speech.ts'
import { measure, type Case, type Task } from './common/page-and-node.ts'

const prepare = async ({ module, files, threads }: Task): Promise<void> => {
  const { load } = (await import(module)) as typeof Engine
  const model = await load(files[0]!, { projector: files[1]!, threads })
  const sentence = 'the owl sleeps by day and wakes at night to hunt for mice in the old barn'
  const abortAfter = async (delay: number): Promise<number> => {
    const controller = new AbortController()
    let at = 0
    setTimeout(() => {
      at = performance.now()
      controller.abort()
    }, delay)
    try {
      for await (const _ of model.speak(sentence, { seed: 1, signal: controller.signal })) continue
    } catch {
      return performance.now() - at
    }
    return 0 // it had ended before
  }
  const run = async () => {
    const start = performance.now()
    let [first, seconds] = [0, 0]
    for await (const { samples, sampleRate } of model.speak(sentence, { seed: 1 })) {
      first ||= performance.now() - start
      seconds += samples.length / sampleRate
    }
    const perSecond = (performance.now() - start) / seconds
    let abort = 0
    for (let i = 0; i < 5; i++) abort = Math.max(abort, await abortAfter(first * (0.2 + 0.3 * i)))
    return { perSecond, first, abort }
  }
  Object.assign(globalThis, { run, close: () => model.close() })
}

const { values } = parseArgs({
  options: {
    types: { type: 'string', default: 'Q8_0,F16' },
    threads: { type: 'string', default: [...new Set([1, availableParallelism()])].join(',') },
    rounds: { type: 'string', default: '5' },
    save: { type: 'boolean', default: false },
  },
})
const cases: Case[] = []
for (const type of values.types.split(',') as SpeechMix[]) {
  const { model, projector } = await pocketFiles(join(import.meta.dirname, '../../build/bench-models'), type)
  for (const threads of values.threads.split(',').map(Number))
    cases.push({ title: `${type}, threads: ${threads}`, files: [model, projector], threads })
}
await measure(cases, {
  name: 'speak',
  prepare,
  worst: ['abort'],
  rounds: Number(values.rounds),
  save: values.save,
})
process.exit()
