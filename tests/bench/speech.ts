// Whisper base on 30 s of audio: ggufscope in Chromium and in Node, whisper.cpp as wasm, and native whisper.cpp, on the
// same synthetic files. Each transcribes the window with one sequence and no second temperature.
//   npm run bench:speech -- --types Q8_0,Q5_0 --threads 1,2 --rounds 5
//     --peers FOLDER          after npm install --prefix FOLDER @remotion/whisper-web@4.0.529
//     --save                  stores the figures for the README
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
import { saveResults, type ResultRow } from './common/results.ts'

const kRoot = join(import.meta.dirname, '../..')
const kModels = join(kRoot, 'build/bench-models')
const kSeconds = 30
const kPeer = '@remotion/whisper-web'

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
  /** ms: the time of the window, if the call does more than that */
  transcribe(): Promise<{ text: string; ms?: number }>
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
  const model = await load<Engine.SpeechModel>(url, { threads })
  const sound = new Uint8Array(await (await fetch(audio)).arrayBuffer())
  const loaded: Loaded = {
    transcribe: async () => ({
      text: (await model.transcribe(sound, { language: 'en', temperatureStep: 0 })).text,
    }),
    encode: () => model.encode(sound),
    close: () => model.close(),
  }
  Object.assign(globalThis, { loaded })
}

interface WhisperWeb {
  FS_createDataFile(folder: string, name: string, bytes: Uint8Array, read: boolean, write: boolean): void
  full_default(
    file: string,
    samples: Float32Array,
    model: string,
    language: string,
    threads: number,
    translate: boolean,
  ): void
}
/** @remotion/whisper-web: whisper.cpp as wasm, with its SIMD kernels. Calls its module as its own transcribe() does. */
const loadWhisperWeb: LoadIn = async ({ module, model, audio, threads }) => {
  const { default: create } = (await import(module)) as { default: (options: object) => Promise<WhisperWeb> }
  const bytesOf = async (url: string) => new Uint8Array(await (await fetch(url)).arrayBuffer())
  const wav = await bytesOf(audio)
  const samples = Float32Array.from(new Int16Array(wav.buffer, 44), (x) => x / 32768)
  const bytes = await bytesOf(model)
  let onLine = (_: string): void => {}
  let whisper: WhisperWeb
  const loaded: Loaded = {
    // Each of its transcriptions creates a module and loads the model.
    async prepare() {
      const print = (line: string) => onLine(line)
      whisper = await create({ print, printErr: print })
      whisper.FS_createDataFile('/', 'base.bin', bytes, true, true)
    },
    async transcribe() {
      // It reports progress 0 when the model is loaded, so loading is not counted.
      let start = performance.now()
      const result = await new Promise<string>((resolve) => {
        onLine = (line) => {
          if (line.startsWith('remotion_progress:0')) start = performance.now()
          if (line.startsWith('remotion_final:')) resolve(line.slice('remotion_final:'.length))
        }
        whisper.full_default('base.bin', samples, 'base', 'en', threads, false)
      })
      const { transcription } = JSON.parse(result) as { transcription: { text: string }[] }
      return { text: transcription.map(({ text }) => text).join(''), ms: performance.now() - start }
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
  const { text, ms = performance.now() - began } = await loaded.transcribe()
  const window = ms
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
    save: { type: 'boolean', default: false },
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
    const peer = { ...task, module: `${url}/peers/main.js` }
    list.push(await inChromium(chromium, kPeer, loadWhisperWeb, peer))
  }
  if (values['whisper-cli']) list.push(native(values['whisper-cli'], path, audio, threads))
  return list
}

const results: ResultRow[] = []
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
    // The peer does not say how long its encoder takes.
    const kinds = (['window', 'encode', 'processor'] as const).filter(
      (what) => !Number.isNaN(figure(name, what)),
    )
    const ms = Object.fromEntries(kinds.map((what) => [what, figure(name, what)]))
    results.push({ case: title, contender: name, ...ms })
    const figures = (['window', 'encode', 'processor'] as const).map((what) => ms[what]?.toFixed(0) ?? '')
    const ratio = (figure(name, 'window') / figure('ggufscope', 'window')).toFixed(2)
    console.log(`| ${title} | ${name} | ${figures.join(' | ')} | ${ratio}x |`)
  }
}

function versions(): Record<string, string> {
  const list: Record<string, string> = { chromium: chromium.version }
  if (values.peers) {
    const file = join(values.peers, 'node_modules', kPeer, 'package.json')
    list[kPeer] = (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
  }
  if (values['whisper-cli']) {
    const [program = '', ...before] = values['whisper-cli'].split(' ')
    const { stdout, stderr } = spawnSync(program, [...before, '--version'], { encoding: 'utf8' })
    list['whisper.cpp'] = /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] ?? 'unknown'
  }
  return list
}

const chromium = await startChromium({
  '/models': kModels,
  ...(values.peers && { '/peers': join(values.peers, 'node_modules/@remotion/whisper-web') }),
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
        await compare(list, `${type}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`)
      } finally {
        for (const contender of list) await contender.close()
      }
    }
  }
  if (values.save) saveResults('speech', versions(), results)
} finally {
  await chromium.close()
}
process.exit()
