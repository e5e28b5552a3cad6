// Tools through the engine: with each format's grammar, the trained sample calls functions as their schemas require.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ChatMessage } from 'ggufscope'
import type * as Ai from 'ggufscope/ai'
import type * as Engine from 'ggufscope/engine'
import { kReplies } from './chat-formats.ts'
import { kRoot, packedFile } from './packed.ts'

const {
  chatFormatNames,
  createChatCompletion,
  createReplyParser,
  detectChatFormat,
  load,
  streamChatCompletion,
  toolGrammar,
} = (await import(pathToFileURL(packedFile('wasm/dist/engine/index.js')).href)) as typeof Engine

const model = await load(new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/stories.gguf'))))
after(() => model.close())

const kWeather = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 2, maxLength: 8 },
    days: { type: 'integer', minimum: 1, maximum: 14 },
    unit: { enum: ['C', 'F'] },
  },
  required: ['city', 'days'],
  additionalProperties: false,
}
const kTools: Engine.FunctionTool[] = [
  {
    type: 'function',
    function: { name: 'weather', description: 'Tells the weather.', parameters: kWeather },
  },
  { type: 'function', function: { name: 'now' } },
]
const kMessages = [{ role: 'user', content: 'What do bees make?' }]
const validate = new Ajv2020({ strict: false }).compile(kWeather)

function checkCalls(calls: readonly { function: { name: string; arguments: string } }[], what: string): void {
  assert.ok(calls.length > 0, what)
  for (const { function: called } of calls) {
    const given = JSON.parse(called.arguments) as unknown
    if (called.name === 'now') assert.deepEqual(given, {}, what)
    else assert.ok(called.name === 'weather' && validate(given), `${what}: ${called.arguments}`)
  }
}

async function textOf(prompt: string, options: Engine.GenerateOptions): Promise<string> {
  let text = ''
  for await (const piece of model.generate(prompt, options)) text += piece.text
  return text
}

test('in every format, constrained calls match the schemas', async () => {
  for (const name of chatFormatNames) {
    const format = detectChatFormat({ template: kReplies.find((reply) => reply.format === name)!.template })
    // Reasoning is left out, because the sample model would not end it.
    const made = toolGrammar(
      { ...format, reasoning: undefined },
      { tools: kTools, toolChoice: 'required', parallelToolCalls: false },
    )
    const grammar = made.grammar!.replace(/^root ::= \("<\|channel\|>analysis.*?assistant"\)\? /, 'root ::= ')
    const text = await textOf('What do bees make?', { grammar, seed: 3, maxTokens: 400, temperature: 1 })
    const parser = createReplyParser(format, { tools: kTools })
    const calls: { function: { name: string; arguments: string } }[] = []
    for (const { tool_calls = [] } of [...parser.push(text), ...parser.end()])
      for (const { index, function: called } of tool_calls) {
        calls[index] ??= { function: { name: called.name!, arguments: '' } }
        calls[index].function.arguments += called.arguments ?? ''
      }
    checkCalls(calls, `${name}: ${text}`)
  }
})

const kLegs = {
  type: 'object',
  properties: { n: { enum: [2, 4, 6] } },
  required: ['n'],
  additionalProperties: false,
}
const kSmall: Engine.FunctionTool[] = [
  { type: 'function', function: { name: 'legs', parameters: kLegs } },
  { type: 'function', function: { name: 'now' } },
]
const ask = {
  messages: kMessages,
  tools: kSmall,
  seed: 5,
  temperature: 1,
  max_tokens: 200,
  parallel_tool_calls: false,
}
type Called = { function: { name: string; arguments: string } }
const namesAndArguments = (calls: readonly Called[] = []) =>
  calls.map(({ function: called }) => [called.name, JSON.parse(called.arguments) as unknown] as const)

const checkSmall = (calls: readonly Called[] = []): void => {
  for (const [name, given] of namesAndArguments(calls))
    assert.ok(name === 'now' || [2, 4, 6].includes((given as { n: number }).n), JSON.stringify(calls))
}

test('requests with tools: required and one by name, whole and as chunks', async () => {
  const whole = await createChatCompletion(model, { ...ask, tool_choice: 'required' })
  const { message, finish_reason } = whole.choices[0]!
  assert.equal(finish_reason, 'tool_calls', JSON.stringify(whole))
  assert.equal(message.content, null)
  assert.match(message.tool_calls![0]!.id, /^call_\w+$/)
  const [[name, given] = []] = namesAndArguments(message.tool_calls)
  assert.ok(name === 'now' || [2, 4, 6].includes((given as { n: number }).n), JSON.stringify(message))

  const calls: Called[] = []
  let last: string | null = null
  for await (const chunk of await createChatCompletion(model, {
    ...ask,
    tool_choice: 'required',
    stream: true,
  }))
    for (const { delta, finish_reason: finish } of chunk.choices) {
      last = finish ?? last
      for (const { index, id, function: called } of delta.tool_calls ?? []) {
        if (id !== undefined) calls[index] = { function: { name: called!.name!, arguments: '' } }
        calls[index]!.function.arguments += called?.arguments ?? ''
      }
    }
  assert.equal(last, 'tool_calls')
  assert.deepEqual(
    calls,
    message.tool_calls!.map((call) => ({ function: call.function })),
  )

  for (const wanted of ['now', 'legs'])
    for (const seed of [1, 2]) {
      const tool_choice = { type: 'function', function: { name: wanted } } as const
      const named = await createChatCompletion(model, { ...ask, seed, tool_choice })
      const [[called, args] = []] = namesAndArguments(named.choices[0]!.message.tool_calls)
      assert.equal(called, wanted)
      if (wanted === 'legs') assert.ok([2, 4, 6].includes((args as { n: number }).n))
    }
})

test('a tool without parameters is called without arguments, however its schema says so', async () => {
  const bare = { type: 'object', properties: {} }
  for (const parameters of [undefined, null, {}, bare, { ...bare, required: [], title: 'Now' }]) {
    const called = { name: 'now', ...(parameters !== undefined && { parameters }) }
    const request = { ...ask, tools: [{ type: 'function', function: called }], tool_choice: 'required' }
    const { choices } = await createChatCompletion(
      model,
      request as Engine.ChatCompletionRequest & typeof ask & { stream?: false },
    )
    assert.deepEqual(
      namesAndArguments(choices[0]!.message.tool_calls),
      [['now', {}]],
      JSON.stringify(parameters),
    )
  }
})

test('with a schema, a reply is calls or JSON for it', async () => {
  const schema = { type: 'object', properties: { sky: { enum: ['blue', 'grey'] } }, required: ['sky'] }
  const response_format = { type: 'json_schema', json_schema: { name: 'weather', schema } } as const
  const kinds = new Set<string>()
  // Tokens of a call are made likelier for every second seed: both kinds of reply come, whatever the model prefers.
  const call = Object.fromEntries(
    [...model.tokenizer.encode('{"name"', { bos: false })].map((token) => [token, 100]),
  )
  for (let seed = 0; seed < 12; seed++) {
    const logit_bias = seed % 2 ? call : {}
    const request = {
      ...ask,
      seed,
      temperature: 5,
      top_k: 0,
      top_p: 1,
      min_p: 0,
      logit_bias,
      response_format,
    }
    const { message, finish_reason } = (await createChatCompletion(model, request)).choices[0]!
    kinds.add(finish_reason)
    if (finish_reason === 'tool_calls') checkSmall(message.tool_calls)
    else assert.match(message.content!, /^\{\s*"sky":\s*"(blue|grey)"\s*\}$/)
    let text = ''
    let called = ''
    for await (const { choices } of streamChatCompletion(model, request)) {
      text += choices[0]?.delta.content ?? ''
      called += choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? ''
    }
    assert.deepEqual(
      [text, called],
      [message.content ?? '', message.tool_calls?.[0]?.function.arguments ?? ''],
    )
  }
  assert.deepEqual([...kinds].sort(), ['stop', 'tool_calls'])
  const forced = await createChatCompletion(model, { ...ask, response_format, tool_choice: 'required' })
  assert.equal(forced.choices[0]!.finish_reason, 'tool_calls')
  const none = await createChatCompletion(model, { ...ask, response_format, tool_choice: 'none' })
  assert.equal(none.choices[0]!.finish_reason, 'stop')
  const { result } = await chatOf(kMessages, { ...chatOptions, schema })
  assert.ok(result.message.tool_calls ?? JSON.parse(result.message.content!))
})

test('only the allowed tools are called', async () => {
  const tools = [{ type: 'function', function: { name: 'legs' } }]
  for (let seed = 0; seed < 4; seed++) {
    const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools } }
    const { choices } = await createChatCompletion(model, { ...ask, seed, tool_choice })
    assert.deepEqual(
      choices[0]!.message.tool_calls!.map(({ function: { name } }) => name),
      ['legs'],
    )
  }
})

test('without a tool choice, replies are text', async () => {
  for (const given of [
    { tools: kSmall, tool_choice: 'none' },
    { tools: [], tool_choice: 'auto' },
  ] as const) {
    const answer = await createChatCompletion(model, { messages: kMessages, ...given, temperature: 0 })
    assert.equal(answer.choices[0]!.message.content, 'Bees make honey.')
    assert.equal(answer.choices[0]!.message.tool_calls, undefined)
    assert.equal(answer.choices[0]!.finish_reason, 'stop')
  }
})

test('a conversation has a call, its result and an answer', async () => {
  const first = await createChatCompletion(model, { ...ask, tool_choice: 'required' })
  const { message } = first.choices[0]!
  const messages = [
    ...kMessages,
    message,
    { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: 'sunny' },
    { role: 'user', content: 'What do bees make?' },
  ]
  const second = await createChatCompletion(model, {
    messages,
    tools: kSmall,
    tool_choice: 'none',
    temperature: 0,
    max_tokens: 20,
  })
  assert.ok(second.choices[0]!.message.content!.length > 0)
})

async function chatOf(
  messages: readonly ChatMessage[],
  options: Engine.ChatOptions,
): Promise<{ text: string; pieces: Engine.ChatPiece[]; result: Engine.ChatResult }> {
  const reply = model.chat(messages, options)
  const pieces: Engine.ChatPiece[] = []
  for (;;) {
    const next = await reply.next()
    if (next.done) return { text: pieces.map(({ text }) => text).join(''), pieces, result: next.value }
    pieces.push(next.value)
  }
}
const chatOptions = { seed: 5, temperature: 1, maxTokens: 200, parallelToolCalls: false, tools: kSmall }

test('chat() calls tools as createChatCompletion does, in deltas and in its message', async () => {
  for (const toolChoice of ['required', { function: { name: 'legs' } }] as const) {
    const tool_choice = typeof toolChoice === 'string' ? toolChoice : { type: 'function', ...toolChoice }
    const wanted = (await createChatCompletion(model, { ...ask, tool_choice })).choices[0]!.message
    let done: Engine.ChatResult | undefined
    const options = { ...chatOptions, toolChoice, onDone: (one: Engine.ChatResult) => (done = one) }
    const { pieces, result } = await chatOf(kMessages, options)
    assert.equal(done, result)
    assert.equal(result.finishReason, 'tool_calls')
    assert.ok(result.promptTokens > 0 && result.tokens > 0)
    const { message } = result
    assert.equal(message.content, null)
    assert.deepEqual(namesAndArguments(message.tool_calls), namesAndArguments(wanted.tool_calls))
    const calls: Called[] = []
    for (const { deltas } of pieces)
      for (const { index, id, function: called } of deltas.flatMap(({ tool_calls = [] }) => tool_calls)) {
        if (id !== undefined) calls[index] = { function: { name: called.name!, arguments: '' } }
        calls[index]!.function.arguments += called.arguments ?? ''
      }
    assert.deepEqual(
      calls,
      message.tool_calls!.map((call) => ({ function: call.function })),
    )
    const results = message.tool_calls!.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '6' }))
    const messages: ChatMessage[] = [...kMessages, message, ...results, ...kMessages]
    const second = await chatOf(messages, {
      tools: kSmall,
      toolChoice: 'none',
      temperature: 0,
      maxTokens: 20,
    })
    assert.ok(second.result.message.content!.length > 0)
  }
})

test('a limit after any token cuts a call, and none is invented: chat(), its deltas, whole answers and chunks', async () => {
  const parameters = {
    type: 'object',
    properties: { path: { enum: ['/tmp/old/cache', '/var/x'] } },
    required: ['path'],
  }
  const tools = [{ type: 'function', function: { name: 'remove', parameters } }] as const
  const asked = { seed: 2, temperature: 1 }
  const written = ['{"path":"/tmp/old/cache"}', '{"path":"/var/x"}']
  const isOurs = (text: string) => written.some((one) => one.startsWith(text.replaceAll(/\s/g, '')))
  let shortened = 0
  for (let limit = 1, ended = false; !ended; limit++) {
    const options = {
      ...asked,
      tools,
      toolChoice: 'required',
      parallelToolCalls: false,
      maxTokens: limit,
    } as const
    const { pieces, result } = await chatOf(kMessages, options)
    const request = { ...asked, messages: kMessages, tools, tool_choice: 'required', parallel_tool_calls: false, max_tokens: limit } // prettier-ignore
    const [whole] = (await createChatCompletion(model, { ...request, stream: false })).choices
    const streamed: Called[] = []
    const reasons = new Set<string>()
    const read = (deltas: readonly Engine.ReplyToolCallDelta[] = []) => {
      for (const { index, function: called } of deltas) {
        streamed[index] ??= { function: { name: called.name!, arguments: '' } }
        streamed[index].function.arguments += called.arguments ?? ''
      }
      return streamed
    }
    for (const { deltas } of pieces) for (const { tool_calls } of deltas) read(tool_calls)
    const ofPieces = structuredClone(streamed)
    streamed.length = 0
    for await (const { choices } of streamChatCompletion(model, request))
      for (const { delta, finish_reason } of choices) {
        read(delta.tool_calls as Engine.ReplyToolCallDelta[] | undefined)
        if (finish_reason) reasons.add(finish_reason)
      }
    ended = result.finishReason === 'tool_calls'
    const calls = (result.message.tool_calls ?? []).map(({ function: called }) => ({ function: called }))
    for (const { function: called } of calls) {
      assert.equal(called.name, 'remove')
      assert.ok(called.arguments !== '' && isOurs(called.arguments), `${limit}: ${called.arguments}`)
      if (!called.arguments.endsWith('}')) shortened++
    }
    const wholeCalls = (whole!.message.tool_calls ?? []).map(({ function: called }) => ({ function: called }))
    assert.deepEqual([ofPieces, streamed, wholeCalls], [calls, calls, calls], String(limit))
    const reason = ended ? 'tool_calls' : 'length'
    assert.deepEqual([result.finishReason, whole!.finish_reason, [...reasons]], [reason, reason, [reason]])
  }
  assert.ok(shortened > 3, `${shortened} shortened`)
})

test('a stop string inside a call cuts it, too', async () => {
  const { result } = await chatOf(kMessages, {
    ...chatOptions,
    toolChoice: { function: { name: 'legs' } },
    stop: '"n',
  })
  assert.equal(result.finishReason, 'stop')
  for (const { function: called } of result.message.tool_calls ?? [])
    assert.match(called.arguments, /^\{\s*$/)
})

/** The model with another generate(). */
const withGenerate = (generate: Engine.Model['generate']): Engine.CompletionModel => ({
  info: model.info,
  file: model.file,
  tokenizer: model.tokenizer,
  generate,
  encodeChat: model.encodeChat.bind(model),
  embed: model.embed.bind(model),
  rerank: model.rerank.bind(model),
  decideAll: model.decideAll.bind(model),
})

/** The answer that each door gives for a text which the model ends there: the reason, and the names of whole calls. */
async function doorsOf(text: string): Promise<Record<string, unknown>> {
  const grammar = `root ::= ${JSON.stringify(text)}`
  const writer = withGenerate((prompt, { onDone, logprobs, signal } = {}) =>
    model.generate(prompt, { grammar, maxTokens: 400, onDone, logprobs, signal }),
  )
  const given = { ...ask, tool_choice: 'required' } as const
  const [whole] = (await createChatCompletion(writer, given)).choices
  const wholes = (calls: readonly Called[] = []) =>
    calls.filter((one) => one.function.arguments.endsWith('}')).map((one) => one.function.name)
  let streamed: string | undefined | null
  for await (const { choices } of streamChatCompletion(writer, given))
    streamed = choices[0]?.finish_reason ?? streamed
  const { createGgufscope } = (await import(
    pathToFileURL(packedFile('wasm/dist/ai/index.js')).href
  )) as typeof Ai
  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'What do bees make?' }] }] as const
  const aiTools = kSmall.map(
    (one) => ({ type: 'function', name: one.function.name, inputSchema: kLegs }) as const,
  )
  const language = createGgufscope(writer).languageModel('default')
  const asked = { prompt: [...prompt], tools: aiTools, toolChoice: { type: 'required' } } as const
  const generated = await language.doGenerate(asked)
  const parts: { type: string; toolName?: string; finishReason?: unknown }[] = []
  for await (const part of (await language.doStream(asked)).stream) parts.push(part)
  const serve = async (name: string) =>
    (await import(pathToFileURL(packedFile(`wasm/dist/cli/serve/${name}.js`)).href)) as Record<
      string,
      (...args: unknown[]) => AsyncIterable<Record<string, unknown>>
    >
  const { signal } = new AbortController()
  let response: { status?: string; output: { type: string; name: string; status: string }[] } = { output: [] }
  const input = {
    input: 'What do bees make?',
    tools: kSmall.map((one) => ({ type: 'function', ...one.function })),
  }
  for await (const event of (await serve('responses')).responseEvents!(writer, input, signal))
    if (event['type'] === 'response.completed') response = event['response'] as typeof response
  let message: { stop_reason?: string; content: { type: string; name: string }[] } = { content: [] }
  const messages = { max_tokens: 400, messages: kMessages, tools: kSmall.map(({ function: { name } }) => ({ name, input_schema: kLegs })) } // prettier-ignore
  for await (const event of (await serve('messages')).messageEvents!(writer, messages, signal))
    if (event['type'] === 'message_delta') message = event['message'] as typeof message
  return {
    openai: [whole!.finish_reason, wholes(whole!.message.tool_calls as Called[])],
    streamed,
    generated: [
      generated.finishReason.unified,
      generated.content.flatMap((one) => (one.type === 'tool-call' ? [one.toolName] : [])),
    ],
    parts: [
      (parts.at(-1)!.finishReason as { unified: string }).unified,
      parts.flatMap((one) => (one.type === 'tool-call' ? [one.toolName] : [])),
    ],
    responses: [
      response.status,
      response.output
        .filter(({ type, status }) => type === 'function_call' && status === 'completed')
        .map(({ name }) => name),
    ],
    messages: [
      message.stop_reason,
      message.content.filter(({ type }) => type === 'tool_use').map(({ name }) => name),
    ],
  }
}

test('a call that the model ends itself, unclosed, is no whole call behind any door', async () => {
  let text = ''
  const listener = withGenerate(async function* (prompt, options) {
    const pieces = model.generate(prompt, options)
    for (;;) {
      const { done, value } = await pieces.next()
      if (done === true) return value
      text += value.text
      yield value
    }
  })
  const toolChoice = { type: 'function', function: { name: 'legs' } } as const
  await createChatCompletion(listener, { ...ask, tool_choice: toolChoice })
  const doors = (reasons: readonly string[], calls: readonly string[]) => {
    const [openai, ai, responses, messages] = reasons
    return {
      openai: [openai, calls],
      streamed: openai,
      generated: [ai, calls],
      parts: [ai, calls],
      responses: [responses, calls],
      messages: [messages, calls],
    }
  }
  assert.deepEqual(
    await doorsOf(text),
    doors(['tool_calls', 'tool-calls', 'completed', 'tool_use'], ['legs']),
  )
  const begin = text.indexOf('"n"')
  assert.ok(begin > 0, text)
  for (const end of [begin, begin + 2, begin + 4])
    assert.deepEqual(
      await doorsOf(text.slice(0, end)),
      doors(['stop', 'stop', 'completed', 'end_turn'], []),
      text.slice(0, end),
    )
})

test('chat() without calls: content, or reasoning where the template opens it', async () => {
  for (const options of [{}, { tools: kSmall, toolChoice: 'none' }, { tools: [] }] as const) {
    const { text, pieces, result } = await chatOf(kMessages, { ...options, temperature: 0 })
    assert.equal(text, 'Bees make honey.')
    assert.equal(pieces.map(({ deltas }) => deltas.map(({ content }) => content).join('')).join(''), text)
    assert.deepEqual(result.message, { role: 'assistant', content: text })
    assert.equal(result.finishReason, 'end')
  }
  const thinking = { template: 'bailing-think', temperature: 0 }
  const { text, result } = await chatOf(kMessages, thinking)
  assert.ok(text !== '')
  assert.equal(result.message.content, '')
  assert.equal(result.message.reasoning_content, text.trim())
  // A grammar or a schema alone constrains the whole reply.
  const { result: held } = await chatOf(kMessages, { schema: { enum: [2, 4] }, maxTokens: 10 })
  assert.match(held.message.content!, /^[24]$/)
})

test('chat() refuses messages that say nothing, with the words of requests', async () => {
  const silent: object[] = [{ role: 'user' }, { role: 'system' }, { role: 'tool', tool_call_id: 'a' }, { role: 'assistant' }, { role: 'user', content: 5 }] // prettier-ignore
  for (const message of silent) {
    const messages = [...kMessages, message] as Parameters<typeof model.chat>[0]
    const refusals: string[] = []
    for (const [what, call] of [
      ['chat()', () => chatOf(messages, { maxTokens: 1 })],
      ['encodeChat()', () => model.encodeChat(messages)],
      ['createChatCompletion()', () => createChatCompletion(model, { messages, max_tokens: 1 })],
    ] as const)
      await assert.rejects(
        async () => void (await call()),
        (error: Engine.GgufError) => {
          assert.equal(error.code, 'invalid-argument')
          refusals.push(error.message.replace(what, 'WHAT'))
          return true
        },
      )
    assert.equal(new Set(refusals).size, 1, refusals.join(' '))
    assert.match(refusals[0]!, /^(Message 1 of WHAT has no content|The content of message 1 of WHAT must be)/)
  }
  const { result } = await chatOf([{ role: 'user', content: '' }], { maxTokens: 1 })
  assert.equal(result.tokens, 1)
})

test('chat() refuses tool options that it does not support', async () => {
  const grammar = 'root ::= "a"'
  const cases: [options: object, code: string][] = [
    [{ tools: kSmall, grammar }, 'unsupported'],
    [{ tools: [{ type: 'web_search' }] }, 'unsupported'],
    [{ tools: [{ type: 'function' }] }, 'invalid-argument'],
    [{ tools: [kSmall[0], kSmall[0]] }, 'invalid-argument'],
    [{ tools: kSmall, toolChoice: 'always' }, 'invalid-argument'],
    [{ tools: kSmall, toolChoice: { function: { name: 'x' } } }, 'invalid-argument'],
    [{ tools: kSmall, parallelToolCalls: 1 }, 'invalid-argument'],
    [{ toolChoice: 'required' }, 'invalid-argument'],
  ]
  for (const [options, code] of cases)
    await assert.rejects(chatOf(kMessages, options), { code }, JSON.stringify(options))
})

test('a lazy grammar constrains the answer from its trigger on', async () => {
  const prompt = await model.file.renderChat(kMessages)
  const greedy = { temperature: 0, maxTokens: 40 }
  assert.equal(await textOf(prompt, greedy), 'Bees make honey.')
  const waxy = { ...greedy, grammar: 'root ::= "make wax" [.!]' }
  assert.match(await textOf(prompt, { ...waxy, grammarTriggers: ['make'] }), /^Bees make wax[.!]$/)
  assert.match(await textOf(prompt, { ...waxy, grammarTriggers: [{ text: 'make' }] }), /^Bees make wax[.!]$/)
  // A trigger with atStart allows only white space before it, so this one never occurs.
  assert.equal(
    await textOf(prompt, { ...waxy, grammarTriggers: [{ text: 'make', atStart: true }] }),
    'Bees make honey.',
  )
  const pieces: Engine.Piece[] = []
  for await (const piece of model.generate(prompt, greedy)) pieces.push(piece)
  const token = pieces.find(({ text }) => text.includes('ma'))!.token
  const named = await textOf(prompt, {
    ...greedy,
    grammar: `root ::= <[${token}]> "X"`,
    grammarTriggers: [{ token }],
  })
  assert.match(named, /^Bees? ?\w*X$/)
})

test('grammars can name tokens, and requested control tokens appear in the text', async () => {
  const user = model.tokenizer.find('<|user|>')!
  const options = { grammar: 'root ::= <|user|> "hi" !<|user|> <|assistant|>', seed: 1, maxTokens: 20 }
  const hidden = await textOf('Bees', options)
  assert.match(hidden, /^hi/)
  assert.equal(await textOf('Bees', { ...options, showTokens: [user] }), `<|user|>${hidden}`)
  for (const wrong of [
    { grammarTriggers: [{}] },
    { grammarTriggers: [''] },
    { grammarTriggers: [{ token: -1 }] },
    { showTokens: [1e6] },
    { showTokens: [0.5] },
  ])
    await assert.rejects(textOf('Bees', { ...options, ...(wrong as object) }), { code: 'invalid-argument' })
  await assert.rejects(textOf('Bees', { grammar: 'root ::= <nothing>' }), {
    code: 'invalid-argument',
    message: /<nothing> is not one token/,
  })
})
