// The prompt of a conversation.
import { GgufError } from '../api/errors.js'
import type { AssetOptions } from '../api/assets.js'
import type { Metadata } from '../api/metadata.js'
import type { ChatMessage, ChatTemplate, RenderChatOptions, Tokenizer } from '../api/text.js'
import { hasVocabulary } from '../header/metadata.js'
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

/** What of a file a prompt needs. */
export interface TemplateFile {
  readonly metadata: Metadata
  readonly chatTemplates: ReadonlyMap<string, ChatTemplate>
  readonly hosting?: AssetOptions | undefined
  tokenizer(): Tokenizer
}

/** What templates call bos_token, eos_token, ...: the texts of the tokens in those roles. */
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

export async function renderChat(
  file: TemplateFile,
  messages: readonly ChatMessage[],
  options: RenderChatOptions,
): Promise<Rendered> {
  const variables = {
    ...specialTexts(file),
    tools: options.tools ?? null,
    documents: options.documents ?? null,
    add_generation_prompt: options.addGenerationPrompt ?? true,
    ...options.variables,
    messages,
  }
  const { maxLength, now } = options
  return await renderTemplate(
    choose(file.chatTemplates, options).text,
    variables,
    { maxLength, now },
    file.hosting,
  )
}
