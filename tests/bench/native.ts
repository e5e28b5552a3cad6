// Compares the engine in Node with native llama.cpp on the same synthetic files: a prompt (of 128 tokens), and the tokens
// after it.
//   npm run bench:native -- --llama-bench /usr/bin/llama-bench --types Q4_0,F16 --threads 1,2 --rounds 5 --tokens 32
//   npm run bench:native -- --llama-bench /usr/bin/llama-bench --types Q4_0 --threads 1 --prompts 512,4096 --rounds 3
// --llama-bench, or LLAMA_BENCH: llama.cpp's program of that name, or a command that ends with it. It selects the code
// for this CPU like llama.cpp. The versions are printed above the table. Runs of both alternate, with the same number
// of threads and an F16 cache. Figures are medians. llama-bench times each test after a warm-up run; our first run is
// not counted either. The time of a prompt is measured from the call to the first token. --shapes 0.43B has rows that are
// multiples of 256, so its K-quants are K-quants; SmolLM2-135M's fall back to other types. --save stores the figures for
// the README.
import { execFileSync, spawnSync } from 'node:child_process'
import { openAsBlob } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { load, type Model } from 'ggufscope/engine'
import { kMixes, kShapes, promptOf, syntheticFile, type Mix } from '../fixtures/synthetic.ts'
import { machine, median } from './common/figures.ts'
import { saveResults, type ResultRow } from './common/results.ts'

const kModels = join(import.meta.dirname, '../../build/bench-models')

interface Rates {
  prompt: number[]
  generation: number[]
}

const { values } = parseArgs({
  options: {
    'llama-bench': { type: 'string', default: process.env['LLAMA_BENCH'] ?? '' },
    shapes: { type: 'string', default: 'SmolLM2-135M' },
    types: { type: 'string', default: kMixes.join(',') },
    threads: { type: 'string', default: [...new Set([1, availableParallelism()])].join(',') },
    rounds: { type: 'string', default: '5' },
    tokens: { type: 'string', default: '32' },
    prompts: { type: 'string', default: '128' },
    save: { type: 'boolean', default: false },
  },
})
const [program = '', ...before] = values['llama-bench'].split(' ')
if (program === '') {
  console.log(
    'native: skipped. It needs llama.cpp: --llama-bench PATH (or LLAMA_BENCH=PATH) of its llama-bench.',
  )
  process.exit()
}
const rounds = Number(values.rounds)
const tokens = Number(values.tokens)

/** llama-bench's result for one test. */
interface Test {
  build_number: number
  avg_ts: number
}
function native(path: string, threads: number, prompt: number, generated: number, depth: number): Test {
  const numbers = { '-p': prompt, '-n': generated, '-d': depth, '-t': threads, '-r': 1 }
  const options = Object.entries(numbers).flatMap(([name, value]) => [name, String(value)])
  const out = execFileSync(program, [...before, '-m', path, ...options, '-o', 'json'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [test] = JSON.parse(out) as Test[]
  if (!test) throw new Error('llama-bench says nothing.')
  return test
}

let serial = 0
async function ours(model: Model, length: number): Promise<{ prompt: number; generation: number }> {
  serial++
  const prompt = promptOf(serial, length, model.info.vocabularySize)
  const times: number[] = []
  const start = performance.now()
  for await (const _ of model.generate(prompt, { maxTokens: tokens, temperature: 0, ignoreEnd: true }))
    times.push(performance.now() - start)
  if (times.length !== tokens) throw new Error(`${times.length} pieces of ${tokens}`)
  return {
    prompt: (1000 * length) / times[0]!,
    generation: (1000 * (tokens - 1)) / (times.at(-1)! - times[0]!),
  }
}

const shown = ({ prompt, generation }: Rates) =>
  `${median(prompt).toFixed(1)} / ${median(generation).toFixed(1)}`

/** The library with code for this CPU that llama.cpp selects, such as "cpu-zen4". Its program names it only when it loads it. */
function codePath(path: string): string {
  const options = ['-m', path, '-p', '1', '-n', '0', '-r', '1', '-v']
  const { stderr, stdout } = spawnSync(program, [...before, ...options], { encoding: 'utf8' })
  return /libggml-(cpu[\w-]*)\.so/.exec(stderr + stdout)?.[1] ?? 'cpu'
}

let versions: Record<string, string> | undefined
function title({ build_number }: Test, path: string): void {
  if (versions) return
  versions = { 'llama.cpp': `build ${build_number}, ${codePath(path)}` }
  console.log(`${machine()}, Node ${process.versions.node}, llama.cpp ${versions['llama.cpp']}`)
  console.log('Tokens a second: prompt / generation after it. MB: memory of our model with its cache.\n')
  console.log('| shape, type, threads | prompt | ggufscope | llama.cpp | ratio | MB |')
  console.log('| --- | --: | --: | --: | --: | --: |')
}

const results: ResultRow[] = []
async function compare(path: string, name: string, threads: number, length: number): Promise<void> {
  const theirs: Rates = { prompt: [], generation: [] }
  const mine: Rates = { prompt: [], generation: [] }
  const contextLength = Math.max(256, length + 2 * tokens)
  using model = await load(await openAsBlob(path), { threads, contextLength })
  await ours(model, length)
  for (let round = 0; round < rounds; round++) {
    const test = native(path, threads, length, 0, 0)
    title(test, path)
    theirs.prompt.push(test.avg_ts)
    theirs.generation.push(native(path, threads, 0, tokens - 1, length).avg_ts)
    const run = await ours(model, length)
    mine.prompt.push(run.prompt)
    mine.generation.push(run.generation)
  }
  const ratio = (what: keyof Rates) => (median(mine[what]) / median(theirs[what])).toFixed(2)
  const megabytes = (model.info.memory.total / 1e6).toFixed(0)
  const row = { case: `${name}, ${threads} ${threads === 1 ? 'thread' : 'threads'}, ${length} tokens` }
  for (const [contender, rates] of [
    ['ggufscope', mine],
    ['llama.cpp', theirs],
  ] as const)
    results.push({ ...row, contender, prompt: median(rates.prompt), generation: median(rates.generation) })
  console.log(
    `| ${name}, ${threads} | ${length} | ${shown(mine)} | ${shown(theirs)} | ${ratio('prompt')}x / ${ratio('generation')}x | ${megabytes} |`,
  )
}

for (const shapeName of values.shapes.split(',')) {
  const shape = kShapes.find(({ name }) => name === shapeName)
  if (!shape) throw new Error(`There is no shape ${shapeName}.`)
  for (const mix of values.types.split(',')) {
    if (!kMixes.includes(mix as Mix)) throw new Error(`There is no mixture ${mix}.`)
    const path = await syntheticFile(kModels, shape, mix as Mix)
    for (const threads of values.threads.split(',').map(Number))
      for (const length of values.prompts.split(',').map(Number))
        await compare(path, `${shape.name}, ${mix}`, threads, length)
  }
}
if (values.save) saveResults('native', versions ?? {}, results)
