// ggufscope/ai of the packed package with the real AI SDK, on the trained sample model.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type {
  EmbeddingModelV4,
  LanguageModelV4,
  RerankingModelV4,
  SpeechModelV4,
  TranscriptionModelV4,
} from '@ai-sdk/provider'
import {
  embed,
  embedMany,
  generateObject,
  generateText,
  rerank,
  streamObject,
  streamText,
  transcribe,
  isStepCount,
  Output,
  tool,
  type ModelMessage,
} from 'ai'
import { z } from 'zod'
import type * as Ai from 'ggufscope/ai'
import type * as Engine from 'ggufscope/engine'
import { kRoot, packedFile } from './packed.ts'
import { smallBert } from './small-bert.ts'

const { createGgufscope, GgufError } = (await import(
  pathToFileURL(packedFile('wasm/dist/ai/index.js')).href
)) as typeof Ai
const { load } = (await import(pathToFileURL(packedFile('wasm/dist/engine/index.js')).href)) as typeof Engine
const bytes = new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/stories.gguf')))
const loaded = await load(bytes)
after(() => loaded.close())

const gguf = createGgufscope({ stories: loaded })
// The compiler checks our types against the specification's.
const model: LanguageModelV4 = gguf('stories')
const embedder: EmbeddingModelV4 = gguf.embeddingModel()
const ranker: RerankingModelV4 = gguf.rerankingModel()
const listener: TranscriptionModelV4 = gguf.transcriptionModel()
const speaker: SpeechModelV4 = gguf.speechModel()
const ask = { model, prompt: 'What do bees make?', temperature: 0, maxRetries: 0 } as const
const kAnswer = 'Bees make honey.'

test('generateText: text, usage, finish reason, warnings', async () => {
  const { text, finishReason, usage, warnings, response } = await generateText(ask)
  assert.equal(text, kAnswer)
  assert.equal(finishReason, 'stop')
  assert.ok(usage.inputTokens! > 5 && usage.outputTokens! > 3)
  assert.deepEqual(warnings ?? [], [])
  assert.equal(response.modelId, 'stories')
  const cut = await generateText({ ...ask, maxOutputTokens: 2 })
  assert.equal(cut.finishReason, 'length')
  assert.ok(kAnswer.startsWith(cut.text) && cut.text !== '')
  assert.equal((await generateText({ ...ask, stopSequences: [' honey'] })).text, 'Bees make')
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'What do bees make?' }] },
    { role: 'assistant', content: kAnswer },
    { role: 'user', content: 'Tell me a story about an owl.' },
  ] satisfies ModelMessage[]
  const story = await generateText({ ...ask, prompt: undefined as never, messages })
  assert.ok(story.text.length > 100)
  const own = { ggufscope: { max_completion_tokens: 1 } }
  assert.equal((await generateText({ ...ask, providerOptions: own })).usage.outputTokens, 1)
})

test('streamText: the same text in pieces, and an abort ends it', async () => {
  const { textStream, usage, finishReason } = streamText(ask)
  const pieces: string[] = []
  for await (const piece of textStream) pieces.push(piece)
  assert.equal(pieces.join(''), kAnswer)
  assert.ok(pieces.length > 2)
  assert.equal(await finishReason, 'stop')
  assert.ok((await usage).outputTokens! > 3)
  const controller = new AbortController()
  let aborted = false
  const long = streamText({
    ...ask,
    providerOptions: { ggufscope: { ignore_eos: true } },
    maxOutputTokens: 300,
    abortSignal: controller.signal,
    onAbort: () => void (aborted = true),
  })
  let count = 0
  for await (const _ of long.textStream) if (++count === 3) controller.abort()
  assert.ok(aborted && count < 50, `${count}`)
  const parts: string[] = []
  const { stream } = await model.doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'What do bees make?' }] }],
    temperature: 0,
    includeRawChunks: true,
  })
  for await (const part of stream as unknown as AsyncIterable<{ type: string }>)
    if (parts.at(-1) !== part.type) parts.push(part.type)
  const plain = parts.filter((type) => type !== 'raw' && type !== 'text-delta')
  assert.deepEqual(plain, ['stream-start', 'response-metadata', 'text-start', 'text-end', 'finish'])
  assert.ok(parts.includes('raw'))
})

test('generateObject and streamObject keep to the schema', async () => {
  const schema = z.object({ bees: z.literal('honey'), legs: z.number().int().min(1).max(8) })
  for (const seed of [1, 2]) {
    const { object } = await generateObject({ ...ask, temperature: 1, seed, schema })
    assert.equal(object.bees, 'honey')
    assert.ok(object.legs >= 1 && object.legs <= 8)
  }
  let last: unknown
  const { partialObjectStream } = streamObject({ ...ask, schema })
  for await (const partial of partialObjectStream) last = partial
  assert.equal(schema.parse(last).bees, 'honey')
})

test('embed and embedMany; a model without a head is no reranker', async () => {
  const one = await embed({ model: embedder, value: 'a small owl' })
  const { embeddings, usage } = await embedMany({ model: embedder, values: ['a small owl', 'a bird'] })
  assert.deepEqual(embeddings[0], one.embedding)
  assert.ok(Math.abs(Math.hypot(...embeddings[1]!) - 1) < 1e-5)
  assert.ok(usage.tokens > 3)
  await assert.rejects(
    rerank({ model: ranker, query: 'a', documents: ['b'], maxRetries: 0 }),
    /no classification head/,
  )
})

test('further options of embeddings and rankings reach the model, and unknown ones are refused', async () => {
  const options = { value: 'owl', maxRetries: 0, model: embedder }
  const { embedding } = await embed({ ...options, providerOptions: { ggufscope: { dimensions: 8 } } })
  assert.equal(embedding.length, 8)
  const wrong = { ggufscope: { nonsense: 1 } }
  await assert.rejects(embed({ ...options, providerOptions: wrong }), /nonsense/)
  const ranking = { model: ranker, query: 'a', documents: ['b'], maxRetries: 0, providerOptions: wrong }
  await assert.rejects(rerank(ranking), /nonsense/)
})

test('an abort ends the wait for a model that is being loaded, and no other wait', async () => {
  let finish = (_: typeof loaded): void => {}
  const late = createGgufscope(new Promise<typeof loaded>((resolve) => (finish = resolve)))
  const calls = [
    (abortSignal: AbortSignal) => late().doGenerate({ prompt: [], abortSignal }),
    (abortSignal: AbortSignal) => late().doStream({ prompt: [], abortSignal }),
    (abortSignal: AbortSignal) => late.embeddingModel().doEmbed({ values: ['x'], abortSignal }),
    (abortSignal: AbortSignal) =>
      late.rerankingModel().doRerank({ query: 'x', documents: { type: 'text', values: ['x'] }, abortSignal }),
    (abortSignal: AbortSignal) =>
      late.transcriptionModel().doGenerate({ audio: new Uint8Array(), abortSignal }),
    (abortSignal: AbortSignal) => late.speechModel().doGenerate({ text: 'x', abortSignal }),
  ]
  const other = generateText({ ...ask, model: late() })
  for (const call of calls) {
    const stop = new AbortController()
    const waiting = Promise.resolve(call(stop.signal))
    stop.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
  }
  finish(loaded)
  assert.equal((await other).text, kAnswer)
})

test('rerank gives documents in the order of the head', async () => {
  using reranker = await load(await smallBert(4), { precision: 'exact' })
  const ranking = createGgufscope(reranker)
  const documents = ['owls sleep by day', 'bees make honey', 'honey']
  const query = 'what do bees make'
  const wanted = await reranker.rerank(query, documents)
  const given = { model: ranking.rerankingModel(), query, maxRetries: 0 }
  const { ranking: got } = await rerank({ ...given, documents, topN: 2 })
  assert.deepEqual(
    got.map(({ originalIndex, score }) => ({ index: originalIndex, score })),
    wanted.slice(0, 2),
  )
  const objects = documents.map((text) => ({ text }))
  assert.equal((await rerank({ ...given, documents: objects })).rerankedDocuments.length, 3)
  await assert.rejects(embed({ model: ranking.embeddingModel(), value: 'a', maxRetries: 0 }), /createRerank/)
})

test('tools: calls keep to their schemas, results go back, whole and streamed', async () => {
  const inputSchema = z.object({ n: z.union([z.literal(2), z.literal(4)]), who: z.enum(['owl', 'bee']) })
  const called: z.infer<typeof inputSchema>[] = []
  const legs = tool({
    description: 'Counts legs.',
    inputSchema,
    execute: (input) => {
      called.push(input)
      return { legs: input.n }
    },
  })
  const required = { ...ask, temperature: 1, seed: 4, tools: { legs }, toolChoice: 'required' } as const
  const { toolCalls, toolResults, finishReason } = await generateText(required)
  assert.equal(finishReason, 'tool-calls')
  assert.ok(toolCalls.length > 0 && toolCalls.every(({ toolName }) => toolName === 'legs'))
  for (const input of called) inputSchema.parse(input)
  assert.equal(toolResults.length, toolCalls.length)
  called.length = 0
  const chosen = { ...required, toolChoice: { type: 'tool', toolName: 'legs' } } as const
  const kinds: string[] = []
  let streamed = ''
  const { stream } = streamText(chosen)
  for await (const part of stream) {
    kinds.push(part.type)
    if (part.type === 'tool-input-delta') streamed += part.delta
  }
  for (const kind of ['tool-input-start', 'tool-input-delta', 'tool-input-end', 'tool-call', 'tool-result'])
    assert.ok(kinds.includes(kind), `no ${kind} in ${kinds.join(' ')}`)
  assert.equal(streamed.replaceAll(/\s/g, ''), called.map((input) => JSON.stringify(input)).join(''))
  // A call, its result, and the answer to it: two steps.
  let steps = 0
  const answer = await generateText({
    ...ask,
    tools: { legs },
    stopWhen: isStepCount(2),
    prepareStep: ({ stepNumber }) => {
      steps++
      return { toolChoice: stepNumber === 0 ? 'required' : 'none' }
    },
  })
  assert.equal(steps, 2)
  assert.equal(answer.steps.length, 2)
  assert.notEqual(answer.finishReason, 'tool-calls')
  // The answer after the call is an object.
  const schema = z.object({ sky: z.enum(['blue', 'grey']) })
  const { output, steps: both } = await generateText({
    ...ask,
    tools: { now: tool({ inputSchema: z.object({}), execute: () => 'noon' }) },
    output: Output.object({ schema }),
    providerOptions: { ggufscope: { parallel_tool_calls: false } },
    stopWhen: isStepCount(2),
    prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'none' }),
  })
  assert.equal(both.length, 2)
  schema.parse(output)
})

test('a limit after any token runs no tool with an input that the model did not write', async () => {
  const executed: unknown[] = []
  const remove = tool({
    inputSchema: z.object({ path: z.enum(['/tmp/old/cache', '/var/x']).optional() }),
    execute: (input) => void executed.push(input),
  })
  const required = { ...ask, temperature: 1, seed: 2, tools: { remove }, toolChoice: 'required' } as const
  const single = { ...required, providerOptions: { ggufscope: { parallel_tool_calls: false } } } as const
  const whole = await generateText(single)
  const input: unknown = whole.toolCalls[0]!.input
  let cut = 0
  for (let limit = 1; limit < whole.usage.outputTokens!; limit += 2) {
    executed.length = 0
    const limited = { ...single, maxOutputTokens: limit }
    // The SDK itself refuses an answer without the required call.
    const generated = await generateText(limited).catch((error: unknown) => {
      const { name, finishReason } = error as { name?: string; finishReason?: string }
      assert.equal(name, 'AI_ToolChoiceViolationError', String(error))
      return { finishReason, toolCalls: [] }
    })
    const kinds: string[] = []
    for await (const part of streamText({ ...limited, onError: () => {} }).stream) kinds.push(part.type)
    if (generated.finishReason !== 'length') continue
    cut++
    const calls = generated.toolCalls.map((call) => call.input as unknown)
    assert.ok(
      calls.length === 0 || (calls.length === 1 && JSON.stringify(calls[0]) === JSON.stringify(input)),
    )
    assert.ok(
      executed.every((one) => JSON.stringify(one) === JSON.stringify(input)),
      JSON.stringify(executed),
    )
    assert.equal(kinds.includes('tool-call'), calls.length === 1, kinds.join(' '))
    assert.ok(!kinds.includes('tool-error'), kinds.join(' '))
  }
  assert.ok(cut > 3)
})

test('unsupported calls are errors, and models load on first use', async () => {
  assert.throws(() => gguf('other'), { code: 'not-found' })
  assert.throws(() => gguf.imageModel('x'), { code: 'unsupported' })
  assert.ok(new GgufError('closed', 'x') instanceof Error)
  const image = { type: 'image', image: new Uint8Array([1, 2, 3]), mediaType: 'image/png' } as const
  await assert.rejects(
    generateText({ ...ask, prompt: undefined as never, messages: [{ role: 'user', content: [image] }] }),
    /without a projector/,
  )
  await assert.rejects(generateText({ ...ask, topP: 5 }), /top_p/)
  const audio = new Uint8Array(64)
  await assert.rejects(transcribe({ model: listener, audio, maxRetries: 0 }), /cannot transcribe/)
  const call = { audio, mediaType: 'audio/wav' }
  await assert.rejects(async () => await listener.doGenerate(call), { code: 'unsupported' })
  await assert.rejects(async () => await speaker.doGenerate({ text: 'Hi' }), { code: 'unsupported' })
  using speech = await load<Engine.SpeechModel>(
    new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/commands.gguf'))),
    { threads: 1 },
  )
  const reader = createGgufscope(speech)
  await assert.rejects(generateText({ model: reader(), prompt: 'x', maxRetries: 0 }), /only transcribes/)
  await assert.rejects(async () => await reader.embeddingModel().doEmbed({ values: ['x'] }), {
    code: 'unsupported',
  })
  let loads = 0
  const lazy = createGgufscope(async () => {
    loads++
    return loads === 1 ? Promise.reject(new Error('no network')) : loaded
  })
  assert.equal(loads, 0)
  await assert.rejects(generateText({ ...ask, model: lazy() }), /no network/)
  for (let i = 0; i < 2; i++) assert.equal((await generateText({ ...ask, model: lazy() })).text, kAnswer)
  assert.equal(loads, 2)
})
