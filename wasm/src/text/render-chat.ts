// Renders the prompt of a conversation.
import { checkOptions } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { AssetOptions } from '../api/assets.js'
import type { Metadata } from '../api/metadata.js'
import type { ChatMessage, ChatTemplate, RenderChatOptions, Tokenizer } from '../api/text.js'
import { hasVocabulary } from '../header/metadata.js'
import { adaptConversation, type AdaptedConversation } from '../chat/adapt.js'
import { kReasoningFields, probeOf } from '../chat/probe.js'
import { loadKnownFormats } from './load-known-formats.js'
import { checkMessages, kRenderChecks } from './render-options.js'
import { renderTemplate, variablesJson, type Rendered } from './render-template.js'

export { renderTemplate } from './render-template.js'

type TemplateChoice = Pick<RenderChatOptions, 'template' | 'tools'>

/** The name of the template that renderChat() would use, and the template unless it is a known format by its name. */
function chosenTemplate(
  templates: ReadonlyMap<string, ChatTemplate>,
  { template, tools }: TemplateChoice,
): [name: string, template: ChatTemplate | undefined] {
  const name = template ?? (tools?.length && templates.has('tool_use') ? 'tool_use' : 'default')
  return [name, templates.get(name) ?? (template === undefined ? [...templates.values()][0] : undefined)]
}

/** Why a known format stands for the file's template, if one does. */
export function templateWarnings(
  templates: ReadonlyMap<string, ChatTemplate>,
  options: TemplateChoice,
): string[] {
  const warning = chosenTemplate(templates, options)[1]?.warning
  return warning === undefined ? [] : [warning]
}

/** The text of the template that renderChat() would use. */
export async function templateText(
  templates: ReadonlyMap<string, ChatTemplate>,
  options: TemplateChoice,
): Promise<string> {
  const [name, template] = chosenTemplate(templates, options)
  if (template?.source === 'file') return template.text
  const text = (await loadKnownFormats()).knownTemplate(template?.source ?? name)
  if (text !== undefined) return text
  const names = [...templates.keys()].map((known) => `"${known}"`).join(', ')
  throw new GgufError(
    'not-found',
    names === ''
      ? `The file has no chat template "${name}", and its vocabulary suggests none: the option template may name a known format, such as "chatml".`
      : `The file has no chat template "${name}", but ${names}, and there is no known format of that name.`,
  )
}

/** The parts of a file that a prompt needs. */
export interface TemplateFile {
  readonly metadata: Metadata
  readonly chatTemplates: ReadonlyMap<string, ChatTemplate>
  readonly hosting?: AssetOptions | undefined
  tokenizer(): Tokenizer
}

/** The template variables bos_token, eos_token, ...: the texts of these tokens. */
function specialTexts(file: TemplateFile): Record<string, string> {
  if (!hasVocabulary(file.metadata)) return {}
  const { special, tokens } = file.tokenizer()
  return Object.fromEntries(
    (['bos', 'eos', 'unk', 'sep', 'pad', 'mask'] as const).flatMap((role) => {
      const id = special[role]
      return id === undefined ? [] : [[`${role}_token`, tokens.at(id)!.text]]
    }),
  )
}

/** The parts of a conversation that are passed to the template. */
async function conversationOf(
  file: TemplateFile,
  source: string,
  messages: readonly ChatMessage[],
  { adapt = false, tools, documents, now, variables, templateVariables }: RenderChatOptions,
): Promise<AdaptedConversation> {
  if (!adapt) return { messages, variables: { tools: tools ?? null } }
  const tokens = {
    has: (text: string) => hasVocabulary(file.metadata) && file.tokenizer().find(text) !== undefined,
  }
  const given = { ...variables, ...templateVariables }
  const conversation = { messages, tools, documents, tokens, now, variables: given }
  return await adaptConversation(probeOf(source, file.hosting), conversation)
}

/** A random word that marks the end of the last message. */
const kEnd = 'zqcontinue'

function invalidContinue(): never {
  throw new GgufError(
    'invalid-argument',
    "To continue, the last message must be an assistant's, with text as its content and without calls.",
  )
}

/** Appends kEnd to the last message: to its text, or to its reasoning if it has no text yet. */
function marked(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || last['tool_calls'] !== undefined) invalidContinue()
  const { content } = last
  const before = messages.slice(0, -1)
  const reasoning = kReasoningFields.find((field) => typeof last[field] === 'string' && last[field] !== '')
  if (reasoning !== undefined && (content === '' || content === null || content === undefined))
    return [...before, { ...last, [reasoning]: `${String(last[reasoning])}${kEnd}` }]
  if (typeof content === 'string') return [...before, { ...last, content: content + kEnd }]
  const part = Array.isArray(content) ? (content.at(-1) as { type?: unknown; text?: unknown }) : undefined
  if (typeof part?.text !== 'string') invalidContinue()
  return [
    ...before,
    { ...last, content: [...(content as unknown[]).slice(0, -1), { ...part, text: part.text + kEnd }] },
  ]
}

/** The beginning of a rendered prompt. The length is in UTF-16 units. */
function cut({ text, runs }: Rendered, end: number): Rendered {
  const kept = text.slice(0, end)
  let room = new TextEncoder().encode(kept).length
  const keptRuns: { bytes: number; content: boolean }[] = []
  for (const run of runs) {
    const bytes = Math.min(run.bytes, room)
    room -= bytes
    if (bytes > 0) keptRuns.push({ ...run, bytes })
  }
  return { text: kept, runs: keptRuns }
}

/** Makes the template's input. */
async function variablesOf(
  file: TemplateFile,
  source: string,
  messages: readonly ChatMessage[],
  options: RenderChatOptions,
): Promise<Record<string, unknown>> {
  const goOn = options.continue ?? false
  const adapted = await conversationOf(file, source, goOn ? marked(messages) : messages, options)
  return {
    ...specialTexts(file),
    documents: options.documents ?? null,
    add_generation_prompt: !goOn && (options.addGenerationPrompt ?? true),
    ...adapted.variables,
    ...options.variables,
    ...options.templateVariables,
    messages: adapted.messages,
  }
}

/** The template's input as JSON, for other template engines. */
export async function chatVariables(
  file: TemplateFile,
  messages: readonly ChatMessage[],
  options: RenderChatOptions,
): Promise<string> {
  return variablesJson(
    await variablesOf(file, await templateText(file.chatTemplates, options), messages, options),
  )
}

export async function renderChat(
  file: TemplateFile,
  messages: readonly ChatMessage[],
  options: RenderChatOptions,
): Promise<Rendered> {
  checkOptions('renderChat()', options, kRenderChecks)
  checkMessages('renderChat()', messages)
  const source = await templateText(file.chatTemplates, options)
  const variables = await variablesOf(file, source, messages, options)
  const { maxLength, now } = options
  const rendered = await renderTemplate(source, variables, { maxLength, now }, file.hosting)
  if (!options.continue) return rendered
  const end = rendered.text.lastIndexOf(kEnd)
  if (end < 0)
    throw new GgufError(
      'unsupported',
      'The chat template does not show the last message, which is to be continued.',
    )
  return cut(rendered, end)
}
