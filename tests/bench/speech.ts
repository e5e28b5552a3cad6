// Whisper base on 30 s of audio: ggufscope in Chromium and in Node, transcribe.js (whisper.cpp as wasm), and native
// whisper.cpp, on the same synthetic files. Each transcribes the window with one sequence and no second temperature.
//   npm run bench:speech -- --types Q8_0,Q5_0 --threads 1,2 --rounds 5
//     --peers FOLDER          after npm install --prefix FOLDER @transcribe/shout@1.0.7
//     --whisper-cli PROGRAM   whisper.cpp's, or WHISPER_CLI=PROGRAM
// Runs alternate (A B C A B C), and the first of each is not counted. Figures are medians: the time of the window (log-mel
// spectrogram, encoder, 100 tokens), of it spectrogram and encoder, and the processor time of all threads. The
// processor time of whisper.cpp includes the load of the model.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type * as Engine from 'ggufscope/engine'
import { kWhisperTokens, kWhisperTypes, whisperFile, type WhisperType } from '../fixtures/synthetic-media.ts'
import { startChromium, type Chromium } from './common/chromium.ts'
import { machine, median } from './common/figures.ts'

const kRoot = join(import.meta.dirname, '../..')
const kModels = join(kRoot, 'build/bench-models')
const kSeconds = 30

/** Milliseconds. */
interface Run {
  text: string
  window: number
  /** of it, spectrogram and encoder */
  encode?: number
  processor: number
}
interface Loaded {
  /** Runs before each run, and is not timed. */
  prepare?(): Promise<void>
  /** Returns the text. */
  transcribe(): Promise<string>
  encode?(): Promise<unknown>
  close?(): void
}
interface LoadTask {
  /** Address of the engine's module. */
  module: string
  model: string
  audio: string
  threads: number
}
type LoadIn = (task: LoadTask) => Promise<void>

const loadOurs: LoadIn = async ({ module, model: url, audio, threads }) => {
  const { load } = (await import(module)) as typeof Engine
  const model = await load(url, { threads })
  const sound = new Uint8Array(await (await fetch(audio)).arrayBuffer())
  const loaded: Loaded = {
    transcribe: async () => (await model.transcribe(sound, { language: 'en', temperatureStep: 0 })).text,
    encode: () => model.encode(sound),
    close: () => model.close(),
  }
  Object.assign(globalThis, { loaded })
}

interface Shout {
  FS_createDataFile(folder: string, name: string, bytes: Uint8Array, read: boolean, write: boolean): void
  init(file: string, alignment: string): void
  transcribe(samples: Float32Array, language: string, threads: number, ...rest: (boolean | number)[]): void
}
const loadShout: LoadIn = async ({ module, model, audio, threads }) => {
  const { default: create } = (await import(module)) as { default: (options: object) => Promise<Shout> }
  const bytesOf = async (url: string) => new Uint8Array(await (await fetch(url)).arrayBuffer())
  const wav = await bytesOf(audio)
  const samples = Float32Array.from(new Int16Array(wav.buffer, 44), (x) => x / 32768)
  const bytes = await bytesOf(model)
  let done = (): void => {}
  let text = ''
  let shout: Shout
  const loaded: Loaded = {
    // A second run in the same module did not end.
    async prepare() {
      shout = await create({
        print() {},
        printErr() {},
        onNewSegment: ({ segment }: { segment: { text: string } }) => void (text += segment.text),
        onTranscribed: () => done(),
      })
      shout.FS_createDataFile('/', 'model.bin', bytes, true, true)
      shout.init('model.bin', '')
    },
    async transcribe() {
      text = ''
      await new Promise<void>((resolve) => {
        done = resolve
        shout.transcribe(samples, 'en', threads, false, 0, false, false, false)
      })
      return text
    },
  }
  Object.assign(globalThis, { loaded })
}

interface Contender {
  name: string
  run(): Promise<Run>
  close(): Promise<unknown>
}
interface Global {
  loaded: Loaded
}

async function timed(loaded: Loaded, processorTime: () => Promise<number>): Promise<Run> {
  await loaded.prepare?.()
  const start = performance.now()
  await loaded.encode?.()
  const encode = loaded.encode && performance.now() - start
  const before = await processorTime()
  const began = performance.now()
  const text = await loaded.transcribe()
  const window = performance.now() - began
  const processor = (await processorTime()) - before
  return { text, window, processor, ...(encode === undefined ? {} : { encode }) }
}

async function inChromium(
  chromium: Chromium,
  name: string,
  load: LoadIn,
  task: LoadTask,
): Promise<Contender> {
  const page = await chromium.open(load, task)
  const loaded: Loaded = {
    prepare: () => page.evaluate(() => (globalThis as unknown as Global).loaded.prepare?.()),
    transcribe: () => page.evaluate(() => (globalThis as unknown as Global).loaded.transcribe()),
  }
  if (await page.evaluate(() => 'encode' in (globalThis as unknown as Global).loaded))
    loaded.encode = () =>
      page.evaluate(async () => void (await (globalThis as unknown as Global).loaded.encode?.()))
  return {
    name,
    run: () => timed(loaded, chromium.processorTime),
    close: () => page.close(),
  }
}

async function inNode(task: LoadTask): Promise<Contender> {
  await loadOurs(task)
  const { loaded } = globalThis as unknown as Global
  const processorTime = async () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  return {
    name: 'ggufscope in Node',
    run: () => timed(loaded, processorTime),
    close: async () => loaded.close?.(),
  }
}

/** Whisper.cpp prints a line for each part of the work. */
function native(program: string, model: string, audio: string, threads: number): Contender {
  const greedy = ['-l', 'en', '-bs', '1', '-bo', '1', '-nf']
  const args = [...program.split(' '), '-m', model, '-f', audio, '-t', String(threads), ...greedy]
  return {
    name: 'whisper.cpp',
    async run() {
      // Node does not tell the processor time of other processes.
      const timed = ['-c', 'TIMEFORMAT="processor %U %S"; time "$@"', '_', ...args]
      const { stdout, stderr } = spawnSync('bash', timed, { encoding: 'utf8' })
      const part = (name: string) => {
        const found = new RegExp(`${name} time = *([\\d.]+) ms`).exec(stderr)
        if (!found) throw new Error(stderr)
        return Number(found[1])
      }
      const encode = part('mel') + part('encode')
      const rest = ['sample', 'decode', 'batchd', 'prompt'].reduce((sum, name) => sum + part(name), 0)
      const [, user, system] = /processor ([\d.]+) ([\d.]+)/.exec(stderr)!
      return {
        text: stdout.replaceAll(/\[.*?\]/g, ''),
        encode,
        window: encode + rest,
        processor: 1000 * (Number(user) + Number(system)),
      }
    },
    async close() {},
  }
}

/** Half a minute of the commands. */
function writeAudio(path: string): void {
  const commands = readFileSync(join(kRoot, 'tests/fixtures/commands.wav'))
  const bytes = Buffer.alloc(44 + kSeconds * 32000)
  for (let at = 44; at < bytes.length; at += commands.length - 44) commands.copy(bytes, at, 44)
  commands.copy(bytes, 0, 0, 44)
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.writeUInt32LE(bytes.length - 44, 40)
  writeFileSync(path, bytes)
}

const { values } = parseArgs({
  options: {
    types: { type: 'string', default: 'Q8_0,Q5_0' },
    threads: { type: 'string', default: [...new Set([1, availableParallelism()])].join(',') },
    rounds: { type: 'string', default: '5' },
    peers: { type: 'string', default: '' },
    'whisper-cli': { type: 'string', default: process.env['WHISPER_CLI'] ?? '' },
  },
})

async function contenders(chromium: Chromium, path: string, threads: number) {
  const { url } = chromium
  const audio = join(kModels, 'audio.wav')
  const [model, sound] = [`${url}/models/${basename(path)}`, `${url}/models/audio.wav`]
  const task = { module: `${url}/ours/engine/index.js`, model, audio: sound, threads }
  const here = pathToFileURL(join(kRoot, 'wasm/dist/engine/index.js')).href
  const list = [
    await inChromium(chromium, 'ggufscope', loadOurs, task),
    await inNode({ ...task, module: here }),
  ]
  if (values.peers) {
    const shout = { ...task, module: `${url}/peers/index.js` }
    list.push(await inChromium(chromium, 'transcribe.js', loadShout, shout))
  }
  if (values['whisper-cli']) list.push(native(values['whisper-cli'], path, audio, threads))
  return list
}

async function compare(list: readonly Contender[], title: string): Promise<void> {
  const runs = new Map(list.map(({ name }) => [name, [] as Run[]]))
  for (let round = 0; round <= Number(values.rounds); round++)
    for (const { name, run } of list) {
      const result = await run()
      const words = result.text.trim().split(/\s+/).length
      if (words !== kWhisperTokens) throw new Error(`${name}: ${words} tokens, not ${kWhisperTokens}`)
      if (round > 0) runs.get(name)!.push(result)
    }
  const figure = (name: string, what: 'window' | 'encode' | 'processor') =>
    median(runs.get(name)!.map((run) => run[what] ?? NaN))
  for (const { name } of list) {
    // transcribe.js does not say how long its encoder takes.
    const figures = (['window', 'encode', 'processor'] as const)
      .map((what) => figure(name, what))
      .map((ms) => (Number.isNaN(ms) ? '' : ms.toFixed(0)))
    const ratio = (figure(name, 'window') / figure('ggufscope', 'window')).toFixed(2)
    console.log(`| ${title} | ${name} | ${figures.join(' | ')} | ${ratio}x |`)
  }
}

const chromium = await startChromium({
  '/models': kModels,
  ...(values.peers && { '/peers': join(values.peers, 'node_modules/@transcribe/shout') }),
})
console.log(`${machine()}, Chromium ${chromium.version}, Node ${process.versions.node}`)
console.log(`Whisper base, ${kSeconds} s of audio, ${kWhisperTokens} tokens; milliseconds.\n`)
console.log('| type, threads | engine | window | of it, encoder | processor | to ggufscope |')
console.log('| --- | --- | --: | --: | --: | --: |')
try {
  for (const type of values.types.split(',')) {
    if (!(type in kWhisperTypes)) throw new Error(`There is no type ${type}.`)
    const path = await whisperFile(kModels, type as WhisperType)
    writeAudio(join(kModels, 'audio.wav'))
    for (const threads of values.threads.split(',').map(Number)) {
      const list = await contenders(chromium, path, threads)
      try {
        await compare(list, `${type}, ${threads}`)
      } finally {
        for (const contender of list) await contender.close()
      }
    }
  }
} finally {
  await chromium.close()
}
process.exit()
