// A decision by a model in the shape of SmolLM2-135M with random weights: the time until the probabilities are there, in
// Chromium and in Node.
//   npm run bench -- decide -- --types Q8_0,Q4_0 --threads 1,2 --rounds 5 --save
// Runs alternate, and the first of each is not counted. Figures are medians of milliseconds, for a state of about 100 tokens
// that the cache does not have, and for one of about 400.
import { existsSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { open } from 'ggufscope/node'
import type * as Engine from 'ggufscope/engine'
import { kShapes, syntheticFile, type Mix } from '../fixtures/synthetic.ts'
import { measure, type Case, type Task } from './common/page-and-node.ts'

const kModels = join(import.meta.dirname, '../../build/bench-models')
const kTemplate = `{{ state }}{% for o in options %}{{ o.label }}{% endfor %}`

/** The synthetic model with labels in its vocabulary, and with the keys of a decision model. */
async function deciderFile(type: Mix): Promise<string> {
  const path = join(kModels, `decider-${type}.gguf`)
  if (existsSync(path)) return path
  const shape = kShapes.find(({ name }) => name === 'SmolLM2-135M')!
  using file = await open(await syntheticFile(kModels, shape, type))
  const builder = await file.edit()
  const tokens = [...(file.metadata.get('tokenizer.ggml.tokens') as Iterable<string>)]
  builder.set('tokenizer.ggml.tokens', [...tokens.slice(0, -3), 'A', 'B', 'C'])
  builder.set('llama.decision.type', 'pplx-decider')
  builder.set('tokenizer.chat_template.systemone', kTemplate)
  writeFileSync(path, await (await builder.build()).bytes())
  return path
}

const prepare = async ({ module, files, threads }: Task): Promise<void> => {
  const { load } = (await import(module)) as typeof Engine
  const model = await load(files[0]!, { threads, contextLength: 1024 })
  const { tokenizer } = model
  let serial = 0
  /** Milliseconds for a state of n tokens that differs from those before it at its first token. */
  const decide = async (n: number): Promise<number> => {
    const first = tokenizer.decode([1000 + ++serial])
    const state = first + tokenizer.decode(Array.from({ length: n - 1 }, (_, i) => 2000 + i))
    const start = performance.now()
    await model.decide({
      state,
      type: 'choice',
      instructions: 'which',
      criteria: { x: null, y: null, z: null },
    })
    return performance.now() - start
  }
  const run = async () => ({ tokens100: await decide(100), tokens400: await decide(400) })
  Object.assign(globalThis, { run, close: () => model.close() })
}

const { values } = parseArgs({
  options: {
    types: { type: 'string', default: 'Q8_0,Q4_0' },
    threads: { type: 'string', default: [...new Set([1, availableParallelism()])].join(',') },
    rounds: { type: 'string', default: '5' },
    save: { type: 'boolean', default: false },
  },
})
const cases: Case[] = []
for (const type of values.types.split(',') as Mix[])
  for (const threads of values.threads.split(',').map(Number))
    cases.push({ title: `${type}, threads: ${threads}`, files: [await deciderFile(type)], threads })
await measure(cases, { name: 'decide', prepare, rounds: Number(values.rounds), save: values.save })
process.exit()
