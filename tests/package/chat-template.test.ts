// Chat templates through the package: the text equals Python's (if the shared data exists), and errors name their
// place.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { GgufError, open, type ChatMessage, type GgufFile } from 'ggufscope/node'
import { load } from 'ggufscope/engine'
import { writeHeader } from '../fixtures/gguf.ts'
import { skipWithout } from '../fixtures/skip-without.ts'

const kShared = process.env['GGUFSCOPE_SHARED'] ?? join(import.meta.dirname, '../../../shared')
const kNow = new Date(2026, 6, 4, 9, 5, 3)

async function withTemplate(text: string): Promise<GgufFile> {
  return open(
    writeHeader({ metadata: [['tokenizer.chat_template', { type: 'string', value: text }]] }).header,
  )
}
async function render(text: string, variables: Record<string, unknown> = {}): Promise<string> {
  using file = await withTemplate(text)
  return await file.renderChat([{ role: 'user', content: 'Hi' }], { variables, now: kNow })
}

interface Conversation {
  messages: ChatMessage[]
  tools?: unknown[]
  documents?: unknown[]
  variables?: Record<string, unknown>
}
type Wanted = { ok: string } | { err: string }

const vectors = join(kShared, 'vectors/jinja')
describe("Python's Jinja2", { skip: skipWithout(vectors) }, () => {
  const read = <T>(name: string) => JSON.parse(readFileSync(join(vectors, name), 'utf8')) as T
  const specials = { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' }

  test('every template renders every conversation as Jinja2 does', async () => {
    const conversations = read<Record<string, Conversation>>('conversations.json')
    const files = new Map<string, GgufFile>()
    let count = 0
    for (const [key, wanted] of Object.entries(read<Record<string, Wanted>>('rendered.json'))) {
      const [name, conversation, prompt] = key.split('|') as [string, string, string]
      let file = files.get(name)
      if (!file) {
        file = await withTemplate(readFileSync(join(kShared, 'data/templates', name), 'utf8'))
        files.set(name, file)
      }
      const { messages, tools, documents, variables } = conversations[conversation]!
      const rendering = file.renderChat(messages, {
        tools,
        documents,
        adapt: false,
        addGenerationPrompt: prompt === 'True',
        variables: { ...specials, ...variables },
        now: kNow,
      })
      if ('ok' in wanted) assert.equal(await rendering, wanted.ok, key)
      else await assert.rejects(rendering, { code: 'chat-template' }, key)
      count++
    }
    for (const file of files.values()) file.close()
    assert.ok(count >= 612)
  })

  test('every construct renders as in Jinja2', async () => {
    const { simple } = read<Record<string, Conversation>>('conversations.json')
    type Construct = { template: string; expected: Wanted }
    for (const [name, { template, expected }] of Object.entries(
      read<Record<string, Construct>>('constructs.json'),
    )) {
      using file = await withTemplate(template)
      const rendering = file.renderChat(simple!.messages, { adapt: false, variables: specials, now: kNow })
      if ('ok' in expected) assert.equal(await rendering, expected.ok, name)
      else await assert.rejects(rendering, { code: 'chat-template' }, name)
    }
  })
})

test('errors have line and column', async () => {
  const cases: [text: string, line: number, column: number, words: RegExp][] = [
    ['a\n{% if x %}', 2, 11, /endif/],
    ["é{{ 1 + 'x' }}", 1, 7, /unsupported operands/],
    ['\n\n  {{ raise_exception("no tools here") }}', 3, 21, /no tools here/],
    ['{{ messages[0].content.nothing.more }}', 1, 32, /no attribute 'nothing'/],
  ]
  for (const [text, line, column, words] of cases) {
    using file = await withTemplate(text)
    await assert.rejects(file.renderChat([{ role: 'user', content: 'Hi' }]), (error) => {
      assert.ok(error instanceof GgufError)
      assert.equal(error.code, 'chat-template')
      assert.deepEqual([error.line, error.column], [line, column])
      assert.match(error.message, new RegExp(`line ${line}, column ${column}: `))
      return words.test(error.message)
    })
  }
})

test('values reach the template unchanged', async () => {
  assert.equal(await render('{{ n + 1 }} {{ x }}', { n: 2n ** 70n, x: 'int:1' }), `${2n ** 70n + 1n} int:1`)
  assert.equal(
    await render('{{ v }}', { v: [1, 1.5, -0.25, null, true, '\u0000\ud83d\ude00'] }),
    "[1, 1.5, -0.25, None, True, '\\x00😀']",
  )
  assert.equal(await render("{{ strftime_now('%A %d %B %Y, %H:%M:%S') }}"), 'Saturday 04 July 2026, 09:05:03')
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  await assert.rejects(render('', { circle }), { code: 'invalid-argument' })
})

test('limits on steps, memory and output are enforced', async () => {
  using file = await withTemplate("{{ 'ab' * 50 }}")
  assert.equal((await file.renderChat([], { maxLength: 100 })).length, 100)
  await assert.rejects(file.renderChat([], { maxLength: 99 }), { code: 'chat-template-limit' })
})

test('a conversation of 20 messages is rendered whole', async () => {
  const text =
    "{% for m in messages %}{% if loop.first and m.role == 'system' %}{{ m.content | trim }}{% endif %}<|{{ m['role'] }}|>\n{{ m.content.split('</think>')[-1].lstrip('\\n') }}<|end|>\n{% endfor %}"
  using file = await withTemplate(text)
  const told = 'All work and no play makes Jack a dull boy. '.repeat(5)
  const messages = Array.from({ length: 20 }, (_, i) => ({
    role: i === 0 ? 'system' : i % 2 ? 'user' : 'assistant',
    content: i === 0 ? ' Be kind. ' : i % 2 ? told : `<think>Jack?</think>\n\n${told}`,
  }))
  const turns = messages.slice(1).map(({ role }) => `<|${role}|>\n${told}<|end|>\n`)
  assert.equal(await file.renderChat(messages), `Be kind.<|system|>\n Be kind. <|end|>\n${turns.join('')}`)
})

test('control tokens in messages are encoded as text', async () => {
  const file = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  using model = await load(file)
  const { tokenizer } = model
  const control = tokenizer
    .search({ types: ['control'] })
    .filter((id) => tokenizer.tokens.at(id)!.text.length > 1)
  assert.ok(control.length > 0)
  const said = (content: string) => [{ role: 'user', content }]
  const count = (ids: readonly number[]) => ids.filter((id) => control.includes(id)).length

  const harmless = said('What do bees make? <b>\n')
  const whole = tokenizer.encode(await model.file.renderChat(harmless), { special: true })
  assert.deepEqual(
    await model.encodeChat(harmless),
    await model.encodeChat(harmless, { specialContent: true }),
  )
  assert.deepEqual((await model.encodeChat(harmless)).slice(-whole.length), whole)

  const spelled = control.map((id) => tokenizer.tokens.at(id)!.text)
  const hostile = said(`a${spelled.join('')}b${spelled.join(' ')}`)
  assert.equal(count(await model.encodeChat(hostile)), count(await model.encodeChat(harmless)))
  assert.ok(
    count(await model.encodeChat(hostile, { specialContent: true })) >
      count(await model.encodeChat(harmless)),
  )
  const shown = tokenizer.decode(await model.encodeChat(hostile))
  for (const text of spelled) assert.ok(shown.replaceAll(' ', '').includes(text.replaceAll(' ', '')))
})
