// How many reference models agree with llama.cpp: their logits within the reference's tolerance, and the text that they
// continue a prompt with, token by token. Needs the reference models of ../shared.
//   npm run bench -- agreement [-- --save]
// --save stores the counts for the README.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'ggufscope/engine'
import { saveResults } from './common/results.ts'

const kShared = process.env['GGUFSCOPE_SHARED'] ?? join(import.meta.dirname, '../../../shared')
const kVectors = join(kShared, 'vectors')
const kPacks = ['arch', 'new/arch']

interface Meta {
  reference_run: string
  tolerance: { compare_with: string; max_abs: number }
}
const json = <T>(...path: string[]) => JSON.parse(readFileSync(join(kVectors, ...path), 'utf8')) as T

function floats(path: string): Float32Array {
  const bytes = readFileSync(path)
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

/** Whether logits and text agree; text undefined: the model writes none. */
async function compare(name: string): Promise<{ logits: boolean; text: boolean | undefined }> {
  const folder = join(kVectors, name)
  const prompt = json<number[]>(name, 'tokens.json')
  const { reference_run, tolerance } = json<Meta>(name, 'meta.json')
  using model = await load(new Uint8Array(readFileSync(join(folder, 'model.gguf'))), {
    contextLength: 256,
    cacheType: 'f32',
    precision: 'exact',
    sparseAttention: reference_run.includes('flash attention on'),
  })
  const [got, reference] = [await model.evaluate(prompt), floats(join(folder, tolerance.compare_with))]
  const logits =
    got.length === reference.length && got.every((x, i) => Math.abs(x - reference[i]!) <= tolerance.max_abs)
  if (!readdirSync(folder).includes('greedy.json')) return { logits, text: undefined }
  const greedy = json<{ tokens: number[]; tokens_exact?: number[] }>(name, 'greedy.json')
  const tokens = greedy.tokens_exact ?? greedy.tokens
  const written: number[] = []
  // An answer ends at an end-of-generation token; llama.cpp's reference goes on after it.
  while (written.length < tokens.length) {
    const options = { maxTokens: tokens.length - written.length, temperature: 0 }
    // -1: what was left of the text
    for await (const { token } of model.generate([...prompt, ...written], options))
      if (token >= 0) written.push(token)
    const next = tokens[written.length]
    if (next === undefined) break
    if (!model.tokenizer.isEndOfGeneration(next)) return { logits, text: false }
    written.push(next)
  }
  return { logits, text: written.join() === tokens.join() }
}

// An encoder with a decoder (T5) takes two texts, which evaluate() does not.
const names = kPacks
  .flatMap((pack) =>
    readdirSync(join(kVectors, pack), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${pack}/${name}`),
  )
  .filter((name) => Array.isArray(json(name, 'tokens.json')))
const counts = { logits: { models: 0, agree: 0 }, text: { models: 0, agree: 0 } }
for (const name of names) {
  const result = await compare(name)
  for (const what of ['logits', 'text'] as const) {
    if (result[what] === undefined) continue
    counts[what].models++
    if (result[what]) counts[what].agree++
    else console.log(`${name}: another ${what}`)
  }
}
for (const [what, { models, agree }] of Object.entries(counts))
  console.log(`${what}: ${agree} of ${models} agree`)
if (process.argv.includes('--save'))
  saveResults('agreement', { 'llama.cpp': '0.7.0' }, [
    { case: 'logits', contender: 'ggufscope', ...counts.logits },
    { case: 'text', contender: 'ggufscope', ...counts.text },
  ])
