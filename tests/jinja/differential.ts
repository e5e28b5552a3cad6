// Compares the package with Python's Jinja2: random templates, and random conversations with real templates.
// node tests/jinja/differential.ts templates|conversations [FROM] [COUNT]
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { open, type GgufFile } from 'ggufscope/node'
import { writeHeader } from '../fixtures/gguf.ts'
import { renderByPython, type ReferenceCase, type ReferenceResult } from './python.ts'
import { randomConversation, type RandomConversation } from './random-conversation.ts'
import { kTemplateVariables, randomTemplate } from './random-template.ts'

export interface Difference {
  readonly seed: number
  /** the template's text or file */
  readonly template: string
  readonly python: ReferenceResult
  readonly ours: ReferenceResult
}
export interface Comparison {
  /** the same text */
  same: number
  /** both raise an error */
  refused: number
  /** Python's text contains addresses of objects, which cannot be predicted */
  unforeseen: number
  readonly differences: Difference[]
}
interface Case extends ReferenceCase {
  readonly seed: number
  readonly name: string
  render(): Promise<string>
}

/** What Python prints of functions, generators and the like, also after the filters of random templates. */
const kAddress = /\b[a_]t 0x[\da-f_]{6,}|<class '|<bound method|<Macro |<jinja2/i

const kNow = new Date(2026, 6, 4, 9, 5, 3)
export const kRealTemplates = join(
  process.env['GGUFSCOPE_SHARED'] ?? join(import.meta.dirname, '../../../shared'),
  'data/templates',
)

async function withTemplate(text: string): Promise<GgufFile> {
  return await open(
    writeHeader({ metadata: [['tokenizer.chat_template', { type: 'string', value: text }]] }).header,
  )
}

async function compare(cases: readonly Case[]): Promise<Comparison> {
  const out: Comparison = { same: 0, refused: 0, unforeseen: 0, differences: [] }
  const made = renderByPython(cases)
  for (const [i, { seed, name, render }] of cases.entries()) {
    const python = made[i]!
    const ours = await render().then(
      (text): ReferenceResult => ({ text }),
      (error: unknown): ReferenceResult => ({ error: String(error) }),
    )
    if ('text' in python && kAddress.test(python.text)) out.unforeseen++
    else if ('text' in python && 'text' in ours && python.text === ours.text) out.same++
    else if ('error' in python && 'error' in ours) out.refused++
    else out.differences.push({ seed, template: name, python, ours })
  }
  return out
}

const seeds = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)

export async function compareRandomTemplates(from: number, count: number): Promise<Comparison> {
  const variables = JSON.parse(kTemplateVariables) as Record<string, unknown>
  return await compare(
    // A template without more than comments is none: ChatML takes its place.
    seeds(from, count).flatMap((seed): Case | [] => {
      const template = randomTemplate(seed)
      if (template.replace(/\{#.*?#\}/gs, '').trim() === '') return []
      const render = async () => {
        using file = await withTemplate(template)
        return await file.renderChat([], { adapt: false, variables, now: kNow })
      }
      return { seed, name: template, template, variables: kTemplateVariables, render }
    }),
  )
}

/** The variables that renderChat() passes to the template for a conversation that is not adapted. */
function variablesOf({ variables, ...given }: RandomConversation): string {
  const { messages, tools = null, documents = null, addGenerationPrompt } = given
  return JSON.stringify({
    documents,
    add_generation_prompt: addGenerationPrompt,
    tools,
    ...variables,
    messages,
  })
}

/** Renders each conversation with the next of the real templates. */
export async function compareRandomConversations(from: number, count: number): Promise<Comparison> {
  const files = existsSync(kRealTemplates) ? readdirSync(kRealTemplates) : []
  const templates = await Promise.all(
    files.map(async (name) => {
      const text = readFileSync(join(kRealTemplates, name), 'utf8')
      return { name, text, file: await withTemplate(text) }
    }),
  )
  const cases = seeds(from, count).map((seed): Case => {
    const { name, text, file } = templates[seed % templates.length]!
    const conversation = randomConversation(seed)
    const { messages, ...options } = conversation
    return {
      seed,
      name,
      template: text,
      variables: variablesOf(conversation),
      render: async () =>
        await file.renderChat(messages as { role: string }[], { ...options, adapt: false, now: kNow }),
    }
  })
  const out = await compare(cases)
  for (const { file } of templates) file.close()
  return out
}

if (import.meta.main) {
  const [kind, ...numbers] = process.argv.slice(2)
  const [from = 0, count = 1000] = numbers.map(Number)
  const run = kind === 'conversations' ? compareRandomConversations : compareRandomTemplates
  const { differences, ...counts } = await run(from, count)
  for (const one of differences) console.log(JSON.stringify(one, undefined, 1))
  console.log({ ...counts, different: differences.length })
}
