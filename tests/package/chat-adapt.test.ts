// Adapts OpenAI's messages to every real chat template: nothing is lost, escaped twice or printed as a value, and the
// text equals what Python's Jinja2 renders from the adapted messages.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { ChatMessage, GgufFile, RenderChatOptions } from 'ggufscope/node'
import { writeHeader } from '../fixtures/gguf.ts'
import { kNoPython, renderByPython, type ReferenceCase } from '../jinja/python.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kConversations, kConversationTools } from './chat-conversations.ts'
import { kShared, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()

interface Prompts {
  chatVariables(file: GgufFile, messages: readonly ChatMessage[], options: RenderChatOptions): Promise<string>
}
const { chatVariables } = (await import(
  pathToFileURL(packedFile('wasm/dist/text/render-chat.js')).href
)) as Prompts

const kNow = new Date(2026, 6, 4, 9, 5, 3)
const kSpecials = { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' }
const kTemplates = join(kShared, 'templates')
/** This template sets attributes of messages, which also fails in Python if there is an assistant message. */
const kRefusing = 'MiroThinker.jinja'

async function withTemplate(text: string): Promise<GgufFile> {
  return open(
    writeHeader({ metadata: [['tokenizer.chat_template', { type: 'string', value: text }]] }).header,
  )
}

describe('every template', { skip: skipWithout(kTemplates) }, () => {
  const names = existsSync(kTemplates) ? readdirSync(kTemplates) : []
  const references: (ReferenceCase & { readonly text: string; readonly what: string })[] = []

  for (const name of names)
    test(name, async () => {
      const source = readFileSync(join(kTemplates, name), 'utf8')
      using file = await withTemplate(source)
      for (const [title, conversation] of Object.entries(kConversations)) {
        const what = `${name}: ${title}`
        const { messages, tools } = conversation
        const options = { adapt: true, tools, variables: kSpecials, now: kNow }
        const rendering = file.renderChat(messages, options)
        if (name === kRefusing && conversation.messages.some(({ role }) => role === 'assistant')) {
          if (title !== 'null content') await assert.rejects(rendering, { code: 'chat-template' }, what)
          continue
        }
        const text = await rendering
        for (const word of conversation.shows)
          assert.ok(text.includes(word), `${what} lacks ${word}: ${text}`)
        for (const word of conversation.hides ?? [])
          if (!source.includes(word)) assert.ok(!text.includes(word), `${what} shows ${word}: ${text}`)
        const variables = await chatVariables(file, messages, options)
        references.push({ template: source, variables, text, what })
      }
    })

  test("Python's Jinja2 makes the same of the adapted messages", { skip: kNoPython }, () => {
    const made = renderByPython(references)
    references.forEach(({ text, what }, i) => assert.deepEqual(made[i], { text }, what))
    assert.ok(references.length >= 600)
  })
})

const kUser: ChatMessage = { role: 'user', content: 'Hi' }
const kChatml =
  '{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}'
/** Takes contents as text and as parts. */
const kParts =
  '{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}{% endfor %}'
const call = (args: unknown, id?: string) => ({
  ...(id !== undefined && { id }),
  type: 'function',
  function: { name: 'f', arguments: args },
})

/** Small templates, each for one kind of adaptation. */
const kKinds: readonly (readonly [
  title: string,
  template: string,
  messages: readonly ChatMessage[],
  text: string,
])[] = [
  [
    'parts are joined by line ends for templates of text',
    kChatml,
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ],
    '<user>a\nb</><assistant>',
  ],
  [
    'text becomes a part for templates of parts',
    '{% for m in messages %}{% for p in m.content %}[{{ p.text }}]{% endfor %}{% endfor %}',
    [kUser],
    '[Hi]',
  ],
  [
    'parts stay parts where the template reads them',
    '{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}[{{ p.text }}]{% endfor %}{% endif %}{% endfor %}',
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      kUser,
    ],
    '[a][b]Hi',
  ],
  [
    "images are the template's own markers",
    "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == 'image' %}<img>{% elif p.type == 'text' %}{{ p.text }}{% endif %}{% endfor %}{% endif %}{% endfor %}",
    [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: 'See' },
        ],
      },
    ],
    '<img>See',
  ],
  [
    'a system that the template refuses goes into the first message of the user',
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}",
    [{ role: 'system', content: 'S' }, kUser],
    '<user>S\n\nHi',
  ],
  [
    'a system in the middle goes into the next message where only the first may be one',
    "{% if messages[0].role == 'system' %}{{ messages[0].content }}{% set messages = messages[1:] %}{% endif %}{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endfor %}",
    [
      { role: 'system', content: 'S' },
      kUser,
      { role: 'assistant', content: 'A' },
      { role: 'system', content: 'T' },
      kUser,
    ],
    'S<user>Hi<assistant>A<user>T\n\nHi',
  ],
  [
    'roles that must alternate are merged',
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}",
    [kUser, kUser, { role: 'assistant', content: 'A' }, { role: 'assistant', content: 'B' }, kUser],
    '<user>Hi\n\nHi<assistant>A\n\nB<user>Hi',
  ],
  [
    'the developer is the system for templates that know none',
    kChatml,
    [{ role: 'developer', content: 'D' }, kUser],
    '<system>D</><user>Hi</><assistant>',
  ],
  [
    'numbers in arguments stay as they are written',
    "{% for m in messages %}{% for c in m.tool_calls %}{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}{% if m.role == 'tool' %}={{ m.content }}{% endif %}{% endfor %}",
    [
      kUser,
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('{"a": 1.0, "b": 12345678901234567890123, "c": 1e3}', 'x')],
      },
      { role: 'tool', tool_call_id: 'x', content: 'R' },
    ],
    'f{"a": 1.0, "b": 12345678901234567890123, "c": 1000.0}=R',
  ],
  [
    'objects become text where the template writes arguments as they are',
    "{% for m in messages %}{% for c in m.tool_calls %}{{ c.function.name + c.function.arguments }}{% endfor %}{% if m.role == 'tool' %}={{ m.name }}:{{ m.content }}{% endif %}{% endfor %}",
    [
      kUser,
      { role: 'assistant', tool_calls: [call({ city: 'Zürich', n: [1, null, true] }, 'x')] },
      { role: 'tool', tool_call_id: 'x', content: 'R' },
    ],
    'f{"city": "Zürich", "n": [1, null, true]}=f:R',
  ],
  [
    'one call at a time, each with its result',
    "{% for m in messages %}{% if m.tool_calls %}{% if m.tool_calls | length != 1 %}{{ raise_exception('one call') }}{% endif %}{{ m.tool_calls[0].function.arguments | tojson }}{% elif m.role == 'tool' %}={{ m.content }};{% endif %}{% endfor %}",
    [
      kUser,
      { role: 'assistant', content: null, tool_calls: [call('{"n":1}', 'a'), call('{"n":2}', 'b')] },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
    ],
    '{"n": 1}=A;{"n": 2}=B;',
  ],
  [
    'ids of nine letters',
    "{% for m in messages %}{% for c in m.tool_calls %}{% if c.id | length != 9 %}{{ raise_exception('nine') }}{% endif %}{{ c.id }}{{ c.function.arguments | tojson }}{% endfor %}{% if m.role == 'tool' %}={{ m.tool_call_id }}{{ m.content }}{% endif %}{% endfor %}",
    [
      kUser,
      { role: 'assistant', content: null, tool_calls: [call('{}', 'call_0123456789ab')] },
      { role: 'tool', tool_call_id: 'call_0123456789ab', content: 'R' },
    ],
    '3456789ab{}=3456789abR',
  ],
  [
    'reasoning by the name that the template reads',
    '{% for m in messages %}{% if m.thinking is defined %}({{ m.thinking }}){% endif %}{{ m.content }}{% endfor %}',
    [kUser, { role: 'assistant', reasoning_content: 'R', content: 'A' }],
    'Hi(R)A',
  ],
  [
    'calls and results as text where the template knows none',
    kChatml,
    [
      kUser,
      { role: 'assistant', content: null, tool_calls: [call('{"a": 1.0}', 'x')] },
      { role: 'tool', tool_call_id: 'x', content: 'R' },
    ],
    '<user>Hi</><assistant>{"name": "f", "arguments": {"a": 1.0}}</><user>Result of f: R</><assistant>',
  ],
]
test('kinds of templates', async (t) => {
  for (const [title, template, messages, text] of kKinds)
    await t.test(title, async () => {
      using file = await withTemplate(template)
      assert.equal(await file.renderChat(messages, { adapt: true }), text)
    })
})

test('messages that a template cannot render are errors', async () => {
  using file = await withTemplate(kChatml)
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  await assert.rejects(file.renderChat([{ role: 'user', content: [image] }], { adapt: true }), {
    code: 'unsupported',
    message: /Message 0 holds an image part/,
  })
  await assert.rejects(file.renderChat([kUser], { adapt: true, documents: [{ text: 'd' }] }), {
    code: 'unsupported',
  })
  await assert.rejects(file.renderChat([{} as ChatMessage], { adapt: true }), { code: 'invalid-argument' })
  using objects = await withTemplate(kKinds.find(([title]) => title.startsWith('numbers'))![1])
  const broken = { role: 'assistant', content: null, tool_calls: [call('{"a":', 'x')] }
  await assert.rejects(
    objects.renderChat([kUser, broken, { role: 'tool', tool_call_id: 'x', content: '' }], { adapt: true }),
    {
      code: 'invalid-argument',
      message: /arguments of tool_calls\[0\] of message 1/,
    },
  )
})

test('contents that are no text are refused, not printed', async () => {
  const contents: readonly [content: unknown, code: string][] = [
    [{ type: 'text', text: 'a' }, 'invalid-argument'],
    [5, 'invalid-argument'],
    [true, 'invalid-argument'],
    [[{ type: 'text', text: 5 }], 'invalid-argument'],
    [[{ type: 'text', text: { a: 1 } }], 'invalid-argument'],
    [[{ type: 'text', text: null }], 'invalid-argument'],
    [[{ type: 'text' }], 'invalid-argument'],
    [[{ type: 'input_text', text: ['a'] }], 'invalid-argument'],
    [[5], 'invalid-argument'],
    [[null], 'invalid-argument'],
    [[[{ type: 'text', text: 'a' }]], 'invalid-argument'],
    [[{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }], 'unsupported'],
    [[{ type: 'hologram', text: 'a' }], 'unsupported'],
  ]
  const called = { role: 'assistant', content: null, tool_calls: [call('{}', 'x')] }
  for (const template of [kChatml, kParts])
    for (const [content, code] of contents) {
      using file = await withTemplate(template)
      for (const messages of [
        [{ role: 'user', content }],
        [kUser, called, { role: 'tool', tool_call_id: 'x', content }],
      ])
        await assert.rejects(
          file.renderChat(messages as ChatMessage[], { adapt: true }),
          { code },
          `${template.slice(0, 20)} ${JSON.stringify(content)}`,
        )
    }
})

test('a role is one of those of the API, or the template has a use for it', async () => {
  const chatml = "{% for m in messages %}<|im_start|>{{ m.role + '\\n' + m.content }}<|im_end|>\n{% endfor %}"
  const named =
    "{% for m in messages %}{% if m.role in ['user', 'ipython', 'model'] %}[{{ m.content }}]{% endif %}{% endfor %}"
  const cases: [template: string, role: string, taken: boolean][] = [
    ...['assitant', 'User', 'usr', ''].map((role) => [chatml, role, false] as [string, string, boolean]),
    [chatml, 'critic', true],
    [chatml, 'observation', true],
    [named, 'ipython', true],
    [named, 'model', true],
    [named, 'critic', false],
    ...['system', 'user', 'tool', 'developer'].map(
      (role) => [chatml, role, true] as [string, string, boolean],
    ),
  ]
  for (const [template, role, taken] of cases) {
    using file = await withTemplate(template)
    const rendering = file.renderChat(
      [
        { role: 'user', content: 'a' },
        { role, content: 'b' },
      ],
      { adapt: true },
    )
    if (taken) assert.match(await rendering, /b/, role)
    else
      await assert.rejects(
        rendering,
        { code: 'invalid-argument', message: /^Message 1 has the role .* system, developer, user/ },
        role,
      )
  }
})

test('a template that cannot show messages is an error', async () => {
  for (const template of ['{{ bos_token }}', 'my-template', 'You are helpful.', 'User: Hi { }\n', '\0']) {
    using file = await withTemplate(template)
    const rendering = file.renderChat([kUser], { adapt: true, variables: { bos_token: '' } })
    await assert.rejects(rendering, { code: 'unsupported', message: /leaves out all messages/ })
  }
})

test('parts of results, and text beside calls, stay text if the template takes no calls', async () => {
  const parts = [
    { type: 'text', text: 'so' },
    { type: 'text', text: 'on' },
  ]
  const messages = [
    kUser,
    { role: 'assistant', content: parts, tool_calls: [call('{}', 'x')] },
    { role: 'tool', tool_call_id: 'x', content: parts },
  ] as ChatMessage[]
  for (const template of ['{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}', kParts]) {
    using file = await withTemplate(template)
    const text = await file.renderChat(messages, { adapt: true })
    assert.match(text, /<assistant>so\non\n.*<user>Result of \w+: so\non$/s, template)
  }
})

test('the system message describes tools that the template ignores', async () => {
  using file = await withTemplate(kChatml)
  const text = await file.renderChat([{ role: 'system', content: 'S' }, kUser], {
    adapt: true,
    tools: kConversationTools,
  })
  assert.match(
    text,
    /^<system>S\n\nYou can call these functions:\n\{"name":"get_weather",.*clock.*<\/><user>Hi/s,
  )
})

test('without adapt, messages are passed unchanged', async () => {
  using file = await withTemplate(kChatml)
  const content = [{ type: 'text', text: 'a' }]
  assert.equal(
    await file.renderChat([{ role: 'user', content }], { addGenerationPrompt: false }),
    "<user>[{'type': 'text', 'text': 'a'}]</>",
  )
})

test('continue ends within the last message', async () => {
  const text =
    "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' and loop.last %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content | trim }}</>{% endfor %}{% if add_generation_prompt %}<assistant><think>{% endif %}"
  using file = await withTemplate(text)
  const begun = (message: object) =>
    file.renderChat([kUser, { role: 'assistant', ...message }], { adapt: true, continue: true })
  assert.equal(await begun({ content: 'Sure, ' }), '<user>Hi</><assistant><think></think>Sure, ')
  assert.equal(
    await begun({ content: [{ type: 'text', text: 'A ' }] }),
    '<user>Hi</><assistant><think></think>A ',
  )
  assert.equal(await begun({ content: '', reasoning_content: 'Hm, ' }), '<user>Hi</><assistant><think>Hm, ')
  for (const last of [
    { content: null },
    { content: 'x', tool_calls: [call('{}')] },
    { role: 'user', content: 'x' },
  ])
    await assert.rejects(begun(last), { code: 'invalid-argument' })
  using deaf = await withTemplate('nothing')
  await assert.rejects(
    deaf.renderChat([kUser, { role: 'assistant', content: 'A' }], { adapt: true, continue: true }),
    {
      code: 'unsupported',
    },
  )
})

test('options are checked, and variables have two names', async () => {
  using file = await withTemplate('{{ a }}{{ b }}{{ add_generation_prompt }}')
  const variables = { a: 1, b: 2 }
  assert.equal(await file.renderChat([], { variables, templateVariables: { b: 3 } }), '13True')
  for (const wrong of [
    { now: 'today' },
    { documents: {} },
    { tools: 'x' },
    { continu: true },
    { maxLength: -1 },
  ])
    await assert.rejects(file.renderChat([kUser], wrong as object), { code: 'invalid-argument' })
})

test('a template of translations gets the languages with each text', async () => {
  using file = await withTemplate(
    `{% for m in messages %}{% if m.role == 'user' %}{% set c = m.content[0] %}{{ c['source_lang_code'] }}>{{ c['target_lang_code'] }}: {{ c['text'] }}{% else %}{{ m.content }}{% endif %};{% endfor %}`,
  )
  const messages = [
    { role: 'user', content: 'Hallo' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: [{ type: 'text', text: 'Welt' }] },
  ]
  const variables = { source_lang_code: 'de', target_lang_code: 'en' }
  assert.equal(await file.renderChat(messages, { adapt: true, variables }), 'de>en: Hallo;Hello;de>en: Welt;')
  // llama.cpp's default, and parts that have the languages already.
  assert.equal(await file.renderChat(messages.slice(0, 1), { adapt: true }), 'en-GB>en-GB: Hallo;')
  const part = { type: 'text', text: 'Hej', source_lang_code: 'sv', target_lang_code: 'fi' }
  assert.equal(
    await file.renderChat([{ role: 'user', content: [part] }], { adapt: true, variables }),
    'sv>fi: Hej;',
  )
})

test('reasoning becomes a part of the content if the template has no field for it', async () => {
  using file = await withTemplate(
    `{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == 'thinking' %}[THINK]{{ p.thinking }}[/THINK]{% else %}{{ p.text }}{% endif %}{% endfor %}{% endif %};{% endfor %}`,
  )
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello', reasoning_content: 'a greeting' },
  ]
  assert.equal(await file.renderChat(messages, { adapt: true }), 'Hi;[THINK]a greeting[/THINK]Hello;')
})

/** The conversation with two calls, whose results come in their order or not, and a third call. */
const resultsOf = (order: readonly number[]): readonly ChatMessage[] => {
  const call = (id: string, name: string) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: '{"x": 1}' },
  })
  const results = [
    { role: 'tool', tool_call_id: 'call_a', content: 'zqa' },
    { role: 'tool', tool_call_id: 'call_b', content: 'zqb' },
  ] as const
  return [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, tool_calls: [call('call_a', 'add'), call('call_b', 'mul')] },
    ...order.map((i) => results[i]!),
    { role: 'assistant', content: null, tool_calls: [call('call_c', 'add')] },
    { role: 'tool', tool_call_id: 'call_c', content: 'zqc' },
  ] as readonly ChatMessage[]
}

test('results come in the order of their calls', { skip: skipWithout(kTemplates) }, async () => {
  for (const name of readdirSync(kTemplates)) {
    if (name === kRefusing) continue
    using file = await withTemplate(readFileSync(join(kTemplates, name), 'utf8'))
    const render = (order: readonly number[]) =>
      file.renderChat(resultsOf(order), { adapt: true, variables: kSpecials, now: kNow })
    const text = await render([1, 0])
    assert.equal(text, await render([0, 1]), name)
    assert.ok(text.indexOf('zqa') < text.indexOf('zqb'), name)
  }
})

// The first writes the ids of messages, as Moonshot's own template does; the others count calls themselves.
const kCounted = `{% for m in messages %}{% if m.tool_calls %}<|tool_calls_section_begin|>{% for c in m.tool_calls %}<|tool_call_begin|>{{ c.id }}<|tool_call_argument_begin|>{{ c.function.arguments }}<|tool_call_end|>{% endfor %}<|tool_calls_section_end|>{% elif m.role == 'tool' %}## Return of {{ m.tool_call_id }}
{{ m.content }}{% else %}{{ m.content }}{% endif %}{% endfor %}`

test(
  "Kimi K2's calls and their results have the ids that its model writes",
  { skip: skipWithout(kTemplates) },
  async () => {
    const real = ['Kimi-K2-Instruct.jinja', 'Kimi-K2-Thinking.jinja'].map((name) =>
      readFileSync(join(kTemplates, name), 'utf8'),
    )
    for (const source of [kCounted, ...real]) {
      using file = await withTemplate(source)
      const text = await file.renderChat(resultsOf([1, 0]), { adapt: true, variables: kSpecials, now: kNow })
      const begun = [...text.matchAll(/<\|tool_call_begin\|>(.*?)<\|tool_call_argument_begin\|>/g)]
      assert.deepEqual(
        begun.map((one) => one[1]),
        ['functions.add:0', 'functions.mul:1', 'functions.add:2'],
      )
      const returned = [...text.matchAll(/## Return of (\S+)\n(zq[abc])/g)].map((one) => [one[1], one[2]])
      assert.deepEqual(returned, [
        ['functions.add:0', 'zqa'],
        ['functions.mul:1', 'zqb'],
        ['functions.add:2', 'zqc'],
      ])
    }
  },
)
