// Answers with calls, cut after every token: a model whose chat template is each of the real ones writes calls by the
// grammar of its tools, and the token limit ends them anywhere. A call that the whole answer lacks is invented.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { everyNth, kAll } from '../fixtures/short.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { randomOf } from '../schema/random.ts'
import { withTemplate } from '../fixtures/templated.ts'
import { engine } from './engine.ts'
import { Gbnf } from './gbnf.ts'
import { kRoot, kShared, loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()
const { load, createReplyParser, detectChatFormat, toolGrammar } = engine

const kPaths = ['/tmp/old/cache', '/var/x']
const kTools: Engine.FunctionTool[] = [
  {
    type: 'function',
    function: {
      name: 'remove',
      description: 'Deletes a folder',
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string', enum: kPaths },
          depth: { type: 'integer', minimum: 1, maximum: 99 },
        },
        required: ['path', 'depth'],
        additionalProperties: false,
      },
    },
  },
  {
    type: 'function',
    function: { name: 'now', description: 'Tells the time', parameters: { type: 'object', properties: {} } },
  },
]
const kTemplates = join(kShared, 'templates')
// This template also fails in Python if there is an assistant message.
const kRefusing = 'MiroThinker.jinja'
const kUser = { role: 'user', content: 'clean' }
const kVariables = { enable_thinking: false, bos_token: '', eos_token: '</s>' }
const kOptions = {
  tools: kTools,
  toolChoice: 'required',
  parallelToolCalls: true,
  temperature: 1,
  // Some templates write the time, to the second.
  now: new Date('2026-01-02T03:04:05Z'),
} as const

type Calls = readonly { readonly name: string; readonly arguments: string }[]

/** The answer of at most so many tokens: the calls of chat(). */
async function answer(
  model: Engine.Model,
  seed: number,
  maxTokens: number,
): Promise<{ calls: Calls; tokens: number; reason: string }> {
  let result: Engine.ChatResult | undefined
  const onDone = (done: Engine.ChatResult): void => void (result = done)
  for await (const _ of model.chat([kUser], {
    ...kOptions,
    seed,
    maxTokens,
    variables: kVariables,
    onDone,
  }));
  const { message, tokens, finishReason } = result!
  const calls = (message.tool_calls ?? []).map((one) => one.function)
  return { calls, tokens, reason: finishReason }
}

/** Why the calls of an answer that was cut are not those of the whole one; undefined: they are. */
function invented(cut: Calls, whole: Calls): string | undefined {
  for (const [i, { name, arguments: args }] of cut.entries()) {
    const wanted = whole[i]
    const shown = `${name} ${args}`
    if (wanted?.name !== name) return shown
    const isLast = i === cut.length - 1
    if (isLast ? !wanted.arguments.startsWith(args) || args === '' : args !== wanted.arguments) return shown
  }
  return undefined
}

/** Texts that the grammar of the tools allows, cut after each of their tokens: the number of cuts, and what is wrong. */
async function cutSamples(model: Engine.Model, template: string): Promise<{ cuts: number; wrong: string[] }> {
  const format = detectChatFormat({ template })
  const options = { adapt: true, tools: kTools, variables: kVariables }
  const prompt = (await model.file.renderChat([kUser], options)).slice(-200)
  const { grammar } = toolGrammar(format, { tools: kTools, toolChoice: 'required', prompt })
  const callsOf = (text: string, reason: 'end' | 'length'): Calls => {
    const parser = createReplyParser(format, { tools: kTools, prompt })
    const calls: { name: string; arguments: string }[] = []
    for (const { tool_calls = [] } of [...parser.push(text), ...parser.end(reason)])
      for (const { index, function: called } of tool_calls) {
        calls[index] ??= { name: called.name!, arguments: '' }
        calls[index].arguments += called.arguments ?? ''
      }
    return calls
  }
  const wrong: string[] = []
  const random = randomOf(7)
  let cuts = 0
  for (let i = 0; i < kSamples; i++) {
    const text = new Gbnf(grammar!).sample(random)
    const whole = callsOf(text, 'end')
    assert.ok(whole.length > 0, text)
    const tokens = model.tokenizer.encode(text, { special: true })
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    let read = ''
    for (const id of tokens.slice(0, -1)) {
      read += decoder.decode(model.tokenizer.tokens.at(id)!.bytes, { stream: true })
      // A model may also end its reply there by itself.
      for (const reason of ['length', 'end'] as const) {
        const found = invented(callsOf(read, reason), whole)
        if (found !== undefined) wrong.push(`${read}: ${found}, ${reason}`)
      }
      cuts++
    }
  }
  return { cuts, wrong }
}

/** The answers of a model, cut after each of their tokens. One that thinks on and on writes no call. */
async function cutAnswers(model: Engine.Model): Promise<{ cuts: number; wrong: string[] }> {
  const wrong: string[] = []
  let cuts = 0
  for (let seed = 1; seed <= kSeeds && cuts === 0; seed++) {
    const whole = await answer(model, seed, kMaxTokens)
    if (whole.calls.length === 0) continue
    const last = Math.min(whole.tokens, kMaxCuts)
    for (let n = 1; n < last; n++, cuts++) {
      const cut = await answer(model, seed, n)
      const found = invented(cut.calls, whole.calls)
      if (found !== undefined) wrong.push(`${n} tokens of seed ${seed}: ${found}`)
      if (cut.reason !== 'length') wrong.push(`${n} tokens of seed ${seed}: ${cut.reason}`)
    }
  }
  return { cuts, wrong }
}

const kSeeds = kAll ? 4 : 1
const kMaxTokens = kAll ? 300 : 100
const kMaxCuts = kAll ? 200 : 40
const kSamples = kAll ? 12 : 3
const kNames = existsSync(kTemplates) ? readdirSync(kTemplates) : []
// Templates of all kinds are sampled; a model writes answers with a few of them.
const kAnswered = new Set(everyNth(kNames, 23))

describe('calls of every template, cut after every token', { skip: skipWithout(kTemplates) }, () => {
  for (const name of everyNth(kNames, 8)) {
    if (name === kRefusing) continue
    test(name, async (t) => {
      const template = readFileSync(join(kTemplates, name), 'utf8')
      const bytes = await withTemplate(open, join(kRoot, 'tests/fixtures/stories.gguf'), template)
      const model = await load(new Blob([bytes as BlobPart]), { contextLength: 8192, threads: 1 })
      try {
        const sampled = await cutSamples(model, template)
        const answered = kAnswered.has(name) ? await cutAnswers(model) : { cuts: 0, wrong: [] }
        assert.deepEqual([...sampled.wrong, ...answered.wrong], [])
        assert.ok(sampled.cuts > 20, `${sampled.cuts}`)
        t.diagnostic(`${sampled.cuts} cuts of samples and ${answered.cuts} of answers: no call is invented`)
      } finally {
        model.close()
      }
    })
  }
})
