// ggufscope serve of the packed package: with OpenAI's official client, plain requests, and clients that misbehave.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, kShared, loadNodePackage, packedFile } from './packed.ts'
import { smallBert } from './small-bert.ts'

const kModel = join(kRoot, 'tests/fixtures/stories.gguf')
const kCli = packedFile('wasm/dist/cli.js')
const running = new Set<ChildProcess>()
// Also at exit, because an error outside the tests ends this process without its hooks.
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))
after(() => running.forEach((child) => child.kill('SIGKILL')))

interface Running {
  readonly url: string
  readonly port: number
  readonly child: ChildProcess
  readonly client: OpenAI
}

async function serve(...args: string[]): Promise<Running> {
  return await serveFile(kModel, ...args)
}

async function serveFile(file: string, ...args: string[]): Promise<Running> {
  const child = spawn(process.execPath, [kCli, 'serve', file, '--port', '0', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  let text = ''
  for await (const piece of child.stdout!.iterator({ destroyOnReturn: false })) {
    text += String(piece)
    if (text.includes('}')) break
  }
  const { url } = JSON.parse(text) as { url: string }
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
  return { url, port: Number(new URL(url).port), child, client }
}

const server = await serve('--alias', 'stories')
const { client, url } = server
const model = 'stories'
const question = [{ role: 'user', content: 'What do bees make?' }] as const
const kAnswer = 'Bees make honey.'
const ask = { model, messages: [...question], temperature: 0 }
// A long answer that does not end by itself.
const endless = { ...ask, ignore_eos: true, max_tokens: 300 } as typeof ask

const post = (path: string, body: unknown, init: RequestInit = {}, at = url): Promise<Response> =>
  fetch(at + path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    ...init,
  })

test("OpenAI's client has a conversation, whole and streamed, and JSON", async () => {
  const first = await client.chat.completions.create(ask)
  assert.equal(first.choices[0]!.message.content, kAnswer)
  assert.equal(first.model, model)
  const messages = [
    ...question,
    first.choices[0]!.message,
    { role: 'user', content: 'Tell me a story about an owl.' },
  ] as OpenAI.ChatCompletionMessageParam[]
  const stream = client.chat.completions.stream({ ...ask, messages, stream_options: { include_usage: true } })
  let told = ''
  stream.on('content', (delta) => (told += delta))
  const final = await stream.finalChatCompletion()
  assert.equal(final.choices[0]!.message.content, told)
  assert.ok(told.length > 100)
  assert.ok(final.usage!.completion_tokens > 20)
  assert.ok(final.usage!.prompt_tokens_details!.cached_tokens! > 8, 'the conversation was computed again')
  const format = zodResponseFormat(z.object({ bees: z.literal('honey') }), 'bees')
  const parsed = await client.chat.completions.parse({ ...ask, response_format: format })
  assert.deepEqual(parsed.choices[0]!.message.parsed, { bees: 'honey' })
  const again = await client.completions.create({
    model,
    prompt: 'Once upon a time',
    temperature: 0,
    max_tokens: 5,
  })
  assert.match(again.choices[0]!.text, /^, /)
  let pieces = ''
  const request = { model, prompt: 'Once upon a time', temperature: 0, max_tokens: 5, stream: true } as const
  for await (const chunk of await client.completions.create(request)) {
    pieces += chunk.choices[0]?.text ?? ''
    assert.equal(chunk.usage, undefined)
  }
  assert.equal(pieces, again.choices[0]!.text)
})

test("OpenAI's client calls tools, whole and streamed, and sends their results", async () => {
  const parameters = {
    type: 'object',
    properties: { n: { enum: [2, 4, 6] } },
    required: ['n'],
    additionalProperties: false,
  }
  const tools = [{ type: 'function' as const, function: { name: 'legs', parameters } }]
  const request = { ...ask, tools, tool_choice: 'required' as const, parallel_tool_calls: false }
  const { choices } = await client.chat.completions.create(request)
  assert.equal(choices[0]!.finish_reason, 'tool_calls')
  const [call] = choices[0]!.message.tool_calls!
  assert.ok(call?.type === 'function' && call.function.name === 'legs')
  const given = JSON.parse(call.function.arguments) as { n: number }
  assert.ok([2, 4, 6].includes(given.n))
  const streamed = await client.chat.completions.stream(request).finalChatCompletion()
  const again = streamed.choices[0]!.message.tool_calls![0]!
  assert.ok(again.type === 'function' && again.function.arguments === call.function.arguments)
  const result = { role: 'tool' as const, tool_call_id: call.id, content: String(given.n) }
  const messages = [...question, choices[0]!.message, result]
  const answer = await client.chat.completions.create({ ...ask, messages, tools, tool_choice: 'none' })
  assert.equal(typeof answer.choices[0]!.message.content, 'string')
  assert.equal(answer.choices[0]!.message.tool_calls, undefined)
})

test('models, embeddings, tokens and templates', async () => {
  const [listed] = (await client.models.list()).data
  assert.equal(listed!.id, model)
  assert.equal((await client.models.retrieve(model)).owned_by, 'ggufscope')
  await assert.rejects(client.models.retrieve('other'), OpenAI.NotFoundError)
  assert.equal((await fetch(`${url}/v1/models/%ZZ`)).status, 404)
  const input = ['a small owl', 'a bird']
  const { data, usage } = await client.embeddings.create({ model, input })
  assert.equal(data.length, 2)
  assert.ok(Math.abs(Math.hypot(...data[0]!.embedding) - 1) < 1e-5)
  assert.ok(usage.total_tokens > 3)
  const floats = await client.embeddings.create({ model, input, encoding_format: 'float' })
  assert.equal(floats.data[0]!.embedding.length, data[0]!.embedding.length)
  const { tokens } = (await (await post('/tokenize', { content: 'a small owl' })).json()) as {
    tokens: number[]
  }
  assert.ok(tokens.length >= 3)
  assert.deepEqual(await (await post('/detokenize', { tokens })).json(), { content: 'a small owl' })
  const pieces = { content: 'owl', with_pieces: true, add_special: true }
  const named = (await (await post('/tokenize', pieces)).json()) as {
    tokens: { id: number; piece: string }[]
  }
  assert.ok(named.tokens.every(({ id, piece }) => Number.isInteger(id) && piece.length > 0))
  const repeated = 'owl owl owl \u{1f989}\u{1f989}'
  const again = (await (await post('/tokenize', { content: repeated, with_pieces: true })).json()) as {
    tokens: { piece: string | number[] }[]
  }
  const bytes = again.tokens.map(({ piece }) => Buffer.from(piece as string))
  assert.equal(Buffer.concat(bytes).toString().trim(), repeated)
  const { prompt } = (await (await post('/apply-template', { messages: question })).json()) as {
    prompt: string
  }
  assert.match(prompt, /What do bees make\?/)
  assert.deepEqual(await (await fetch(`${url}/health`)).json(), { status: 'ok' })
  const welcome = (await (await fetch(`${url}/`)).json()) as { name: string; routes: string[] }
  assert.equal(welcome.name, 'ggufscope')
  assert.ok(welcome.routes.includes('POST /v1/chat/completions'))
  const ranked = await post('/v1/rerank', { query: 'bees', documents: ['honey'] })
  assert.equal(ranked.status, 400) // a language model has no classification head
  const { error } = (await ranked.json()) as { error: { code: string; message: string } }
  assert.equal(error.code, 'unsupported')
  assert.match(error.message, /llama lacks the ability rerank\. Its abilities: generate, embed\.$/)
})

test('errors have a status, a code and the shape that clients read', async () => {
  let nested: unknown = []
  for (let i = 0; i < 3000; i++) nested = [nested]
  let schema: unknown = {}
  for (let i = 0; i < 3000; i++) schema = { items: schema }
  const cases: (readonly [path: string, body: unknown, status: number, code: string])[] = [
    ['/v1/chat/completions', { messages: [] }, 400, 'invalid-argument'],
    ['/v1/chat/completions', { ...ask, temperature: -1 }, 400, 'invalid-argument'],
    ['/v1/chat/completions', { ...ask, unknown: 1 }, 400, 'invalid-argument'],
    ['/v1/chat/completions', [], 400, 'invalid-argument'],
    ['/v1/chat/completions', '{', 400, 'invalid_json'],
    ['/v1/chat/completions', { ...ask, stream: true, top_p: 2 }, 400, 'invalid-argument'],
    ['/v1/completions', { prompt: Array(400).fill(5) }, 400, 'out-of-range'],
    ['/v1/completions', { prompt: [99999] }, 400, 'out-of-range'],
    ['/v1/embeddings', {}, 400, 'invalid-argument'],
    ['/tokenize', {}, 400, 'invalid-argument'],
    ['/detokenize', { tokens: [-1] }, 400, 'out-of-range'],
    ['/detokenize', { tokens: ['a'] }, 400, 'invalid-argument'],
    ['/apply-template', {}, 400, 'invalid-argument'],
    ['/apply-template', { messages: 5 }, 400, 'invalid-argument'],
    ['/apply-template', { ...ask, chat_template_kwargs: 5 }, 400, 'invalid-argument'],
    ['/v1/messages', { messages: ['a'], max_tokens: 1 }, 400, 'invalid-argument'],
    ['/v1/messages', { ...ask, messages: [{ role: 'user' }, ...ask.messages] }, 400, 'invalid-argument'],
    ...['system', 'tools', 'tool_choice', 'stop_sequences', 'thinking', 'output_config', 'stream'].map(
      (field) => ['/v1/messages', { ...ask, [field]: 5 }, 400, 'invalid-argument'] as const,
    ),
    ...['instructions', 'tools', 'tool_choice', 'text', 'max_output_tokens', 'reasoning', 'stream'].map(
      (field) => ['/v1/responses', { input: 'a', [field]: 0.5 }, 400, 'invalid-argument'] as const,
    ),
    ['/v1/nothing', {}, 404, 'not_found'],
    ['/v1/chat/completions', `{"messages":${'['.repeat(1e5)}${']'.repeat(1e5)}}`, 400, 'nesting-too-deep'],
    ['/v1/chat/completions', `{"metadata":${'['.repeat(2e5)}`, 400, 'nesting-too-deep'],
    ['/v1/chat/completions', `{"a":"\\"[${'['.repeat(600)}\\\\"}`, 400, 'invalid-argument'],
    ['/tokenize/', {}, 400, 'invalid-argument'],
    [
      '/v1/chat/completions',
      { ...ask, response_format: { type: 'json_object', schema } },
      400,
      'nesting-too-deep',
    ],
    [
      '/v1/chat/completions',
      { ...ask, response_format: { type: 'json_object', schema: { enum: [nested] } } },
      400,
      'nesting-too-deep',
    ],
    ['/health', {}, 405, 'method_not_allowed'],
  ]
  for (const [path, body, status, code] of cases) {
    const response = await post(path, body)
    const { error } = (await response.json()) as { error: { message: string; type: string; code: string } }
    assert.deepEqual(
      [response.status, error.code],
      [status, code],
      `${path} ${JSON.stringify(body).slice(0, 80)}`,
    )
    assert.ok(error.message.length > 10 && error.type === 'invalid_request_error')
  }
  await assert.rejects(client.chat.completions.create({ ...ask, top_p: 3 }), OpenAI.BadRequestError)
  const large = await post('/tokenize', { content: 'a'.repeat(11e6) })
  assert.equal(large.status, 413)
  // The length is unknown, so the server counts the bytes. The body is finite, and each piece waits for a turn of the
  // event loop, because after the server has closed the connection, fetch would read an endless body into memory.
  let pieces = 64
  const chunked = await fetch(`${url}/tokenize`, {
    method: 'POST',
    body: new ReadableStream({
      async pull(controller) {
        await setImmediate()
        if (pieces-- === 0) controller.close()
        else controller.enqueue(new Uint8Array(1 << 20).fill(32))
      },
    }),
    duplex: 'half',
  } as RequestInit).then(
    ({ status }) => status,
    () => 413, // the connection may be closed before everything is sent
  )
  assert.equal(chunked, 413)
})

test('pages of other origins and names that are not ours are refused', async () => {
  const ask = (
    headers: Record<string, string>,
    method = 'GET',
    path = '/v1/models',
  ): Promise<[number, unknown, unknown]> =>
    new Promise((resolve, reject) => {
      const options = { port: server.port, host: '127.0.0.1', path, method, headers }
      const asked = httpRequest(options, (response) => {
        response.resume()
        const { 'access-control-allow-origin': allowed, 'access-control-allow-headers': named } =
          response.headers
        resolve([response.statusCode!, allowed, named])
      })
      asked.on('error', reject).end()
    })
  const own = `http://127.0.0.1:${server.port}`
  assert.equal((await ask({}, 'GET', `${own}/v1/models?limit=1`))[0], 200) // as a proxy asks
  for (const origin of [own, 'http://localhost:5173', 'https://app.localhost', 'http://[::1]:80']) {
    assert.deepEqual((await ask({ origin })).slice(0, 2), [200, origin])
    const wanted = { origin, 'access-control-request-headers': 'authorization,x-own' }
    assert.deepEqual(await ask(wanted, 'OPTIONS'), [204, origin, 'authorization,x-own'])
  }
  for (const origin of [
    'https://example.com',
    'null',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
  ])
    for (const method of ['GET', 'OPTIONS'])
      assert.deepEqual((await ask({ origin }, method)).slice(0, 2), [403, undefined], origin)
  for (const host of [
    'localhost',
    `127.0.0.1:${server.port}`,
    '[::1]:8080',
    '192.168.0.7',
    'llm:8080',
    'my.local',
  ])
    assert.equal((await ask({ host }))[0], 200, host)
  for (const host of ['example.com', 'localhost.example.com:8080', '127.0.0.1.example.com', 'a b'])
    assert.equal((await ask({ host }))[0], 403, host)
})

test("OpenAI's client uses the Responses API, whole and streamed, with tools and JSON", async () => {
  const input = 'What do bees make?'
  const request = { model, input, temperature: 0 }
  const whole = await client.responses.create(request)
  assert.equal(whole.output_text, kAnswer)
  assert.equal(whole.status, 'completed')
  assert.ok(whole.usage!.output_tokens > 3)
  const stream = client.responses.stream(request)
  let told = ''
  stream.on('response.output_text.delta', ({ delta }) => (told += delta))
  const final = await stream.finalResponse()
  assert.deepEqual([final.output_text, told, final.status], [kAnswer, kAnswer, 'completed'])
  const cut = await client.responses.create({ ...request, max_output_tokens: 2 })
  assert.deepEqual([cut.status, cut.incomplete_details?.reason], ['incomplete', 'max_output_tokens'])

  const parameters = {
    type: 'object',
    properties: { n: { enum: [2, 4] } },
    required: ['n'],
    additionalProperties: false,
  }
  const tools = [{ type: 'function' as const, name: 'legs', parameters, strict: true }]
  const calling = { ...request, tools, tool_choice: 'required' as const, parallel_tool_calls: false }
  const called = await client.responses.create(calling)
  const call = called.output.find((item) => item.type === 'function_call')!
  assert.equal(call.name, 'legs')
  assert.ok([2, 4].includes((JSON.parse(call.arguments) as { n: number }).n))
  const again = await client.responses.stream(calling).finalResponse()
  const streamed = again.output.find((item) => item.type === 'function_call')!
  assert.equal(streamed.arguments, call.arguments)
  const output = { type: 'function_call_output' as const, call_id: call.call_id, output: '4' }
  const items = [
    { role: 'user' as const, content: input },
    ...called.output,
    output,
  ] as OpenAI.Responses.ResponseInput
  const answer = await client.responses.create({ ...request, input: items, tools, tool_choice: 'none' })
  assert.equal(
    answer.output.every(({ type }) => type === 'message'),
    true,
  )
  const schema = {
    type: 'object',
    properties: { bees: { const: 'honey' } },
    required: ['bees'],
    additionalProperties: false,
  }
  const text = { format: { type: 'json_schema' as const, name: 'bees', schema, strict: true } }
  assert.deepEqual(JSON.parse((await client.responses.create({ ...request, text })).output_text), {
    bees: 'honey',
  })

  const bad: object[] = [
    {},
    { input: [] },
    { input, previous_response_id: 'x' },
    { input: [{ type: 'web_search_call' }] },
    { input, instructions: ['x'] },
    { input, tools: { legs: {} } },
    { input: [{ role: 'user', content: [{ type: 'input_text', text: 5 }] }] },
    { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] },
  ]
  for (const body of [...bad, { input, tools: [{ type: 'web_search' }] }, { input, nothing: 1 }])
    assert.equal((await post('/v1/responses', body)).status, 400, JSON.stringify(body))
  assert.equal((await post('/v1/responses', { input, stream: true, previous_response_id: 'x' })).status, 400)

  const reasoned = [
    { type: 'reasoning', content: 'so' },
    { role: 'user', content: input },
  ]
  assert.equal((await post('/v1/responses', { ...request, input: reasoned })).status, 200)

  const count = async (path: string, body: object) => await (await post(path, body)).json()
  const { usage } = await client.chat.completions.create({ ...ask, max_tokens: 1 })
  const counted = { object: 'response.input_tokens', input_tokens: usage!.prompt_tokens }
  assert.deepEqual(await count('/v1/chat/completions/input_tokens', { messages: question }), counted)
  assert.deepEqual(await count('/v1/responses/input_tokens', { input }), counted)
})

interface Message {
  content: { type: string; text?: string; id: string; name?: string; input?: { n: number } }[]
  stop_reason: string
  stop_sequence: string | null
  usage: { input_tokens: number; output_tokens: number; cache_read_input_tokens: number }
}

test("Anthropic's Messages API, whole and streamed, with tools", async () => {
  const request = { model, max_tokens: 40, temperature: 0, messages: question }
  const create = async (body: object): Promise<Message> => {
    const response = await post('/v1/messages', { ...request, ...body })
    assert.equal(response.status, 200, await response.clone().text())
    return (await response.json()) as Message
  }
  const whole = await create({})
  assert.deepEqual(whole.content, [{ type: 'text', text: kAnswer }])
  assert.equal(whole.stop_reason, 'end_turn')
  assert.equal((await create({ max_tokens: 2 })).stop_reason, 'max_tokens')
  const { usage } = await client.chat.completions.create({ ...ask, max_tokens: 1 })
  const prompt = whole.usage.input_tokens + whole.usage.cache_read_input_tokens
  assert.equal(prompt, usage!.prompt_tokens)
  const counted = await post('/v1/messages/count_tokens', { messages: question })
  assert.deepEqual(await counted.json(), { input_tokens: prompt })
  assert.ok((await create({ system: 'Be brief.' })).usage.output_tokens > 0)

  const text = await (await post('/v1/messages', { ...request, stream: true })).text()
  const events = [...text.matchAll(/^event: (\w+)\ndata: (.+)$/gm)].map(([, name, data]) => {
    const event = JSON.parse(data!) as { type: string; delta?: { text?: string; stop_reason?: string } }
    assert.equal(event.type, name)
    return event
  })
  const types = events.map(({ type }) => type).filter((type) => type !== 'content_block_delta')
  assert.deepEqual(types, [
    'message_start',
    'content_block_start',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ])
  assert.equal(events.map(({ delta }) => delta?.text ?? '').join(''), kAnswer)
  assert.doesNotMatch(text, /DONE/)

  const input_schema = {
    type: 'object',
    properties: { n: { enum: [2, 4] } },
    required: ['n'],
    additionalProperties: false,
  }
  const tools = [{ name: 'legs', description: 'Counts legs.', input_schema }]
  const tool_choice = { type: 'any', disable_parallel_tool_use: true }
  const called = await create({ tools, tool_choice, max_tokens: 200 })
  const use = called.content.find(({ type }) => type === 'tool_use')!
  assert.equal(called.stop_reason, 'tool_use')
  assert.ok(use.name === 'legs' && [2, 4].includes(use.input!.n))
  const streamed = await (
    await post('/v1/messages', { ...request, max_tokens: 200, tools, tool_choice, stream: true })
  ).text()
  const json = [...streamed.matchAll(/"partial_json":("(?:[^"\\]|\\.)*")/g)].map(
    ([, part]) => JSON.parse(part!) as string,
  )
  assert.deepEqual(JSON.parse(json.join('')), use.input)
  const result = { type: 'tool_result', tool_use_id: use.id, content: [{ type: 'text', text: '4' }] }
  const conversation = [
    ...question,
    { role: 'assistant', content: called.content },
    { role: 'user', content: [result] },
  ]
  const answer = await create({ messages: conversation, tools, tool_choice: { type: 'none' } })
  assert.ok(answer.content.every(({ type }) => type === 'text'))

  const format = { type: 'json_schema', schema: input_schema }
  const [shaped] = (await create({ max_tokens: 200, output_config: { format, effort: 'low' } })).content
  assert.ok([2, 4].includes((JSON.parse(shaped!.text!) as { n: number }).n))
  // The client's tool runner asks for a thread first, and goes on without one if the details say so.
  const threaded = await post('/v1/messages', { ...request, thread: { type: 'create' } })
  assert.equal(threaded.status, 400)
  const { error } = (await threaded.json()) as { error: { details: object } }
  assert.deepEqual(error.details, { error_code: 'thread_unsupported_request', unsupported: ['thread'] })
  const strange = await (await post('/v1/messages', { ...request, nothing: 1 })).text()
  assert.match(strange, /The request has no option \\"nothing\\"/)

  const begun = [...question, { role: 'assistant', content: [{ type: 'text', text: 'Bees make' }] }]
  assert.deepEqual((await create({ messages: begun })).content, [{ type: 'text', text: ' honey.' }])

  const stopped = await create({ stop_sequences: ['never', ' honey'] })
  assert.deepEqual(stopped.content, [{ type: 'text', text: 'Bees make' }])
  assert.deepEqual([stopped.stop_reason, stopped.stop_sequence], ['stop_sequence', ' honey'])
  assert.equal(whole.stop_sequence, null)
  const stops = { ...request, stop_sequences: [' honey'], stream: true }
  assert.match(
    await (await post('/v1/messages', stops)).text(),
    /"delta":{"stop_reason":"stop_sequence","stop_sequence":" honey"}/,
  )
  // A call that the limit cuts has no input that is an object, so the whole answer lacks it.
  const cuts = await Promise.all(
    Array.from({ length: called.usage.output_tokens }, (_, i) =>
      create({ tools, tool_choice, max_tokens: i + 1 }),
    ),
  )
  for (const { content, stop_reason } of cuts.slice(0, -1)) {
    assert.equal(stop_reason, 'max_tokens')
    for (const block of content)
      assert.ok(block.type !== 'tool_use' || [2, 4].includes(block.input!.n), JSON.stringify(block))
  }
  assert.ok(cuts.some(({ content }) => content.length === 0))
  // An answer that ends inside the call by itself, here by a stop word, has no call either, and says why it ended.
  const ended = await create({ tools, tool_choice, stop_sequences: ['"n"'] })
  assert.deepEqual(ended.content, [])
  assert.deepEqual([ended.stop_reason, ended.stop_sequence], ['stop_sequence', '"n"'])

  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
  const bad: object[] = [
    { messages: [] },
    { tools: {} },
    { messages: [{ role: 'user', content: [{ type: 'text', text: { a: 1 } }] }] },
    { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64', data: 'AAAA' } }] }] },
    { top_p: 3 },
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    { messages: [{ role: 'user', content: [image] }] },
    {
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://example.com' } }] },
      ],
    },
  ]
  for (const body of bad) {
    const refused = await post('/v1/messages', { ...request, ...body })
    const { type, error } = (await refused.json()) as { type: string; error: { type: string } }
    assert.deepEqual(
      [refused.status, type, error.type],
      [400, 'error', 'invalid_request_error'],
      JSON.stringify(body),
    )
  }
})

test('-1 is no limit of tokens', async () => {
  const whole = await client.chat.completions.create(ask)
  for (const name of ['max_tokens', 'max_completion_tokens'])
    assert.deepEqual(
      (await client.chat.completions.create({ ...ask, [name]: -1 })).choices[0]!.message,
      whole.choices[0]!.message,
    )
  const request = { model, prompt: 'Once upon a time', temperature: 0 }
  const all = await client.completions.create(request)
  assert.equal(
    (await client.completions.create({ ...request, max_tokens: -1 })).choices[0]!.text,
    all.choices[0]!.text,
  )
  assert.equal((await post('/v1/chat/completions', { ...ask, max_tokens: -2 })).status, 400)
})

test('bodies may be compressed', async () => {
  const body = JSON.stringify({ content: 'a small owl' })
  const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }
  const send = (encoding: string, data: Uint8Array) =>
    post('/tokenize', '', { body: new Uint8Array(data), headers: { 'content-encoding': encoding } })
  const plain: unknown = await (await post('/tokenize', body)).json()
  for (const [name, encode] of Object.entries(encoders))
    assert.deepEqual(await (await send(name, encode(body))).json(), plain, name)
  assert.equal((await send('gzip', Buffer.from(body))).status, 400)
  assert.equal((await send('zip', Buffer.from(body))).status, 415)
  // 11 MB in 11 kB
  assert.equal((await send('gzip', gzipSync(JSON.stringify({ content: 'a'.repeat(11e6) })))).status, 413)
})

test('long texts are tokenized while other requests are answered', async () => {
  const content = 'Bees make honey. '.repeat(60_000)
  const tokens = async () =>
    ((await (await post('/tokenize', { content })).json()) as { tokens: number[] }).tokens
  await tokens() // starts the thread
  const done: string[] = []
  const whole = tokens().finally(() => done.push('tokens'))
  const others = Array.from({ length: 3 }, async () => {
    assert.equal((await fetch(`${url}/health`)).status, 200)
    done.push('health')
  })
  await Promise.all([whole, ...others])
  assert.deepEqual(done, ['health', 'health', 'health', 'tokens'])
  const ids = await whole
  assert.equal(
    ((await (await post('/detokenize', { tokens: ids })).json()) as { content: string }).content,
    content,
  )
  const long = { messages: [{ role: 'user', content }] }
  for (const [path, body] of [
    ['/v1/chat/completions', long],
    ['/v1/completions', { prompt: content }],
    ['/v1/embeddings', { input: ['a', content] }],
  ] as const) {
    const response = await post(path, body)
    assert.equal(response.status, 400)
    assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'out-of-range', path)
  }
  const { prompt } = (await (await post('/apply-template', long)).json()) as { prompt: string }
  assert.ok(prompt.includes(content.trim()))
})

// Patterns over each other: no schema that takes as long is short.
const kBomb = {
  type: 'string',
  allOf: Array.from({ length: 8 }, (_, i) => ({ pattern: `(a|b){${i + 2}}(c|d)*e{1,${20 + i}}` })),
}
const kBombs: readonly [name: string, body: object][] = [
  ['schema', { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: kBomb } } }],
  [
    'tools',
    {
      tool_choice: 'required',
      tools: Array.from({ length: 20 }, (_, i) => ({
        type: 'function',
        function: { name: `f${i}`, parameters: { type: 'object', properties: { text: kBomb } } },
      })),
    },
  ],
]
test('schemas that take long to convert are refused while other requests are answered', async () => {
  for (const [name, fields] of kBombs) {
    const bomb = () => post('/v1/chat/completions', { ...ask, ...fields })
    await bomb() // starts the thread
    const done: string[] = []
    const refused = bomb().finally(() => done.push('bomb'))
    const others = Array.from({ length: 3 }, async () => {
      assert.equal((await fetch(`${url}/health`)).status, 200)
      done.push('health')
    })
    await Promise.all([refused, ...others])
    assert.deepEqual(done, ['health', 'health', 'health', 'bomb'], name)
    const { error } = (await (await refused).json()) as { error: { code: string; message: string } }
    assert.deepEqual([(await refused).status, error.code], [400, 'unsupported'], name)
    assert.match(error.message, /takes more than 5000000 steps/, name)
  }
})

test('a schema that no few steps convert constrains the answer, and is converted once for all choices', async () => {
  const names = Array.from({ length: 200 }, (_, i) => 'p'.repeat(i % 20) + i)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 3 }]))
  const schema = { type: 'object', properties, additionalProperties: { type: 'integer' }, maxProperties: 1 }
  const { choices } = (await (
    await post('/v1/chat/completions', {
      ...ask,
      temperature: 1,
      n: 2,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    })
  ).json()) as OpenAI.ChatCompletion
  for (const { message } of choices) {
    const entries = Object.entries(JSON.parse(message.content!) as object)
    assert.ok(entries.length <= 1)
    for (const [key, value] of entries) assert.equal(typeof value, names.includes(key) ? 'string' : 'number')
  }
  assert.equal(choices.length, 2)
})

interface OwnServer {
  readonly port: number
  stop(patience: number): Promise<void>
}
/** A server of this process, with short limits. */
async function ownServer(timeouts: object): Promise<OwnServer> {
  const path = pathToFileURL(packedFile('wasm/dist/cli/serve/server.js')).href
  const { ModelServer } = (await import(path)) as {
    ModelServer: { start(served: object, options: object): Promise<OwnServer> }
  }
  return await ModelServer.start(
    { model: { info: { abilities: ['generate'], architecture: 'llama' } } },
    {
      host: '127.0.0.1',
      port: 0,
      apiKey: 'k',
      cors: [],
      maxBody: 1000,
      maxQueue: 1,
      timeouts,
      onRequest: () => {},
    },
  )
}

const kKeyed = 'Host: x\r\nAuthorization: Bearer k\r\n'
// No limit but the one that is tried can end these connections while the test runs.
const kHalves: readonly [name: string, timeouts: object, sent: string, status: number][] = [
  ['headers', { headers: 50, check: 10 }, 'GET /health HTTP/1.1\r\nHost: x\r\nX-a: ', 408],
  ['a body', { body: 50 }, `POST /tokenize HTTP/1.1\r\n${kKeyed}Content-Length: 500\r\n\r\n{"a`, 408],
  [
    'chunks',
    { body: 50 },
    `POST /tokenize HTTP/1.1\r\n${kKeyed}Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n`,
    408,
  ],
  ['a chat', { body: 50 }, `POST /v1/chat/completions HTTP/1.1\r\n${kKeyed}Content-Length: 9\r\n\r\n{`, 408],
  [
    'all of it',
    { headers: 50, request: 60, check: 10 },
    `POST /tokenize HTTP/1.1\r\n${kKeyed}Content-Length: 9\r\n\r\n{`,
    408,
  ],
  [
    'a refused body',
    { drain: 50 },
    'POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{"a',
    401,
  ],
  [
    'a body that is too large',
    { drain: 50 },
    `POST /tokenize HTTP/1.1\r\n${kKeyed}Content-Length: 5000\r\n\r\n{`,
    413,
  ],
  ['a body for no path', { drain: 50 }, `POST /none HTTP/1.1\r\n${kKeyed}Content-Length: 500\r\n\r\n{`, 404],
  ['no HTTP', {}, 'nonsense\r\n\r\n', 400],
  ['long headers', {}, `GET /health HTTP/1.1\r\nHost: x\r\nX-a: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  [
    'a long extension of a chunk',
    {},
    `POST /tokenize HTTP/1.1\r\n${kKeyed}Transfer-Encoding: chunked\r\n\r\n3;${'a'.repeat(20_000)}\r\n{"a\r\n`,
    413,
  ],
  [
    'two lengths',
    {},
    `POST /tokenize HTTP/1.1\r\n${kKeyed}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
    400,
  ],
]
for (const [name, timeouts, sent, status] of kHalves)
  test(`a client that sends half of a request is disconnected, by its own limit: ${name}`, async () => {
    const own = await ownServer(timeouts)
    const socket = connect({ port: own.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {})
    let text = ''
    socket.on('data', (piece) => (text += String(piece)))
    socket.write(sent)
    await once(socket, 'end')
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `))
    assert.equal(text.split('HTTP/1.1').length, 2, text)
    // What is written to a connection that is gone comes back as an error.
    const timer = setInterval(() => socket.write('x'), 5)
    socket.on('close', () => clearInterval(timer))
    await new Promise((resolve) => socket.on('close', resolve))
    await own.stop(0)
  })

test('fifty requests at once are all answered', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      if (i % 3 === 0) return (await client.chat.completions.create(ask)).choices[0]!.message.content
      let text = ''
      for await (const { choices } of await client.chat.completions.create({ ...ask, stream: true }))
        text += choices[0]?.delta.content ?? ''
      return text
    }),
  )
  assert.deepEqual(new Set(answers), new Set([kAnswer]))
})

test('requests with different schemas at once get each its own', async () => {
  const answers = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const format = zodResponseFormat(z.object({ i: z.literal(i) }), 'own')
      return (await client.chat.completions.parse({ ...ask, response_format: format })).choices[0]!.message
        .parsed
    }),
  )
  assert.deepEqual(
    answers,
    answers.map((_, i) => ({ i })),
  )
})

// The killed clients ask for a million answers, which would take hours.
test('the model is free at once when a client aborts or is killed', { timeout: 60_000 }, async () => {
  const controller = new AbortController()
  const stream = await client.chat.completions.create(
    { ...endless, stream: true },
    { signal: controller.signal },
  )
  for await (const _ of stream) controller.abort()
  const script = `
    const prompt = Array(10_000).fill('Once')
    const request = { prompt, n: 128, max_tokens: 300, ignore_eos: true, stream: true }
    const response = await fetch('${url}/v1/completions', { method: 'POST', body: JSON.stringify(request) })
    process.stdout.write('accepted')
    for await (const _ of response.body);`
  const killed = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  // The headers of a stream leave before it waits: now one runs, and the others wait.
  await Promise.all(killed.map((child) => once(child.stdout!, 'data')))
  for (const child of killed) child.kill('SIGKILL')
  await Promise.all(killed.map((child) => once(child, 'exit')))
  assert.equal((await client.chat.completions.create(ask)).choices[0]!.message.content, kAnswer)
})

/** The text of a stream so far, and one that waits for more. */
function readerOf(response: Response) {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    async until(wanted: RegExp): Promise<string> {
      while (!wanted.test(text)) {
        const { done, value } = await reader.read()
        assert.ok(!done, `the stream ended: ${text}`)
        text += value
      }
      return text
    },
    async end(): Promise<string> {
      for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
      return text
    },
  }
}

test('a stream that waits has its headers at once, then comments, then its answer or an error', async () => {
  const controller = new AbortController()
  const busy = await client.chat.completions.create(
    { ...endless, n: 100, stream: true } as typeof endless & { stream: true },
    { signal: controller.signal },
  )
  const events = busy[Symbol.asyncIterator]()
  await events.next() // it runs
  const streamed = { ...ask, stream: true }
  const waiting = await post('/v1/chat/completions', streamed)
  const tooLong = await post('/v1/completions', { prompt: Array(400).fill(5), stream: true })
  assert.deepEqual([waiting.status, tooLong.status], [200, 200])
  assert.match(waiting.headers.get('content-type')!, /^text\/event-stream/)
  // Faults of the request itself still have a status.
  assert.equal((await post('/v1/chat/completions', { ...streamed, top_p: 2 })).status, 400)
  const reader = readerOf(waiting)
  const comments = await reader.until(/^: [^]*\n\n: /)
  assert.doesNotMatch(comments, /data:/)
  controller.abort()
  await events.next().catch(() => {})
  const answer = await reader.end()
  assert.match(answer, /honey/)
  assert.match(answer, /data: \[DONE\]\n\n$/)
  const failed = await readerOf(tooLong).end()
  assert.match(failed, /data: {"error":{.*"code":"out-of-range"}}\n\ndata: \[DONE\]\n\n$/)
})

test('a client that does not read does not block others', { timeout: 60_000 }, async () => {
  const socket = connect(server.port, '127.0.0.1')
  // More than the system's buffers hold.
  const body = JSON.stringify({ ...endless, n: 24, stream: true, logprobs: true, top_logprobs: 20 })
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  await once(socket, 'readable') // the headers: it runs. Nothing takes the data.
  assert.equal((await client.chat.completions.create(ask)).choices[0]!.message.content, kAnswer)
  socket.destroy()
})

test('a key is asked for, a full queue answers 503, and the prompt cache knows several conversations', async () => {
  const own = await serve(
    '--api-key',
    'right',
    '--queue',
    '1',
    '--slots',
    '3',
    '--cors',
    'https://example.com',
  )
  const allowed = new OpenAI({ baseURL: `${own.url}/v1`, apiKey: 'right', maxRetries: 0 })
  for (const apiKey of ['wrong', 'righ', 'rightt'])
    await assert.rejects(
      new OpenAI({ baseURL: `${own.url}/v1`, apiKey, maxRetries: 0 }).models.list(),
      OpenAI.AuthenticationError,
    )
  assert.equal((await post('/tokenize', { content: 'a' }, {}, own.url)).status, 401)
  const health = await fetch(`${own.url}/health`)
  assert.equal(health.status, 200)
  const origin = 'https://example.com'
  const page = await fetch(`${own.url}/health`, { headers: { origin } })
  assert.equal(page.headers.get('access-control-allow-origin'), origin)

  const controller = new AbortController()
  const busy = await allowed.chat.completions.create(
    { ...endless, n: 20, stream: true } as typeof endless & { stream: true },
    { signal: controller.signal },
  )
  const waiting = await allowed.chat.completions.create({ ...ask, stream: true }) // its headers: it waits
  const refused = await post(
    '/v1/chat/completions',
    ask,
    { headers: { authorization: 'Bearer right' } },
    own.url,
  )
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '1')
  controller.abort()
  await busy[Symbol.asyncIterator]()
    .next()
    .catch(() => {})
  let answer = ''
  for await (const { choices } of waiting) answer += choices[0]?.delta.content ?? ''
  assert.equal(answer, kAnswer)

  const cached = async (content: string): Promise<number> => {
    const messages = [{ role: 'user' as const, content }]
    const { usage } = await allowed.chat.completions.create({ ...ask, messages, max_tokens: 4 })
    return usage!.prompt_tokens - usage!.prompt_tokens_details!.cached_tokens!
  }
  const texts = ['owl', 'bee', 'fox'].map(
    (name) => `Tell me a long and happy story about the old ${name} of the wood.`,
  )
  const other = `${'Bees like flowers and the sun. '.repeat(3)}What do bees make?`
  for (const text of [texts[0]!, other]) await cached(text)
  for (const text of [texts[0]!, other, texts[0]!]) assert.equal(await cached(text), 1, text)
  own.child.kill('SIGTERM')
  const [code] = (await once(own.child, 'exit')) as [number]
  assert.equal(code, 0)
})

/** The stories with tokens that mark a gap: by keys, or by the tokens' names. */
async function infillModel(folder: string, names: readonly string[], keys: boolean): Promise<string> {
  const { open } = await loadNodePackage()
  using file = await open(readFileSync(kModel))
  const builder = await file.edit()
  const base = file.tokenizer().size
  builder.addTokens(names.map((text) => ({ text, type: 'control' as const })))
  if (keys)
    for (const [i, role] of ['pre', 'suf', 'mid', 'rep', 'sep'].slice(0, names.length).entries())
      builder.set(`tokenizer.ggml.fim_${role}_token_id`, base + i, 'u32')
  const path = join(folder, `infill-${names.length}-${keys}.gguf`)
  writeFileSync(path, await (await builder.build()).bytes())
  return path
}

test('/infill fills a gap between two texts, as in llama.cpp', async () => {
  interface Infilled {
    content: string
    stop: boolean
    prompt: string
    tokens_predicted: number
    stop_type: string
    stopping_word: string
  }
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-'))
  const gap = {
    input_prefix: 'Once upon',
    input_suffix: ' time.',
    n_predict: 6,
    temperature: 0,
    ignore_eos: true,
  }
  const extra = { input_extra: [{ text: 'A bee.', filename: 'a.txt' }, { text: 'An owl.' }] }
  const hole = '<PRE>Once upon<SUF> time.<MID>'
  const named = ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>']
  const all = ['<PRE>', '<SUF>', '<MID>', '<REPO>', '<|file_sep|>']
  // [tokens, whether keys name them, more of the request, the prompt after BOS and before it]
  const models: [names: string[], keys: boolean, cases: [more: object, before: string, prompt: string][]][] =
    [
      [
        all,
        true,
        [
          [{}, '<REPO>myproject\n<|file_sep|>filename\n', hole],
          [{ prompt: ' a' }, '<REPO>myproject\n<|file_sep|>filename\n', hole.replace('<SUF>', ' a<SUF>')],
          [
            extra,
            '<REPO>myproject\n<|file_sep|>a.txt\nA bee.<|file_sep|>tmp\nAn owl.<|file_sep|>filename\n',
            hole,
          ],
        ],
      ],
      [
        named,
        false,
        [
          [{}, '', '<|fim_prefix|>Once upon<|fim_suffix|> time.<|fim_middle|>'],
          [
            extra,
            '\n\n--- snippet ---\n\nA bee.\n\n--- snippet ---\n\nAn owl.',
            '<|fim_prefix|>Once upon<|fim_suffix|> time.<|fim_middle|>',
          ],
        ],
      ],
    ]
  try {
    for (const [names, keys, cases] of models) {
      const own = await serveFile(await infillModel(folder, names, keys))
      for (const [more, before, prompt] of cases) {
        const body = {
          ...gap,
          ...more,
          cache_prompt: true,
          samplers: ['top_k', 'temperature'],
          t_max_predict_ms: 500,
        }
        const response = await post('/infill', body, {}, own.url)
        const whole = (await response.json()) as Infilled
        assert.equal(response.status, 200, JSON.stringify(whole))
        assert.equal(whole.prompt, `${before}<|begin|>${prompt}`)
        assert.deepEqual([whole.stop, whole.tokens_predicted, whole.stop_type], [true, 6, 'limit'])
        assert.ok(whole.content.length > 3)
        const streamed = await (await post('/infill', { ...body, stream: true }, {}, own.url)).text()
        const events = [...streamed.matchAll(/^data: (.*)$/gm)].map(
          ([, data]) => JSON.parse(data!) as Infilled,
        )
        assert.equal(events.map(({ content }) => content).join(''), whole.content)
        assert.deepEqual(
          [events[0]!.stop, events.at(-1)!.stop, events.at(-1)!.prompt],
          [false, true, whole.prompt],
        )
        const word = whole.content.slice(2, 6)
        const ended = (await (
          await post('/infill', { ...body, stop: ['zzz', word] }, {}, own.url)
        ).json()) as Infilled
        assert.deepEqual([ended.stop_type, ended.stopping_word], ['word', word])
        assert.equal(ended.content, whole.content.slice(0, whole.content.indexOf(word)))
        assert.equal(whole.stopping_word, '')
      }
      // A suffix beyond its room loses its end, a prefix its beginning.
      const words = 'bee '.repeat(500)
      const long = { ...gap, input_prefix: `owl ${words}fox`, input_suffix: `hen ${words}cow` }
      const cut = (await (await post('/infill', long, {}, own.url)).json()) as Infilled
      assert.match(cut.prompt, /fox.*hen/s)
      assert.doesNotMatch(cut.prompt, /owl|cow/)
      const bad: [object, number, string][] = [
        [{ input_prefix: 'a' }, 400, 'invalid-argument'],
        [{ input_suffix: 'a' }, 400, 'invalid-argument'],
        [{ ...gap, prompt: 5 }, 400, 'invalid-argument'],
        [{ ...gap, input_extra: 'a' }, 400, 'invalid-argument'],
        [{ ...gap, input_extra: [{ filename: 'a' }] }, 400, 'invalid-argument'],
        [{ ...gap, input_extra: [{ text: 'a', filename: 5 }] }, 400, 'invalid-argument'],
        [{ ...gap, n_predict: -2 }, 400, 'invalid-argument'],
        [{ ...gap, nothing: 1 }, 400, 'invalid-argument'],
        [{ ...gap, n: 2 }, 400, 'unsupported'],
      ]
      for (const [body, status, code] of bad) {
        const response = await post('/infill', body, {}, own.url)
        const { error } = (await response.json()) as { error: { code: string } }
        assert.deepEqual([response.status, error.code], [status, code], JSON.stringify(body))
      }
      own.child.kill('SIGKILL')
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  // The stories have no such tokens.
  const refused = await post('/infill', gap)
  assert.equal(refused.status, 501)
  const { error } = (await refused.json()) as { error: { code: string; message: string } }
  assert.equal(error.code, 'unsupported')
  assert.match(error.message, /prefix, the suffix, the middle/)
})

test('/completion answers by the names and in the form of llama.cpp', async () => {
  interface Completed {
    content: string
    stop: boolean
    prompt: string
    tokens_evaluated: number
    error: { code: string; message: string }
  }
  const ask = async (body: object): Promise<[number, Completed]> => {
    const response = await post('/completion', body)
    return [response.status, (await response.json()) as Completed]
  }
  const once = { prompt: 'Once', n_predict: 6, temperature: 0 }
  const [status, whole] = await ask(once)
  assert.deepEqual([status, whole.stop, whole.prompt], [200, true, '<|begin|>Once'])
  const { choices } = await client.completions.create({
    model: 'any',
    prompt: 'Once',
    max_tokens: 6,
    temperature: 0,
  })
  assert.equal(whole.content, choices[0]!.text)
  const streamed = await (await post('/completion', { ...once, stream: true })).text()
  const events = [...streamed.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Completed)
  assert.equal(events.map(({ content }) => content).join(''), whole.content)
  // Texts and token ids in one array; only the first text gets the BOS token.
  const { tokens } = (await (await post('/tokenize', { content: ' upon' })).json()) as { tokens: number[] }
  const [, mixed] = await ask({ ...once, prompt: ['Once', ...tokens, ' a'] })
  assert.equal(mixed.prompt, '<|begin|>Once upon a')
  const digit = { type: 'integer', minimum: 0, maximum: 9 }
  assert.match((await ask({ ...once, json_schema: digit }))[1].content, /^\d$/)
  // One sampler is left, whatever the others would do; names without effect have none.
  const greedy = { prompt: 'Once', n_predict: 6, top_k: 1 }
  const fields = { cache_prompt: true, timings_per_token: true, samplers: ['top_k', 'tfs_z', 'temp'] }
  assert.equal((await ask({ ...greedy, ...fields }))[1].content, whole.content)
  const inNoOrder = { samplers: ['min_p', 'xtc', 'top_p', 'top_k'], min_p: 0, top_p: 1 }
  assert.equal((await ask({ ...greedy, ...inNoOrder }))[1].content, whole.content)
  const bad: [object, string][] = [
    [{ ...once, prompt: undefined }, 'invalid-argument'],
    [{ ...once, prompt: [-1] }, 'invalid-argument'],
    [{ ...once, prompt: [] }, 'invalid-argument'],
    [{ ...once, samplers: 'kt' }, 'invalid-argument'],
    [{ ...greedy, samplers: ['temperature', 'top_k'] }, 'unsupported'],
    [{ ...once, n_probs: 2 }, 'unsupported'],
    [{ ...once, json_schema: digit, grammar: 'root ::= "7"' }, 'invalid-argument'],
    [{ ...once, json_schema: { type: 5 } }, 'invalid-argument'],
    [{ ...once, nothing: 1 }, 'invalid-argument'],
  ]
  for (const [body, code] of bad) {
    const [status, { error }] = await ask(body)
    assert.deepEqual([status, error.code], [400, code], JSON.stringify(body))
  }
  // The names of options serve in OpenAI's requests, too.
  const messages = [{ role: 'user', content: 'What do bees make?' }]
  const chat = async (more: object): Promise<string> => {
    const response = await post('/v1/chat/completions', { messages, temperature: 0, ...more })
    const answer = (await response.json()) as {
      choices: { message: { content: string } }[]
      error?: { code: string }
    }
    return answer.error?.code ?? answer.choices[0]!.message.content
  }
  assert.match(await chat({ json_schema: digit, return_progress: true }), /^\d$/)
  assert.equal(await chat({ n_predict: 1 }), await chat({ max_tokens: 1 }))
  assert.equal(await chat({ json_schema: digit, response_format: { type: 'text' } }), 'invalid-argument')
})

test('a signal lets running answers finish', async () => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    const own = await serve()
    const stream = await own.client.chat.completions.create({ ...endless, stream: true })
    const exit = once(own.child, 'exit') as Promise<[number]>
    let count = 0
    let finish: string | null = null
    for await (const { choices } of stream) {
      if (++count === 3) own.child.kill(name)
      finish = choices[0]?.finish_reason ?? finish
    }
    assert.equal(finish, 'length')
    assert.ok(count > 100)
    assert.deepEqual((await exit)[0], 0)
    await assert.rejects(fetch(`${own.url}/health`))
  }
})

test('a reranker ranks, an embedding model makes vectors', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-'))
  try {
    for (const pooling of [2, 4]) {
      const file = join(folder, `bert-${pooling}.gguf`)
      writeFileSync(file, await smallBert(pooling))
      const own = await serveFile(file)
      const request = {
        query: 'what do bees make',
        documents: ['owls sleep', { text: 'bees make honey' }],
        top_n: 1,
      }
      const ranked = await post('/v1/rerank', request, {}, own.url)
      const vectors = await post('/v1/embeddings', { input: ['bees', 'owls'] }, {}, own.url)
      assert.deepEqual([ranked.status, vectors.status], [200, pooling === 4 ? 400 : 200])
      if (pooling === 4) {
        const { results } = (await ranked.json()) as { results: { index: number; relevance_score: number }[] }
        assert.equal(results.length, 1)
        assert.ok(Number.isFinite(results[0]!.relevance_score))
      } else assert.equal(((await vectors.json()) as { data: unknown[] }).data.length, 2)
      const chat = await post('/v1/chat/completions', ask, {}, own.url)
      assert.equal(chat.status, 400)
      own.child.kill('SIGTERM')
      await once(own.child, 'exit')
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

const kT5 = join(kShared, '../vectors/arch/t5/model.gguf')

test('a model whose prompts cannot be shared is served too', { skip: skipWithout(kT5) }, async () => {
  const own = await serveFile(kT5)
  for (const prompt of [
    [5, 6, 7],
    [9, 8, 7],
    [5, 6, 7],
  ]) {
    const response = await post('/v1/completions', { prompt, max_tokens: 3 }, {}, own.url)
    assert.equal(response.status, 200)
  }
})

test('wrong calls are errors', async () => {
  for (const [status, args, message] of [
    [2, [kModel, '--port', 'x'], /--port takes a whole number/],
    [1, [kModel, '--port', String(server.port)], /cannot be opened/],
    [2, [], /which file/],
    [2, ['--mcp', '--port', '1'], /one of them/],
  ] as const) {
    const child = spawn(process.execPath, [kCli, 'serve', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    let text = ''
    child.stderr.on('data', (piece) => (text += String(piece)))
    const [code] = (await once(child, 'close')) as [number]
    assert.equal(code, status, text)
    assert.match(text, message)
  }
})

const kWhisper = join(kShared, '../vectors/media/whisper')
test("OpenAI's client sends a sound", { skip: skipWithout(kWhisper) }, async () => {
  const whisper = await serveFile(join(kWhisper, 'multi-f32/model.bin'), '--threads', '1')
  const file = () => new File([readFileSync(join(kWhisper, 'inputs/speech-en.wav'))], 'speech.wav')
  const { transcriptions, translations } = whisper.client.audio
  const wanted = { file: file(), model: 'whisper-1', temperature: 0, language: 'en' }
  const { text } = await transcriptions.create(wanted)
  assert.ok(text.length > 0)
  const verbose = await transcriptions.create({
    ...wanted,
    file: file(),
    response_format: 'verbose_json',
    timestamp_granularities: ['word', 'segment'],
  })
  assert.equal((verbose as { language?: string }).language, 'english')
  // A model with random weights samples at temperatures above 0, so texts differ.
  assert.equal(
    verbose
      .segments!.map((segment) => segment.text)
      .join('')
      .trim(),
    verbose.text,
  )
  assert.ok(verbose.segments!.length > 0 && verbose.words!.length > 0)
  const plain: unknown = await transcriptions.create({ ...wanted, file: file(), response_format: 'srt' })
  assert.match(String(plain), /^1\n00:00:\d\d,\d{3} --> /)
  assert.equal(typeof (await translations.create({ file: file(), model: 'whisper-1' })).text, 'string')
  const status = async (body: FormData | string) =>
    (await fetch(`${whisper.url}/v1/audio/transcriptions`, { method: 'POST', body })).status
  const form = new FormData()
  assert.deepEqual([await status('none'), await status(form)], [400, 400])
  form.set('file', file())
  const ignored = { stream: 'true', 'include[]': 'logprobs', chunking_strategy: 'auto' }
  for (const [name, value] of Object.entries(ignored)) form.set(name, value)
  assert.equal(await status(form), 200)
  form.set('colour', 'blue')
  assert.equal(await status(form), 400)
  // A text model does not transcribe.
  await assert.rejects(client.audio.transcriptions.create({ file: file(), model }), { status: 400 })
  whisper.child.kill('SIGTERM')
})
