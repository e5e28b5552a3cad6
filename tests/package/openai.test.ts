// Requests in OpenAI's shape against the packed package, on the trained sample model.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type OpenAI from 'openai'
import type {
  ChatCompletionChunk,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import type * as Engine from 'ggufscope/engine'
import { samplerOptions } from '../../scripts/sampler-options.ts'
import { kRoot, packedFile } from './packed.ts'

const engine = (await import(pathToFileURL(packedFile('wasm/dist/engine/index.js')).href)) as typeof Engine
const { load, createChatCompletion, streamChatCompletion, createCompletion, streamCompletion } = engine
const bytes = new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/stories.gguf')))
const model = await load(bytes)
after(() => model.close())

const kQuestion: ChatCompletionMessageParam[] = [{ role: 'user', content: 'What do bees make?' }]
const kAnswer = 'Bees make honey.'
const kPrompt = 'Once upon a time'
const ask = { messages: kQuestion, temperature: 0 }

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
const joined = (chunks: readonly { choices: readonly { delta: { content?: string | null } }[] }[]): string =>
  chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')

test("responses have the types of OpenAI's client, whole and as chunks", async () => {
  const whole: OpenAI.ChatCompletion = await createChatCompletion(model, { ...ask, model: 'stories' })
  assert.deepEqual(
    { ...whole, id: '', created: 0 },
    {
      id: '',
      object: 'chat.completion',
      created: 0,
      model: 'stories',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: kAnswer, refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: whole.usage,
    },
  )
  const { prompt_tokens, completion_tokens, total_tokens } = whole.usage!
  assert.ok(prompt_tokens > 0 && completion_tokens > 0 && total_tokens === prompt_tokens + completion_tokens)
  const chunks: ChatCompletionChunk[] = await all(
    await createChatCompletion(model, { ...ask, stream: true, stream_options: { include_usage: true } }),
  )
  assert.equal(joined(chunks), kAnswer)
  assert.deepEqual(chunks[0]!.choices[0]!.delta, { role: 'assistant', content: '', refusal: null })
  assert.deepEqual(chunks.at(-2)!.choices[0], { index: 0, delta: {}, logprobs: null, finish_reason: 'stop' })
  assert.deepEqual(chunks.at(-1)!.choices, [])
  assert.equal(chunks.at(-1)!.usage?.completion_tokens, completion_tokens)
  assert.ok(chunks.slice(0, -1).every(({ usage }) => usage === null))
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1)
  const silent = await all(streamChatCompletion(model, { ...ask, stream_options: { include_usage: false } }))
  assert.ok(silent.every((chunk) => !('usage' in chunk)))
})

test('null means absent', async () => {
  const whole = await createChatCompletion(model, {
    ...ask,
    max_tokens: null,
    max_completion_tokens: null,
    stop: null,
    n: null,
    seed: null,
    top_p: null,
    logit_bias: null,
    logprobs: null,
    top_logprobs: null,
    response_format: null,
    stream: null,
    stream_options: null,
    tools: null,
    metadata: null,
    store: null,
    reasoning_effort: null,
  })
  assert.equal(whole.choices[0]!.message.content, kAnswer)
})

test('options without effect are accepted, and metadata is returned', async () => {
  const request = {
    ...ask,
    user: 'someone',
    metadata: { purpose: 'test' },
    store: false,
    service_tier: 'auto',
    verbosity: 'medium',
    modalities: ['text'],
    safety_identifier: 'a',
    prompt_cache_key: 'b',
    parallel_tool_calls: true,
  } as const
  const whole = await createChatCompletion(model, request)
  assert.equal(whole.choices[0]!.message.content, kAnswer)
  assert.deepEqual(whole.metadata, { purpose: 'test' })
})

test('limits set the finish reason and lose no text', async () => {
  const finish = async (request: object) => {
    const { choices, usage } = await createChatCompletion(model, { ...ask, ...request })
    return [choices[0]!.message.content, choices[0]!.finish_reason, usage.completion_tokens] as const
  }
  const [three] = await finish({ max_tokens: 3 })
  assert.deepEqual(await finish({ max_tokens: 9, max_completion_tokens: 3 }), [three, 'length', 3])
  assert.deepEqual(await finish({ max_tokens: 0 }), ['', 'length', 0])
  // "Bees" may be the begin of the stop string, and the limit is reached before that is decided.
  for (let limit = 1; limit < 5; limit++) {
    const [plain] = await finish({ max_tokens: limit })
    for (let length = 1; length <= plain!.length; length++) {
      const stop = `${plain!.slice(-length)} and what never comes`
      assert.deepEqual(await finish({ max_tokens: limit, stop }), [plain, 'length', limit])
    }
  }
  assert.deepEqual((await finish({ stop: ['never', ' honey'] })).slice(0, 2), ['Bees make', 'stop'])
  assert.deepEqual((await finish({ stop: kAnswer })).slice(0, 2), ['', 'stop'])
})

test('names of control tokens work as stop strings', async () => {
  const user = model.tokenizer.find('<|user|>')!
  const going = { ...ask, grammar: `root ::= "${kAnswer}" <[${user}]> "Next"`, max_tokens: 60 }
  const { choices } = await createChatCompletion(model, going)
  assert.equal(choices[0]!.message.content, `${kAnswer}Next`)
  const stopped = await createChatCompletion(model, { ...going, stop: ['<|end|>', '<|user|>'] })
  assert.equal(stopped.choices[0]!.message.content, kAnswer)
  assert.equal(stopped.choices[0]!.finish_reason, 'stop')
  const chunks = await all(streamChatCompletion(model, { ...going, stop: 'ey.<|user|>' }))
  assert.equal(joined(chunks), 'Bees make hon')
})

test('ignore_eos: no end-of-generation token is chosen', async () => {
  const { choices } = await createChatCompletion(model, { ...ask, ignore_eos: true, max_tokens: 60 })
  assert.equal(choices[0]!.finish_reason, 'length')
  const ends = new Set<number>()
  for (const { id, special } of model.tokenizer.tokens) if (special) ends.add(id)
  let result: Engine.GenerateResult | undefined
  const options = {
    temperature: 0,
    ignoreEnd: true,
    maxTokens: 60,
    onDone: (done: Engine.GenerateResult) => (result = done),
  }
  for await (const { token } of model.generate('Bees make honey.', options))
    assert.ok(!ends.has(token), `token ${token}`)
  assert.equal(result!.tokens, 60)
})

test('seeds of 64 bits are taken, each answer of n has its own', async () => {
  const messages = [{ role: 'user', content: 'Tell me a story about an owl.' }]
  const request = { messages, temperature: 3, seed: 2 ** 63, n: 2, max_tokens: 12 }
  const said = async () =>
    (await createChatCompletion(model, request)).choices.map(({ message }) => message.content)
  const [one, other] = await said()
  assert.notEqual(one, other)
  assert.deepEqual(await said(), [one, other])
})

test('n answers, each with its own seed; the prompt counts once', async () => {
  const messages = [{ role: 'user', content: 'Tell me a story about an owl.' }]
  const request = { messages, temperature: 3, seed: 11, n: 3, max_tokens: 12 }
  const whole = await createChatCompletion(model, request)
  assert.deepEqual(
    whole.choices.map(({ index }) => index),
    [0, 1, 2],
  )
  const texts = whole.choices.map(({ message }) => message.content)
  assert.ok(new Set(texts).size > 1)
  const alone = await createChatCompletion(model, { ...request, n: 1, seed: 12 })
  assert.equal(alone.choices[0]!.message.content, texts[1])
  assert.equal(whole.usage.prompt_tokens, alone.usage.prompt_tokens)
  const streamed = ['', '', '']
  for await (const { choices } of streamChatCompletion(model, request))
    for (const { index, delta } of choices) streamed[index] += delta.content ?? ''
  assert.deepEqual(streamed, texts)
})

test('log probabilities belong to the tokens of the answer', async () => {
  const request = { ...ask, logprobs: true, top_logprobs: 2 }
  const { choices, usage } = await createChatCompletion(model, request)
  const content = choices[0]!.logprobs!.content
  assert.equal(content.map(({ token }) => token).join(''), kAnswer)
  assert.equal(Buffer.from(content.flatMap(({ bytes }) => bytes)).toString(), kAnswer)
  assert.equal(usage.completion_tokens, content.length + 1) // the end token has no text
  for (const { token, logprob, top_logprobs } of content) {
    assert.equal(top_logprobs.length, 2)
    assert.equal(top_logprobs[0]!.token, token)
    assert.ok(logprob <= 0 && top_logprobs[1]!.logprob <= logprob)
  }
  const without = await createChatCompletion(model, { ...ask, logprobs: true })
  assert.ok(without.choices[0]!.logprobs!.content.every(({ top_logprobs }) => top_logprobs.length === 0))
  // The stop string begins within a token. The tokens after it are not reported.
  const stopped = await createChatCompletion(model, { ...request, stop: ' honey' })
  assert.equal(stopped.choices[0]!.logprobs!.content.map(({ token }) => token).join(''), 'Bees make')
  const chunks = await all(streamChatCompletion(model, { ...request, stop: 'never' }))
  const told = chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])
  assert.equal(told.map(({ token }) => token).join(''), kAnswer)
})

test('the three kinds of response_format', async () => {
  const content = async (response_format: Engine.ResponseFormat, seed = 1) =>
    (await createChatCompletion(model, { messages: kQuestion, response_format, seed, max_tokens: 300 }))
      .choices[0]!.message.content!
  assert.doesNotMatch(await content({ type: 'text' }), /^\{/)
  for (const seed of [1, 2, 3]) {
    const any = await content({ type: 'json_object' }, seed)
    assert.ok(any.startsWith('{'), any)
  }
  const Bees = z.object({ bees: z.literal('honey'), count: z.number().int().min(1).max(9) })
  const format = zodResponseFormat(Bees, 'bees')
  const parsed = Bees.parse(JSON.parse(await content(format)))
  assert.equal(parsed.bees, 'honey')
  const beside = { type: 'json_object', schema: { const: [1] } } as const
  assert.equal(await content(beside), '[1]')
})

test('a schema with definitions, references to itself and strict', async () => {
  const node = {
    type: 'object',
    properties: {
      value: { type: 'integer', minimum: 0, maximum: 9 },
      next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
    },
    required: ['value', 'next'],
    additionalProperties: false,
  }
  const schema = { $ref: '#/$defs/node', $defs: { node } }
  const response_format = {
    type: 'json_schema',
    json_schema: { name: 'list', strict: true, schema },
  } as const
  for (const seed of [1, 2]) {
    const request = { messages: kQuestion, response_format, seed, temperature: 1, max_tokens: 300 }
    const { message, finish_reason } = (await createChatCompletion(model, request)).choices[0]!
    assert.equal(finish_reason, 'stop')
    type List = { value: number; next: List } | null
    for (let at = JSON.parse(message.content!) as List; at; at = at.next)
      assert.ok(at.value >= 0 && at.value <= 9 && Object.keys(at).length === 2)
  }
})

test('a pattern that takes RegExp forever is tested at once', async () => {
  const slow = `${'a'.repeat(60)}!`
  const schema = { enum: [slow, 'aa'], pattern: '^(a+)+$' }
  const response_format = { type: 'json_schema', json_schema: { name: 'slow', schema } } as const
  const { choices } = await createChatCompletion(model, { ...ask, response_format })
  assert.equal(choices[0]!.message.content, '"aa"')
})

test('the last message of a conversation is continued', async () => {
  const messages = [...kQuestion, { role: 'assistant', content: 'Bees make' }] as const
  const whole = await createChatCompletion(model, { messages, temperature: 0, continue: true })
  assert.equal(whole.choices[0]!.message.content, ' honey.')
  await assert.rejects(createChatCompletion(model, { ...ask, continue: true }), { code: 'invalid-argument' })
})

test('unsupported requests are errors with a code', async () => {
  const tool: ChatCompletionTool = { type: 'function', function: { name: 'now', parameters: {} } }
  const impossible = { type: 'object', properties: { a: false }, required: ['a'] }
  const invalid: Record<string, unknown>[] = [
    { tempreature: 1 },
    { temperature: -1 },
    { temperature: '1' },
    { top_p: 5 },
    { top_p: -0.1 },
    { max_tokens: -2 },
    { max_completion_tokens: 1.5 },
    { n: 0 },
    { n: 129 },
    { frequency_penalty: 3 },
    { presence_penalty: -2.1 },
    { logit_bias: { 5: 101 } },
    { logit_bias: { 99999: 1 } },
    { logit_bias: { bee: 1 } },
    { logit_bias: [1] },
    { seed: 0.5 },
    { stop: 5 },
    { stop: [5] },
    { stop: {} },
    { logprobs: 3 },
    { logprobs: true, top_logprobs: 21 },
    { top_logprobs: 2 },
    { stream_options: { include_usage: true } },
    { stream: true, stream_options: { usage: true } },
    { response_format: 'json' },
    { response_format: { type: 'xml' } },
    { response_format: { type: 'json_schema' } },
    { response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
    { response_format: { type: 'json_object' }, grammar: 'root ::= "a"' },
    { messages: [] },
    { messages: null },
    { messages: 'hello' },
    { messages: [{ content: 'no role' }] },
    { messages: ['hello'] },
    { messages: [{ role: 'user' }] },
    { messages: [{ role: 'system' }, { role: 'user', content: 'hello' }] },
    { messages: [{ role: 'assistant', tool_calls: [{}] }] },
    { messages: [{ role: 'assistant', tool_calls: 'now' }] },
    { mirostat: 1 },
    { tool_choice: 'sometimes' },
    { tool_choice: 'required' },
    { tools: [tool, tool] },
    { tools: [{ type: 'function' }] },
    { tools: [{ type: 'function', function: { name: 'x', parameters: [] } }] },
    { tools: [{ type: 'function', function: { name: 'x', parameters: 'x' } }] },
    { tools: [{ type: 'function', function: { name: 'x', parameters: impossible } }] },
    { messages: [{ role: 'user', content: 5 }] },
    { messages: [{ role: 'user', content: [[]] }] },
    { messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }] },
    { tools: [tool], tool_choice: { type: 'function', function: { name: 'other' } } },
    { tools: [tool], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'none', tools: [] } } },
    {
      tools: [tool],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'other' } }] },
      },
    },
    { chat_template_kwargs: 'x' },
  ]
  const unsupported: Record<string, unknown>[] = [
    { tools: [{ type: 'custom', custom: { name: 'x' } }] },
    { tools: [tool], grammar: 'root ::= "a"' },
    { functions: [] },
    { audio: {} },
    { modalities: ['text', 'audio'] },
    { store: true },
    { service_tier: 'flex' },
    { verbosity: 'low' },
    { web_search_options: {} },
    { messages: [{ role: 'user', content: [{ type: 'thought', thought: 'hello' }] }] },
    { response_format: { type: 'json_schema', json_schema: { schema: { $recursiveRef: '#' } } } },
  ]
  for (const [code, requests] of [
    ['invalid-argument', invalid],
    ['unsupported', unsupported],
  ] as const)
    for (const request of requests) {
      const given = { ...ask, ...request } as unknown as Engine.ChatCompletionRequest
      const failing = async () => {
        const answer = await createChatCompletion(model, given)
        if (Symbol.asyncIterator in answer) await all(answer)
      }
      await assert.rejects(failing, { name: 'GgufError', code }, JSON.stringify(request))
    }
  for (const call of [null, { sginal: 1 }, { signal: 5 }, { now: 'today' }] as object[])
    await assert.rejects(createChatCompletion(model, ask, call), { code: 'invalid-argument' })
  await assert.rejects(createChatCompletion(model, 'hello' as unknown as Engine.ChatCompletionRequest), {
    code: 'invalid-argument',
  })
})

test('options of the engine are checked in the same way', async () => {
  const invalid: Record<string, unknown>[] = [
    { topP: 5 },
    { temperature: -1 },
    { temperature: NaN },
    { maxTokens: -1 },
    { maxTokens: 1.5 },
    { topk: 3 },
    { logprobs: 101 },
    { lookup: 32 },
    { lookup: -1 },
    { mirostat: 1 },
    { logitBias: { 1e9: 1 } },
    { logitBias: { 3: NaN } },
    { stop: 3 },
    { onDone: 'done' },
    { signal: {} },
  ]
  for (const options of invalid) {
    await assert.rejects(
      all(model.generate(kPrompt, options)),
      { code: 'invalid-argument' },
      JSON.stringify(options),
    )
    await assert.rejects(all(model.chat([{ role: 'user', content: 'a' }], options)), {
      code: 'invalid-argument',
    })
  }
  const loading: Record<string, unknown>[] = [
    { preview: 'foo' },
    { precision: 'half' },
    { variant: 'avx' },
    { contextLenght: 5 },
    { memoryLimit: -1 },
  ]
  for (const options of loading) await assert.rejects(load(bytes, options), { code: 'invalid-argument' })
  const { open } = (await import(
    pathToFileURL(packedFile('wasm/dist/index.js')).href
  )) as typeof import('ggufscope')
  for (const options of [{ preview: 'foo' }, { previw: 'full' }, { retries: -1 }, { onProgress: 1 }, 5])
    await assert.rejects(open(bytes, options as object), { code: 'invalid-argument' })
  assert.equal((await all(model.generate(kPrompt, { maxTokens: 0 }))).length, 0)
})

test('completions: texts, ids, lists of both, echoes and log probabilities', async () => {
  const request = { temperature: 0, max_tokens: 8 } as const
  const whole: OpenAI.Completion = await createCompletion(model, { ...request, prompt: kPrompt })
  const [choice] = whole.choices
  assert.equal(whole.object, 'text_completion')
  assert.match(choice!.text, /^, /)
  assert.equal(choice!.finish_reason, 'length')
  assert.equal(choice!.logprobs, null)
  const ids = model.tokenizer.encode(kPrompt, { bos: true })
  assert.equal((await createCompletion(model, { ...request, prompt: ids })).choices[0]!.text, choice!.text)
  for (const prompt of [
    [kPrompt, 'Long ago'],
    [ids, model.tokenizer.encode('Long ago', { bos: true })],
  ]) {
    const two = await createCompletion(model, { ...request, prompt: prompt as string[], n: 2, echo: true })
    assert.equal(two.choices.length, 4)
    assert.equal(two.choices[0]!.text, kPrompt + choice!.text)
    assert.equal(two.choices[1]!.text, kPrompt + choice!.text)
    assert.match(two.choices[2]!.text, /^Long ago/)
    assert.equal(two.usage!.completion_tokens, 32)
  }
  const told = await createCompletion(model, { ...request, prompt: kPrompt, logprobs: 3 })
  const { tokens, token_logprobs, top_logprobs, text_offset } = told.choices[0]!.logprobs!
  assert.equal(tokens.join(''), choice!.text)
  assert.equal(token_logprobs.length, 8)
  text_offset.forEach((at, i) => assert.ok(choice!.text.startsWith(tokens[i]!, at)))
  assert.ok(top_logprobs.every((top) => Object.keys(top).length <= 3))
  const chunks = await all(
    streamCompletion(model, {
      ...request,
      prompt: kPrompt,
      echo: true,
      stream_options: { include_usage: true },
    }),
  )
  assert.equal(chunks.map(({ choices }) => choices[0]?.text ?? '').join(''), kPrompt + choice!.text)
  assert.equal(chunks.at(-1)!.usage?.completion_tokens, 8)
  const offsets = (await all(streamCompletion(model, { ...request, prompt: kPrompt, logprobs: 0 }))).flatMap(
    ({ choices }) => choices[0]?.logprobs?.text_offset ?? [],
  )
  assert.deepEqual(offsets, text_offset)
  const invalid = [
    {},
    { prompt: [] },
    { prompt: '', logprobs: 6 },
    { prompt: 5 },
    { prompt: 'a', messages: [] },
  ]
  for (const given of invalid)
    await assert.rejects(createCompletion(model, given as unknown as Engine.CompletionRequest), {
      code: 'invalid-argument',
    })
  for (const given of [{ suffix: 'b' }, { best_of: 2 }, { echo: true, logprobs: 1 }])
    await assert.rejects(createCompletion(model, { prompt: 'a', ...given }), { code: 'unsupported' })
})

test('an abort ends a request, whole or streamed, with its reason', async () => {
  const reason = new Error('enough')
  for (const stream of [false, true]) {
    const controller = new AbortController()
    async function* generate(...args: Parameters<Engine.Model['generate']>) {
      const pieces = model.generate(...args)
      yield (await pieces.next()).value as Engine.Piece
      if (!stream) controller.abort(reason) // while the answer is on its way
      return yield* pieces
    }
    const aborting = new Proxy(model, {
      get(target, name) {
        if (name === 'generate') return generate
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const run = async () => {
      const request = { ...ask, ignore_eos: true, max_tokens: 350, stream }
      const answer = await createChatCompletion(aborting, request, { signal: controller.signal })
      if (Symbol.asyncIterator in answer) for await (const _ of answer) controller.abort(reason)
    }
    await assert.rejects(run, reason)
  }
  assert.equal((await createChatCompletion(model, ask)).choices[0]!.message.content, kAnswer)
})

test('the documentation names every option of a chat request', async () => {
  const page = readFileSync(join(kRoot, 'web/docs/guides/openai.md'), 'utf8').split('## Chat completions')[1]!
  const ofChat = page.split('## Completions')[0]!
  assert.ok(ofChat.includes('(../reference/sampling.md)'))
  const documented = new Set([
    ...[...ofChat.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!),
    ...samplerOptions().map(({ requestName }) => requestName),
  ])
  const error = await createChatCompletion(model, { ...ask, nothing: 1 } as object as typeof ask).then(
    () => undefined,
    (reason: Error) => reason,
  )
  const names = /It has (.*)\.$/.exec(error!.message)![1]!.split(', ')
  assert.ok(names.length > 40)
  assert.deepEqual(
    names.filter((name) => !documented.has(name)),
    [],
  )
})
