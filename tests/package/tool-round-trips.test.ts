// Calls as each real template writes them, read back as replies: whole, in parts cut anywhere, one and several.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { ChatMessage } from 'ggufscope'
import type * as Engine from 'ggufscope/engine'
import { writeHeader } from '../fixtures/gguf.ts'
import { kShared, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const { createReplyParser, detectChatFormat } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine

const parameter = (name: string, type: string) => ({
  type: 'object',
  properties: { [name]: { type, description: name } },
  required: [name],
  additionalProperties: false,
})
const kTools: Engine.FunctionTool[] = [
  {
    type: 'function',
    function: { name: 'weather', description: 'Tells the weather', parameters: parameter('city', 'string') },
  },
  {
    type: 'function',
    function: { name: 'wait', description: 'Waits', parameters: parameter('days', 'integer') },
  },
]
const call = (id: string, name: string, args: object) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
})
const kCalls = [
  call('call_abcdefghi', 'weather', { city: 'Köln "x"' }),
  call('call_jklmnopqr', 'wait', { days: 3 }),
]
const kUser: ChatMessage = { role: 'user', content: 'Hi' }

function read(
  format: Engine.ChatFormat,
  prompt: string,
  parts: readonly string[],
): [name: string, args: unknown][] {
  let id = 0
  const parser = createReplyParser(format, { tools: kTools, prompt, newId: () => String(id++) })
  const calls: [name: string, args: string][] = []
  for (const { tool_calls = [] } of [...parts.flatMap((part) => parser.push(part)), ...parser.end()])
    for (const { index, function: called } of tool_calls) {
      calls[index] ??= [called.name!, '']
      calls[index][1] += called.arguments ?? ''
    }
  return calls.map(([name, args]) => [name, JSON.parse(args) as unknown])
}

/** What a conversation adds to its prompt; where the prompt ends otherwise, from the last marker that both have. */
function added(prompt: string, whole: string): [before: string, reply: string] {
  let at = 0
  while (at < prompt.length && prompt[at] === whole[at]) at++
  const marker = whole.lastIndexOf('<', at)
  if (at < prompt.length && at - marker < 20) at = marker
  return [whole.slice(0, at), whole.slice(at)]
}

const kTemplates = join(kShared, 'templates')
// In Python too it fails as soon as an assistant has spoken.
const kRefusing = 'MiroThinker.jinja'
/** Take one call at a time: several are messages of their own, of which a reply is the first. */
const kSingle = /^(GigaChat|meta-llama|openai)/

describe(
  'tools of every template',
  { skip: existsSync(kTemplates) ? false : 'no shared/data/templates' },
  () => {
    for (const name of existsSync(kTemplates) ? readdirSync(kTemplates) : []) {
      if (name === kRefusing) continue
      test(name, async () => {
        const source = readFileSync(join(kTemplates, name), 'utf8')
        using file = await open(
          writeHeader({ metadata: [['tokenizer.chat_template', { type: 'string', value: source }]] }).header,
        )
        const format = detectChatFormat({ template: source })
        const options = {
          adapt: true,
          tools: kTools,
          variables: { enable_thinking: false, bos_token: '', eos_token: '</s>' },
        }
        const prompt = await file.renderChat([kUser], options)
        for (const n of [1, 2]) {
          const calls = kCalls.slice(0, n)
          const spoken = [kUser, { role: 'assistant', content: null, tool_calls: calls }]
          const whole = await file.renderChat(spoken, { ...options, addGenerationPrompt: false })
          const [before, reply] = added(prompt, whole)
          const what = `${name}, ${n} calls: ${reply}`
          const wanted = calls
            .slice(0, kSingle.test(name) ? 1 : n)
            .map(({ function: called }) => [called.name, JSON.parse(called.arguments) as unknown])
          assert.deepEqual(read(format, before, [reply]).slice(0, wanted.length), wanted, what)
          const all = read(format, before, [reply])
          assert.deepEqual(read(format, before, [...reply]), all, `${what}, character by character`)
          for (let at = 1; at < reply.length; at++)
            assert.deepEqual(
              read(format, before, [reply.slice(0, at), reply.slice(at)]),
              all,
              `${what}, cut at ${at}`,
            )
        }
      })
    }
  },
)
