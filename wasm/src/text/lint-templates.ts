// Compiles a file's chat templates, and renders a standard conversation with each.
import { GgufError } from '../api/errors.js'
import type { Finding, FindingLevel } from '../api/findings.js'
import type { ReadOptions } from '../api/source.js'
import { renderTemplate, type TemplateFile } from './render-chat.js'
import { loadKnownFormats } from './load-known-formats.js'

const kKey = 'tokenizer.chat_template'
const kWord = 'zqlint'
const kFunction = {
  name: 'weather',
  description: 'Tells the weather',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', description: 'The city' } },
    required: ['city'],
  },
}
const kTools = [{ type: 'function', function: kFunction }]
const kDocuments = [{ title: 'Weather', text: 'It rains.', doc_id: 1 }]
const kSystem = { role: 'system', content: 'Be brief.' }

type Variables = Readonly<Record<string, unknown>>
interface Attempt extends Variables {
  /** contents are lists of parts */
  readonly parts?: true
  /** a system message is before the others */
  readonly system?: true
}
/** The plain conversation, and what templates of other purposes need instead. The first one that renders counts. */
const kAttempts: readonly Attempt[] = [
  { tools: null },
  { tools: null, parts: true },
  { tools: null, system: true },
  {},
  { tools: [] },
  { tools: kTools },
  { tools: kTools, system: true },
  { tools: [kFunction] },
  { documents: kDocuments },
  { tools: kTools, documents: kDocuments },
  { functions: JSON.stringify(kTools), datetime: 'Mon Jan 1 2024' },
]
export const kCommonVariables: Variables = {
  documents: null,
  add_generation_prompt: true,
  bos_token: '<s>',
  eos_token: '</s>',
  unk_token: '<unk>',
}

/** A conversation, and what a finding calls each message. */
const kTurns = [
  { role: 'user', content: 'zqfirst', name: "the user's first message" },
  { role: 'assistant', content: 'zqsecond', name: "the assistant's message" },
  { role: 'user', content: 'zqthird', name: "the user's last message" },
]

interface Turn {
  readonly role: string
  readonly content: string
}

/** The prompt of a conversation. A list of parts that is written as such is none. */
async function promptOf(
  text: string,
  turns: readonly Turn[],
  { parts, system, ...variables }: Attempt,
  hosting: TemplateFile['hosting'],
): Promise<string> {
  const messages = turns.map(({ role, content }) => ({
    role,
    content: parts ? [{ type: 'text', text: content }] : content,
  }))
  const all = { ...kCommonVariables, ...variables, messages: system ? [kSystem, ...messages] : messages }
  const rendered = await renderTemplate(text, all, {}, hosting)
  return parts && /['"]text['"]: /.test(rendered.text) ? '' : rendered.text
}

/** The bytes of a text before a line and column, which count from 1. */
function bytesBefore(text: string, line: number, column: number): number {
  const lines = text.split('\n')
  const before = lines.slice(0, line - 1).map((one) => `${one}\n`)
  const [...characters] = lines[line - 1] ?? ''
  return new TextEncoder().encode(before.join('') + characters.slice(0, column - 1).join('')).length
}

interface Problem {
  readonly level: FindingLevel
  readonly code: string
  readonly message: string
  /** in the template's text */
  readonly at: number
}

const isOfTemplate = (error: unknown): error is GgufError =>
  error instanceof GgufError && error.code.startsWith('chat-template')

/** The messages of a longer conversation that the prompt lacks. A template may refuse such a conversation. */
async function lostMessages(
  text: string,
  attempt: Attempt,
  hosting: TemplateFile['hosting'],
): Promise<string[]> {
  try {
    const prompt = await promptOf(text, kTurns, attempt, hosting)
    return kTurns.filter(({ content }) => !prompt.includes(content)).map(({ name }) => name)
  } catch (error) {
    if (!isOfTemplate(error)) throw error
    return []
  }
}

const dropped = (what: string): Problem => ({
  level: 'note',
  code: 'template-drops-message',
  message: `the prompt that the template makes lacks ${what}`,
  at: 0,
})

async function renderProblem(text: string, { hosting }: TemplateFile): Promise<Problem | undefined> {
  let first: GgufError | undefined
  let hasRendered = false
  for (const attempt of kAttempts)
    try {
      const prompt = await promptOf(text, [{ role: 'user', content: kWord }], attempt, hosting)
      if (prompt.includes(kWord)) {
        const lost = await lostMessages(text, attempt, hosting)
        return lost.length > 0 ? dropped(`${lost.join(' and ')} of a conversation of three`) : undefined
      }
      hasRendered = true
    } catch (error) {
      if (!isOfTemplate(error)) throw error
      first ??= error
      if (error.code === 'chat-template-limit') break // the others would take as long
    }
  if (hasRendered) return dropped("the user's message")
  const { line, column } = first!
  const at = line === undefined || column === undefined ? 0 : bytesBefore(text, line, column)
  return { level: 'error', code: 'template-error', message: first!.message, at }
}

/** The findings of file.lintTemplates(). */
export async function lintTemplates(file: TemplateFile, { signal }: ReadOptions): Promise<Finding[]> {
  const { metadata } = file
  const { kKnownFormatNames: names } = await loadKnownFormats()
  const findings: Finding[] = []
  for (const key of metadata.keys()) {
    if (key !== kKey && !key.startsWith(`${kKey}.`)) continue
    const text = metadata.get(key)
    if (typeof text !== 'string') continue
    signal?.throwIfAborted()
    const word = text.trim()
    const isStandIn = word === '' || names.includes(word)
    const meaning = word === '' ? 'the template is empty' : `the template is only the name ${word}`
    const used = word === '' && key !== kKey ? 'it is not used' : `the format ${word || 'chatml'} is used`
    const problem: Problem | undefined = isStandIn
      ? { level: 'note', code: 'template-stand-in', message: `${meaning}: ${used}`, at: 0 }
      : await renderProblem(text, file)
    if (!problem) continue
    const { at, message, ...kind } = problem
    const offset = (metadata.offset(key) ?? 0) + at
    findings.push({ ...kind, message: key === kKey ? message : `${key}: ${message}`, offset, shard: 0 })
  }
  return findings
}
