// ggufscope serve --mcp of the packed package, with the protocol's official client.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { startServer } from '../server/server.ts'
import { kRoot, packedFile } from './packed.ts'

const kFixtures = join(kRoot, 'tests/fixtures')
const file = join(kFixtures, 'stories.gguf')
const kCli = packedFile('wasm/dist/cli.js')
const client = new Client({ name: 'test', version: '1' })
const transport = new StdioClientTransport({ command: process.execPath, args: [kCli, 'serve', '--mcp'] })
await client.connect(transport)
const server = await startServer()
server.mount('/', kFixtures)
after(async () => {
  await client.close()
  await server.close()
})

interface Result {
  structuredContent?: Record<string, unknown>
  content: { type: string; text: string }[]
  isError?: boolean
}
const call = async (name: string, args: Record<string, unknown>): Promise<Result> =>
  (await client.callTool({ name, arguments: args })) as unknown as Result
const ask = async (name: string, args: Record<string, unknown> = {}) => {
  const { structuredContent, content, isError } = await call(name, { file, ...args })
  assert.ok(!isError, content[0]?.text)
  assert.deepEqual(JSON.parse(content[0]!.text), structuredContent)
  return structuredContent as Record<string, unknown>
}

test('the official client finds the tools, and every one answers', async () => {
  assert.equal(client.getServerVersion()?.name, 'ggufscope')
  const { tools } = await client.listTools()
  const names = ['open', 'metadata', 'tensors', 'lint', 'audit', 'search_tokens', 'tokenize', 'tensor_stats']
  assert.deepEqual(
    tools.map(({ name }) => name),
    names,
  )
  for (const { description, inputSchema } of tools) {
    assert.ok(description!.length > 20)
    assert.deepEqual(inputSchema.required![0], 'file')
  }
  const opened = await ask('open')
  assert.equal(opened['architecture'], 'llama')
  assert.deepEqual(opened['damage'], [])
  const metadata = (await ask('metadata', { key: 'rope' }))['metadata'] as Record<string, unknown>
  assert.ok(Object.keys(metadata).length > 0 && Object.keys(metadata).every((key) => key.includes('rope')))
  const tokens = (await ask('metadata', { key: 'tokenizer.ggml.tokens' }))['metadata'] as Record<
    string,
    { length: number }
  >
  assert.equal(tokens['tokenizer.ggml.tokens']!.length, 1024)
  const all = await ask('tensors', { name: 'attn_q', limit: 2, from: 1 })
  assert.equal((all['tensors'] as unknown[]).length, 2)
  assert.ok((all['total'] as number) > 2)
  assert.ok(Array.isArray((await ask('lint'))['findings']))
  const audited = await ask('audit')
  assert.ok((audited['findings'] as { code: string }[]).some(({ code }) => code === 'provenance-missing'))
  const found = (await ask('search_tokens', { text: 'owl' }))['tokens'] as { text: string }[]
  assert.ok(found.length > 0 && found.every(({ text }) => text.toLowerCase().includes('owl')))
  const ids = await ask('tokenize', { text: 'a small owl' })
  assert.ok((ids['count'] as number) >= 3)
  const stats = await ask('tensor_stats', { name: 'blk.0.attn_q.weight' })
  assert.equal(stats['nans'], 0)
  assert.ok((stats['histogram'] as { counts: number[] }).counts.length > 4)
})

test('addresses are read by ranges, files one after another', async () => {
  const remote = await ask('open', { file: `${server.url}/stories.gguf` })
  assert.equal(remote['architecture'], 'llama')
  assert.ok((remote['bytesRead'] as number) < (remote['size'] as number) / 4)
  const many = Array.from({ length: 8 }, (_, i) => `${server.url}/stories.gguf?copy=${i}`)
  for (const one of [...many, ...many]) await ask('tokenize', { file: one, text: 'owl' })
  await Promise.all(many.map((one) => ask('search_tokens', { file: one, text: 'owl' })))
})

test('four files stay open, also after more were read at once', { skip: !existsSync('/proc') }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-'))
  t.after(() => rm(folder, { recursive: true }))
  const many = Array.from({ length: 8 }, (_, i) => join(folder, `${i}.gguf`))
  for (const one of many) await copyFile(file, one)
  await Promise.all(many.map((one) => ask('open', { file: one })))
  await ask('open', { file: many[0] })
  const handles = `/proc/${transport.pid}/fd`
  let open: string[] = []
  // They are closed after the answer.
  for (let i = 0; i === 0 || (open.length > 4 && i < 100); i++) {
    await client.ping()
    const links = (await readdir(handles)).map((one) => readlink(join(handles, one)).catch(() => ''))
    open = (await Promise.all(links)).filter((one) => one.startsWith(folder))
  }
  assert.equal(open.length, 4)
})

test('a bad request is answered with an error, and the server continues', async () => {
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ['open', { file: join(kFixtures, 'missing.gguf') }, /\[no-such-file\]/],
    ['open', { file: join(kRoot, 'package.json') }, /\[json\]|\[bad-magic\]/],
    ['open', {}, /file is missing/],
    ['tensor_stats', { file, name: 'nothing' }, /\[not-found\]/],
    ['tensors', { file, limit: -1 }, /\[invalid-argument\]/],
    ['tensors', { file, part: 'x' }, /has no option "part"/],
  ]
  for (const [name, args, message] of cases) {
    const result = await call(name, args)
    assert.equal(result.isError, true, name)
    assert.match(result.content[0]!.text, message)
  }
  await assert.rejects(call('format_disk', {}), /no tool/)
  await client.ping()
})

interface Response {
  id: number | string | null
  error?: { code: number }
  result?: Result
}

/** What a server answers to the given input, by id, when its input has ended. */
async function answersTo(input: string | Uint8Array) {
  const child = spawn(process.execPath, [kCli, 'serve', '--mcp'], { stdio: ['pipe', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (piece) => (text += String(piece)))
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number]
  assert.equal(code, 0)
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Response | Response[])
  return { text, lines, by: (id: number | string | null) => lines.flat().filter((one) => one.id === id) }
}

test('only LF ends a line, a byte order mark is left out, and no message ends the server', async () => {
  const tokenize = (id: number, text: string) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'tokenize', arguments: { file, text } },
    })
  const separators = ['\u2028', '\u2029', '\u0085', '\u000b', '\u000c']
  const notifications = [null, [], 5, 'x', { requestId: null }, { requestId: {} }].flatMap((params) =>
    ['notifications/cancelled', 'notifications/initialized', 'x'].map((method) =>
      JSON.stringify({ jsonrpc: '2.0', method, params }),
    ),
  )
  const bad = [
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '[]',
    'null',
    `${'['.repeat(1e5)}${']'.repeat(1e5)}`,
  ]
  const lines = [
    ...separators.map((separator, i) => tokenize(i, `a${separator}b`)),
    ...notifications,
    ...bad,
    '{"jsonrpc":"2.0","id":"41","method":7}',
    '{"jsonrpc":"2.0","id":-42}',
    '{"jsonrpc":"2.0","id":43,"result":{}}',
    '{"jsonrpc":"2.0","id":20,"method":"tools/call","params":null}',
    '{"jsonrpc":"2.0","id":21,"method":"tools/list","params":null}',
    '{"jsonrpc":"2.0","id":22,"method":"ping","params":[1]}',
    '{"jsonrpc":"2.0","id":23,"method":"tools/call","params":{"name":"open","arguments":null}}',
    '[{"jsonrpc":"2.0","id":24,"method":"ping"},{"jsonrpc":"2.0","method":"ping","params":null}]',
    '{"jsonrpc":"2.0","id":"\u2028","method":"ping"}\r',
    '{"jsonrpc":"2.0","id":25,"method":"ping"}',
  ]
  const { text, by } = await answersTo(`\ufeff${lines.join('\n')}`)
  for (const i of separators.keys()) {
    const [answer, ...others] = by(i)
    assert.ok(answer?.result && !answer.result.isError && others.length === 0, `separator ${i}`)
  }
  assert.deepEqual(
    by(null).map(({ error }) => error!.code),
    bad.map(() => -32600),
  )
  // An error names the message that it belongs to, and a response gets none.
  for (const id of ['41', -42]) assert.equal(by(id)[0]!.error!.code, -32600)
  assert.deepEqual(by(43), [])
  assert.equal(by(20)[0]!.error!.code, -32602)
  assert.ok(by(21)[0]!.result)
  assert.equal(by(22)[0]!.error!.code, -32602)
  assert.equal(by(23)[0]!.result!.isError, true)
  for (const id of [24, '\u2028', 25]) assert.deepEqual(by(id)[0]!.result, {})
  // Clients that split lines at U+2028 read the answers, too.
  assert.doesNotMatch(text, /[\u2028\u2029]/)
})

test('the responses to a batch are one array, without those of notifications', async () => {
  const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' })
  const note = { jsonrpc: '2.0', method: 'notifications/x' }
  const batches = [[ping(0), note, ping(''), 5], [note, note], [ping(-1)]]
  const { lines } = await answersTo(batches.map((batch) => `${JSON.stringify(batch)}\n`).join(''))
  const ids = lines.map((line) => (Array.isArray(line) ? line.map(({ id }) => id) : 'alone'))
  assert.deepEqual(ids, [[0, '', null], [-1]])
})

test('the tokens of a long text are given in pages', async () => {
  const call = (id: number, given: object) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'tokenize', arguments: { file, ...given } },
    })
  const long = 'owl '.repeat(3000)
  const { by } = await answersTo(
    [call(1, { text: long }), call(2, { text: long, from: 1000, limit: 7 })].join('\n'),
  )
  const shown = (id: number) => by(id)[0]!.result!.structuredContent as { count: number; tokens: unknown[] }
  assert.ok(shown(1).count > 3000 && shown(2).count === shown(1).count)
  assert.deepEqual([shown(1).tokens.length, shown(2).tokens.length], [1000, 7])
})

test('a line may arrive in pieces that cut its characters', async () => {
  const child = spawn(process.execPath, [kCli, 'serve', '--mcp'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const bytes = Buffer.from('{"jsonrpc":"2.0","id":"\u00e4\u20ac\u{1f600}","method":"ping"}\n')
  for (const byte of bytes) child.stdin.write(Uint8Array.of(byte))
  const [answer] = (await once(child.stdout, 'data')) as [Buffer]
  assert.deepEqual(JSON.parse(String(answer)), { jsonrpc: '2.0', id: '\u00e4\u20ac\u{1f600}', result: {} })
  child.stdin.end()
  await once(child, 'close')
})

test('invalid lines get an error, versions are negotiated, and the end of input ends the server', async () => {
  const child = spawn(process.execPath, [kCli, 'serve', '--mcp'], { stdio: ['pipe', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (piece) => (text += String(piece)))
  const initialize = (id: number, protocolVersion: string) =>
    JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params: { protocolVersion } })
  child.stdin.end(
    [
      '{',
      '5',
      initialize(1, '2024-11-05'),
      initialize(2, '1999-01-01'),
      '{"jsonrpc":"2.0","id":3,"method":"x"}',
    ].join('\n'),
  )
  const [code] = (await once(child, 'close')) as [number]
  assert.equal(code, 0)
  const answers = text
    .trim()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as {
          id: number | null
          error?: { code: number }
          result?: { protocolVersion: string }
        },
    )
  const by = (id: number | null) => answers.filter((answer) => answer.id === id)
  assert.deepEqual(
    by(null).map(({ error }) => error!.code),
    [-32700, -32600],
  )
  assert.equal(by(1)[0]!.result!.protocolVersion, '2024-11-05')
  assert.equal(by(2)[0]!.result!.protocolVersion, '2025-11-25')
  assert.equal(by(3)[0]!.error!.code, -32601)
})
