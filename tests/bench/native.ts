// Compares the engine in Node with native llama.cpp on the same synthetic files: a prompt (of 128 tokens), and the tokens
// after it.
//   npm run bench:native -- --llama-bench /usr/bin/llama-bench --types Q4_0,F16 --threads 1,2 --rounds 5 --tokens 32
//   npm run bench:native -- --llama-bench /usr/bin/llama-bench --types Q4_0 --threads 1 --prompts 512,4096 --rounds 3
// --llama-bench, or LLAMA_BENCH: llama.cpp's program of that name, or a command that ends with it. It selects the code
// for this CPU like llama.cpp. The versions are printed above the table. Runs of both alternate, with the same number
// of threads and an F16 cache. Figures are medians. llama-bench times each test after a warm-up run; our first run is
// not counted either. The time of a prompt is measured from the call to the first token.
import { execFileSync } from 'node:child_process'
import { openAsBlob } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { load, type Model } from 'ggufscope/engine'
import { kMixes, kShapes, promptOf, syntheticFile, type Mix } from '../fixtures/synthetic.ts'
import { machine, median } from './common/figures.ts'

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
  backends: string
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

let isTitled = false
function title({ build_number, backends }: Test): void {
  if (isTitled) return
  isTitled = true
  console.log(`${machine()}, Node ${process.versions.node}, llama.cpp build ${build_number} (${backends})`)
  console.log('Tokens a second: prompt / generation after it. MB: memory of our model with its cache.\n')
  console.log('| shape, type, threads | prompt | ggufscope | llama.cpp | ratio | MB |')
  console.log('| --- | --: | --: | --: | --: | --: |')
}

async function compare(path: string, name: string, threads: number, length: number): Promise<void> {
  const theirs: Rates = { prompt: [], generation: [] }
  const mine: Rates = { prompt: [], generation: [] }
  const contextLength = Math.max(256, length + 2 * tokens)
  using model = await load(await openAsBlob(path), { threads, contextLength })
  await ours(model, length)
  for (let round = 0; round < rounds; round++) {
    const test = native(path, threads, length, 0, 0)
    title(test)
    theirs.prompt.push(test.avg_ts)
    theirs.generation.push(native(path, threads, 0, tokens - 1, length).avg_ts)
    const run = await ours(model, length)
    mine.prompt.push(run.prompt)
    mine.generation.push(run.generation)
  }
  const ratio = (what: keyof Rates) => (median(mine[what]) / median(theirs[what])).toFixed(2)
  const megabytes = (model.info.memory.total / 1e6).toFixed(0)
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
