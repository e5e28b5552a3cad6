// The prompt of a conversation.
import { GgufError } from '../api/errors.js'
import type { AssetOptions } from '../api/assets.js'
import type { ChatMessage, ChatTemplate, RenderChatOptions } from '../api/text.js'
import { renderTemplate, type Rendered } from './render-template.js'

function choose(templates: ReadonlyMap<string, ChatTemplate>, options: RenderChatOptions): ChatTemplate {
  const name =
    options.template ?? (options.tools?.length && templates.has('tool_use') ? 'tool_use' : 'default')
  const template =
    templates.get(name) ?? (options.template === undefined ? [...templates.values()][0] : undefined)
  if (template) return template
  const names = [...templates.keys()].map((known) => `"${known}"`).join(', ')
  throw new GgufError(
    'not-found',
    names === ''
      ? 'The file has no chat template, and its vocabulary suggests none.'
      : `The file has no chat template "${name}", but ${names}.`,
  )
}

export async function renderChat(
  templates: ReadonlyMap<string, ChatTemplate>,
  specialTexts: Readonly<Record<string, string>>,
  messages: readonly ChatMessage[],
  options: RenderChatOptions,
  hosting?: AssetOptions,
): Promise<Rendered> {
  const variables = {
    ...specialTexts,
    tools: options.tools ?? null,
    documents: options.documents ?? null,
    add_generation_prompt: options.addGenerationPrompt ?? true,
    ...options.variables,
    messages,
  }
  const { maxLength, now } = options
  return await renderTemplate(choose(templates, options).text, variables, { maxLength, now }, hosting)
}
