// Tool calls and reasoning: parses each format's replies cut at every character, and checks its grammars with the
// tests' own GBNF reader.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type * as Engine from 'ggufscope/engine'
import { kAll } from '../fixtures/short.ts'
import { randomOf } from '../schema/random.ts'
import { kReplies } from './chat-formats.ts'
import { Gbnf } from './gbnf.ts'
import { packedFile } from './packed.ts'

const { chatFormatNames, createReplyParser, detectChatFormat, toolGrammar } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine

const kTools: Engine.FunctionTool[] = [
  {
    type: 'function',
    function: {
      name: 'weather',
      parameters: {
        type: 'object',
        properties: {
          city: { type: 'string', minLength: 1, maxLength: 12 },
          days: { type: 'integer', minimum: 1, maximum: 14 },
          unit: { enum: ['C', 'F'] },
          at: { anyOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }] },
          tags: { type: 'array', items: { type: 'string', maxLength: 3 }, maxItems: 2 },
          where: {
            type: 'object',
            properties: { lat: { type: 'number', minimum: -90, maximum: 90 }, sea: { type: 'boolean' } },
            required: ['sea'],
            additionalProperties: false,
          },
        },
        required: ['city', 'days'],
        additionalProperties: false,
      },
    },
  },
  { type: 'function', function: { name: 'now' } },
]
const kNote: Engine.FunctionTool = {
  type: 'function',
  function: { name: 'note', parameters: { type: 'object', properties: { text: { type: 'string' } } } },
}

interface Joined {
  content: string
  reasoning: string
  calls: { id: string; name: string; arguments: string }[]
}
function joined(deltas: readonly Engine.ReplyDelta[]): Joined {
  const out: Joined = { content: '', reasoning: '', calls: [] }
  for (const { content = '', reasoning_content = '', tool_calls = [] } of deltas) {
    out.content += content
    out.reasoning += reasoning_content
    for (const { index, id, type, function: called } of tool_calls) {
      if (id !== undefined) {
        assert.equal(index, out.calls.length)
        assert.equal(type, 'function')
        out.calls.push({ id, name: called.name!, arguments: '' })
      }
      out.calls[index]!.arguments += called.arguments ?? ''
    }
  }
  return out
}
function parse(
  format: Engine.ChatFormat,
  parts: readonly string[],
  prompt: string | undefined,
  reason?: Engine.FinishReason | 'abort',
): Joined {
  let ids = 0
  const parser = createReplyParser(format, {
    tools: [...kTools, kNote],
    prompt,
    newId: () => `call_${ids++}`,
  })
  return joined([...parts.flatMap((part) => parser.push(part)), ...parser.end(reason)])
}

test('replies of every format are parsed from chunks of any size', () => {
  const seen = new Set<string>()
  for (const {
    format: name,
    template,
    reply,
    prompt,
    content = '',
    reasoning = '',
    calls = [],
  } of kReplies) {
    const format = detectChatFormat({ template })
    assert.equal(format.name, name, template)
    seen.add(name)
    const whole = parse(format, [reply], prompt)
    const what = `${name}: ${reply}`
    assert.equal(whole.content, content, what)
    assert.equal(whole.reasoning, reasoning, what)
    assert.deepEqual(
      whole.calls.map((call) => [call.name, JSON.parse(call.arguments) as unknown]),
      calls.map(([called, given]) => [called, given]),
      what,
    )
    for (const [i, [, , id]] of calls.entries())
      if (id !== undefined) assert.equal(whole.calls[i]!.id, id, what)
    assert.deepEqual(parse(format, [...reply], prompt), whole, `${what}, character by character`)
    for (let at = 1; at < reply.length; at++)
      assert.deepEqual(
        parse(format, [reply.slice(0, at), reply.slice(at)], prompt),
        whole,
        `${what}, cut at ${at}`,
      )
  }
  assert.deepEqual([...seen].sort(), [...chatFormatNames].sort())
})

const kCutReasons = ['length', 'context', 'stop', 'abort'] as const

/** Calls of a cut reply must be beginnings of those of the whole reply: the last one may lack the end of its arguments. */
function checkCut(cut: Joined, whole: Joined, what: string): void {
  assert.ok(cut.calls.length <= whole.calls.length, what)
  for (const [i, call] of cut.calls.entries()) {
    const wanted = whole.calls[i]!
    assert.equal(call.name, wanted.name, what)
    assert.ok(
      call.arguments !== '' && wanted.arguments.startsWith(call.arguments),
      `${what}: ${call.arguments}`,
    )
    if (i < cut.calls.length - 1) assert.equal(call.arguments, wanted.arguments, what)
  }
}

test('a reply that is cut anywhere has no invented call', () => {
  let shortened = 0
  for (const { template, reply, prompt } of kReplies) {
    const format = detectChatFormat({ template })
    const whole = parse(format, [reply], prompt)
    for (let at = 0; at < reply.length; at++) {
      const text = reply.slice(0, at)
      const reason = kCutReasons[at % kCutReasons.length]!
      const what = `${format.name}, ${reason} after ${text}`
      const cut = parse(format, [text], prompt, reason)
      checkCut(cut, whole, what)
      assert.deepEqual(parse(format, [...text], prompt, reason), cut, `${what}, character by character`)
      for (const { arguments: args } of cut.calls)
        if (!whole.calls.some((call) => call.arguments === args)) shortened++
    }
  }
  assert.ok(shortened > 500, `${shortened} shortened arguments`)
})

test('without tools, a reply has no call, and its arguments stay in the text', () => {
  for (const { template, reply, prompt, calls } of kReplies) {
    if (!calls) continue
    const format = detectChatFormat({ template })
    for (const reason of ['end', 'length'] as const) {
      const parser = createReplyParser(format, { tools: [], prompt })
      const got = joined([...parser.push(reply), ...parser.end(reason)])
      const what = `${format.name}, ${reason}: ${reply}`
      assert.deepEqual(got.calls, [], what)
      if (reply.includes('Köln')) assert.ok(`${got.reasoning} ${got.content}`.includes('Köln'), what)
    }
  }
})

test('what follows a call and is none is text', () => {
  const object = '<tool_calls>[ {"name'
  const cases: [template: string, reply: string, content: string, args?: string][] = [
    ['[func_name1(', '[now(), other text]', 'other text]'],
    ['[func_name1(', '[now(), note("x")]', 'note("x")]'],
    ['[TOOL_CALLS]', '[TOOL_CALLS][{"name": "now", "arguments": {}}, {"name": "note", "args": 1}]', '{"name": "note", "args": 1}]'],
    [object, '<tool_calls>[{"name": "now", "arguments": {}}, {"title": "x"}]</tool_calls>', '{"title": "x"}]</tool_calls>'],
    ['>>>all', 'now\n{}\n>>>all\nSo.', 'So.'],
    ['>>>all', 'note\nA & B\n>>>all\nSo.', 'So.', 'A & B\n'],
  ] // prettier-ignore
  for (const [template, reply, content, args = '{}'] of cases) {
    const format = detectChatFormat({ template })
    for (const parts of [[reply], [...reply]]) {
      const got = parse(format, parts, undefined)
      assert.equal(got.content, content, `${format.name}: ${reply}`)
      assert.deepEqual(
        got.calls.map((call) => call.arguments),
        [args],
        reply,
      )
    }
  }
})

test('what only the end of a reply completes is complete if the model ended it', () => {
  const cases: [template: string, reply: string, name: string, args: string][] = [
    ['<|python_tag|>', '<|python_tag|>print(1)', 'code_interpreter', '{"code": "print(1)"}'],
    ['<tool_call>', '<tool_call>{"name": "now"}', 'now', '{}'],
  ]
  for (const [template, reply, name, args] of cases) {
    const format = detectChatFormat({ template })
    const [call] = parse(format, [reply], undefined, 'end').calls
    assert.deepEqual([call?.name, call?.arguments], [name, args], reply)
    const cut = parse(format, [reply], undefined, 'length')
    // The object is complete without an end, the code is not.
    const kept = reply.endsWith('}') ? [args] : reply.endsWith(')') ? ['{"code": "print(1)'] : []
    assert.deepEqual(
      cut.calls.map((one) => one.arguments),
      kept,
      reply,
    )
  }
  const unknown = createReplyParser(detectChatFormat({ template: '' }))
  assert.throws(() => unknown.end('why' as 'end'), { code: 'invalid-argument' })
})

test('JSON, lists and tags that call no function are the text that the model wrote', () => {
  const llama = '<|python_tag|>'
  const cases: [template: string, reply: string][] = [
    [llama, '{"name": "Alice", "age": 30}'],
    [llama, '{\n  "name": "Bob",\n  "job": "cook"\n}\nThat is all.'],
    [llama, '{"id": 5, "title": "x"}'],
    [llama, '{"type": "object", "properties": {}}'],
    [llama, '{"parameters": {"rate": 1}, "name": "run 7"}'],
    [llama, '{"parameters": {"rate": 1}}'],
    ['', '{"arguments": "x", "name": "Bob"}'],
    ['[func_name1(', '[1, 2]'],
    ['[func_name1(', '[f(1), g(2)] are calls'],
    ['[func_name1(', '[note("x")]'],
    ['<tool_call>', '<tool_call>\n{"city": "Köln"}\n</tool_call>'],
    ['<tool_call>', "<tool_call>\n{'name': 'now', 'arguments': {}}\n</tool_call>"],
    ['<tool_call> <function= <parameter=', '<tool_call>\n{"name": "now"}\n</tool_call>'],
    ['[TOOL_CALLS] [ARGS]', '[TOOL_CALLS]now'],
    ['<minimax:tool_call>', '<minimax:tool_call>\nhello\n</minimax:tool_call>'],
    ['>>>all', 'Hello my friend\nhow are you?'],
    ['<tool_call>', '<tool_call>\n{"name": "weather", "argumnets": {"city": "Köln"}}\n</tool_call>'],
    ['<tool_call>', '<tool_call>\n{"name": "weather", "city": "Köln"}\n</tool_call>'],
    ['<tool_call>', '<tool_call>\n{"name": "weather", arguments: {"city": "Köln"}}\n</tool_call>'],
    ['<tool_call>', '<tool_call>\n{"name": "", "arguments": {}}\n</tool_call>'],
    ['<|channel|>analysis<|message|>', 'assistants help their users'],
    ['<|channel|>analysis<|message|>', '<|channel|>final message|>I look at it'],
  ]
  for (const [template, reply] of cases) {
    const format = detectChatFormat({ template })
    for (const parts of [[reply], [...reply]]) {
      const { content, calls } = parse(format, parts, undefined)
      assert.deepEqual([content, calls], [reply, []], `${format.name}: ${reply}`)
    }
    // An answer must not be constrained to a call, either.
    if (format.bare !== '')
      for (const one of toolGrammar(format, { tools: [...kTools, kNote] }).grammarTriggers)
        assert.ok(
          !(typeof one === 'object' && 'text' in one && reply.startsWith(one.text)) || reply.includes('note'),
        )
  }
  // What the cut text may still become is left out.
  for (const [template, reply, calls] of [
    [llama, '{"na', 0],
    [llama, '{"name": "no', 0],
    [llama, '{"name": "now", "parameters": {}}; {', 1],
    ['<|channel|> <|message|>', ' to=fun', 0],
    ['<tool_call>', '<tool_call>{"name": "now"}</tool_call>\n<', 1],
  ] as const) {
    const cut = parse(detectChatFormat({ template }), [reply], undefined, 'length')
    assert.deepEqual([cut.content, cut.calls.length], ['', calls], reply)
  }
  const both = '<tool_call>\n[{"name": "now"}, {"name": "now"}]\n</tool_call>'
  for (const reply of [both, both.replaceAll(/[[\],]/g, '')]) {
    const { content, calls } = parse(detectChatFormat({ template: '<tool_call>' }), [reply], undefined)
    assert.deepEqual([content, calls.length], ['', 2], reply)
  }
})

test('the beginning of a marker is no text when a limit cuts it', () => {
  const cases: [template: string, text: string, content: string, reasoning: string][] = [
    ['<tool_call> <think>', 'Yes.\n<tool_c', 'Yes.', ''],
    ['<tool_call> <think>', 'Yes. <thin', 'Yes.', ''],
    ['<tool_call> <think>', '<think>so</thi', '', 'so'],
    ['[TOOL_CALLS] [ARGS]', 'a [TOOL_CALL', 'a', ''],
    // One character may as well be text.
    ['<tool_call> <think>', '2 <', '2 <', ''],
    ['<tool_call> <think>', '<b', '<b', ''],
    // Half of a pair of surrogates is none.
    ['<tool_call>', 'a\ud83c', 'a', ''],
    ['<tool_call>', 'a\ud83c\udf89', 'a\ud83c\udf89', ''],
  ]
  for (const [template, text, content, reasoning] of cases)
    for (const parts of [[text], [...text], text.split('')]) {
      const cut = parse(detectChatFormat({ template }), parts, undefined, 'length')
      assert.deepEqual([cut.content.trimEnd(), cut.reasoning], [content, reasoning], text)
    }
})

test('a call that the model itself leaves open is not closed', () => {
  const coder = '<function= <parameter= <tool_call>'
  const glm = '<arg_key> <arg_value>'
  const call = '<tool_call>\n<function=weather>\n<parameter=city>'
  const cases: [template: string, reply: string, calls: [name: string, args: string][]][] = [
    ['<tool_call>', '<tool_call>{"name": "now"', []],
    ['<tool_call>', '<tool_call>{"name": "now", "argu', []],
    ['<tool_call>', '<tool_call>{"name": "weather", "arguments": {"city": "K', [['weather', '{"city": "K']]],
    ['<arg_key> <arg_value>', '<tool_call>', []],
    ['[func_name1(', '[now(', []],
    ['[func_name1(', '[weather(city="K"', [['weather', '{"city": "K"']]],
    ['<|tool_call> <tool_call|>', '<|tool_call>call:now{', []],
    ['<|tool_call> <tool_call|>', '<|tool_call>call:weather{days:3', [['weather', '{"days": ']]],
    ['<arg_key> <arg_value>', '<tool_call>now', []],
    ['<|channel|> <|message|>', '<|channel|>commentary to=now<|message|>', []],
    ['[TOOL_CALLS] [ARGS]', '[TOOL_CALLS]now[ARGS]', []],
    // llama-server 0.7.0 gives these arguments for a text that ends there.
    [coder, `${call}\n/tmp/old/cache`, [['weather', '{"city": "/tmp/old/cache']]],
    [coder, `${call}\n/tmp\n</parameter>`, [['weather', '{"city": "/tmp"']]],
    [coder, `${call}\n/tmp\n</parameter>\n</function>`, [['weather', '{"city": "/tmp"}']]],
    [coder, '<tool_call>\n<function=now>\n<parameter=ci', []],
    [
      glm,
      `<tool_call>weather<arg_key>city</arg_key><arg_value>/tmp/old`,
      [['weather', '{"city": "/tmp/old']],
    ],
  ]
  for (const [template, reply, calls] of cases)
    for (const parts of [[reply], [...reply]]) {
      const ended = parse(detectChatFormat({ template }), parts, undefined, 'end')
      assert.deepEqual(
        ended.calls.map((call) => [call.name, call.arguments]),
        calls,
        reply,
      )
    }
})

const validators = new Map(
  kTools.map(({ function: { name, parameters } }) => [
    name,
    new Ajv2020({ strict: false }).compile(parameters ?? { type: 'object', additionalProperties: false }),
  ]),
)

const kSamples = kAll ? 40 : 15

test('calls generated by a grammar are parsed back and match the schemas', () => {
  let state = 1
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647
  const table: string[] = []
  for (const name of chatFormatNames) {
    const { template } = kReplies.find(({ format }) => format === name)!
    const format = detectChatFormat({ template })
    for (const toolChoice of ['required', 'auto', { function: { name: 'now' } }] as const) {
      for (const parallelToolCalls of [true, false]) {
        const made = toolGrammar(format, { tools: kTools, toolChoice, parallelToolCalls })
        assert.equal(made.grammarTriggers.length > 0, toolChoice === 'auto', name)
        const grammar = new Gbnf(made.grammar!)
        let most = 0
        for (let i = 0; i < kSamples; i++) {
          const text = grammar.sample(random)
          const what = `${name}: ${text}`
          const first = made.grammarTriggers.map((trigger) =>
            typeof trigger === 'object' && 'text' in trigger ? trigger.text : String(trigger),
          )
          if (toolChoice === 'auto')
            assert.ok(
              first.some((trigger) => text.startsWith(trigger)),
              what,
            )
          // The model has written the text before a trigger without the grammar.
          const reply =
            toolChoice !== 'auto' ? text : name === 'gpt-oss' ? `<|channel|>commentary${text}` : text
          const { calls, content } = parse(format, [reply], undefined)
          assert.ok(calls.length > 0, what)
          assert.equal(content, '', what)
          most = Math.max(most, calls.length)
          for (const call of calls) {
            const given = JSON.parse(call.arguments) as unknown
            assert.ok(validators.get(call.name)?.(given), `${what}\n${call.name}: ${call.arguments}`)
            if (typeof toolChoice === 'object') assert.equal(call.name, 'now')
          }
        }
        assert.equal(most > 1, parallelToolCalls && name !== 'gpt-oss', `${name}: ${most} calls`)
      }
    }
    table.push(name)
  }
  const none = toolGrammar(detectChatFormat({ template: '<tool_call>' }), {
    tools: kTools,
    toolChoice: 'none',
  })
  assert.equal(none.grammar, undefined)
  assert.throws(
    () =>
      toolGrammar(detectChatFormat({ template: '' }), {
        tools: kTools,
        toolChoice: { function: { name: 'x' } },
      }),
    { code: 'invalid-argument', message: /"x"/ },
  )
})

test('names of parameters that are no identifiers, and values that end their own tags', () => {
  const names = ['größe', '城市', 'a b', '$x', '@type', 'x[]', 'a=b', 'a,b', 'a>b', 'a:b', '<q>']
  const kinds = { enum: ['</parameter>', '</arg_value>', '\nx\n', ' y ', "it's", 'q"q'] }
  for (const template of new Map(kReplies.map((one) => [one.format, one.template])).values()) {
    const format = detectChatFormat({ template })
    for (const key of names) {
      const objectOf = (properties: Record<string, unknown>) => {
        return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
      }
      const parameters = objectOf({ [key]: kinds, o: objectOf({ [key]: { enum: [1, 2] } }) })
      const tools: Engine.FunctionTool[] = [{ type: 'function', function: { name: 'f', parameters } }]
      const { grammar } = toolGrammar(format, { tools, toolChoice: 'required', parallelToolCalls: false })
      for (let seed = 1; seed < 6; seed++) {
        const reply = new Gbnf(grammar!).sample(randomOf(seed))
        const parser = createReplyParser(format, { tools })
        const [call] = joined([...parser.push(reply), ...parser.end('end')]).calls
        const args = JSON.parse(call?.arguments ?? 'null') as Record<string, unknown> | null
        const what = `${format.name}: ${reply}`
        assert.deepEqual(Object.keys(args ?? {}).sort(), [key, 'o'].sort(), what)
        assert.deepEqual(Object.keys(args!['o'] as object), [key], what)
        assert.ok(kinds.enum.includes(args![key] as string), what)
      }
    }
  }
})

test('control tokens of a vocabulary are tokens in the grammar', () => {
  const ids = new Map([
    ['<tool_call>', 7],
    ['</tool_call>', 8],
    ['<think>', 9],
    ['</think>', 10],
  ])
  const format = detectChatFormat({ template: '<tool_call> <think></think>' })
  const options = { tools: kTools, controlToken: (name: string) => ids.get(name) }
  const lazy = toolGrammar(format, options)
  assert.deepEqual(lazy.grammarTriggers, [{ token: 7 }])
  assert.deepEqual(
    [...lazy.showTokens].sort((a, b) => a - b),
    [7, 8, 9, 10],
  )
  assert.match(lazy.grammar!, /^root ::= .*/)
  assert.match(lazy.grammar!, /<\[7\]>/)
  const forced = toolGrammar(format, { ...options, toolChoice: 'required', prompt: 'assistant\n<think>\n' })
  assert.match(forced.grammar!, /^root ::= \.\* <\[10\]>/)
})
