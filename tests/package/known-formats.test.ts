// Formats for files without a chat template: prompts as llama.cpp's built-in templates make them, recorded from it by
// tests/fixtures/record-known-formats.cpp.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { open, type ChatMessage } from 'ggufscope/node'
import { writeHeader, type Model } from '../fixtures/gguf.ts'

type Recorded = Readonly<Record<string, Readonly<Record<string, string>>>>
const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/known-formats.json'), 'utf8'),
) as Recorded

const said = (system: string | undefined, ...texts: readonly string[]): ChatMessage[] => [
  ...(system === undefined ? [] : [{ role: 'system', content: system }]),
  ...texts.map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content })),
]
const kConversations: Readonly<Record<string, readonly ChatMessage[]>> = {
  user: said(undefined, 'Hi'),
  turns: said(undefined, ' Hi \n', ' Hello! ', 'Bye'),
  system: said('Be brief. ', 'Hi', 'Hello!', ' Bye'),
  answered: said('Be brief.', 'Hi', 'Hello!'),
}

test('every built-in format of llama.cpp is known by its name', async () => {
  using file = await open(writeHeader({ metadata: [] }).header)
  let count = 0
  for (const [template, prompts] of Object.entries(recorded))
    for (const [what, text] of Object.entries(prompts)) {
      const [name, prompt] = what.split(' ')
      const options = { template, addGenerationPrompt: prompt !== undefined, adapt: false }
      assert.equal(await file.renderChat(kConversations[name!]!, options), text, `${template}: ${what}`)
      count++
    }
  assert.equal(count, 54 * 8)
  await assert.rejects(file.renderChat([], { template: 'nothing' }), {
    code: 'not-found',
    message: /may name a known format/,
  })
})

const string = (value: string) => ({ type: 'string', value }) as const
function vocabularyOf(architecture: string, tokens: readonly string[]): NonNullable<Model['metadata']> {
  return [
    ['general.architecture', string(architecture)],
    ['tokenizer.ggml.model', string('gpt2')],
    ['tokenizer.ggml.tokens', { type: 'array', of: 'string', value: [...tokens, 'a'] }],
    ['tokenizer.ggml.merges', { type: 'array', of: 'string', value: [] }],
  ]
}

test('a file without a template says which format its vocabulary suggests', async () => {
  const cases: [format: string | undefined, architecture: string, tokens: string[]][] = [
    ['chatml', 'qwen2', ['<|im_start|>', '<|im_end|>']],
    ['phi4', 'phi3', ['<|im_start|>', '<|im_sep|>', '<|im_end|>']],
    ['llama3', 'llama', ['<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>']],
    ['llama2', 'llama', ['<s>', '</s>']],
    ['mistral-v7-tekken', 'llama', ['<s>', '</s>', '[INST]', '[/INST]', '[SYSTEM_PROMPT]']],
    ['mistral-v3', 'llama', ['<s>', '</s>', '[INST]', '[/INST]']],
    ['rwkv-world', 'rwkv7', ['x']],
    [undefined, 'gpt2', ['<s>', '</s>']],
  ]
  for (const [format, architecture, tokens] of cases) {
    using file = await open(writeHeader({ metadata: vocabularyOf(architecture, tokens) }).header)
    await file.loadTokenizer()
    assert.equal(file.chatTemplates.get('default')?.source, format, tokens.join(' '))
  }
})
