import { hasVocabulary } from '../header/metadata.js'
import type { Metadata } from '../api/metadata.js'
import type { ChatTemplate, Tokenizer } from '../api/text.js'
import { knownText, suggestedFormat } from './suggested-formats.js'

const kPrefix = 'tokenizer.chat_template'

/** The file's templates by name; if it has none, the known format that the vocabulary suggests. */
export function chatTemplates(
  metadata: Metadata,
  tokenizer: () => Tokenizer,
): ReadonlyMap<string, ChatTemplate> {
  const templates = new Map<string, ChatTemplate>()
  for (const key of metadata.keys()) {
    if (key !== kPrefix && !key.startsWith(`${kPrefix}.`)) continue
    const text = metadata.get(key)
    const name = key === kPrefix ? 'default' : key.slice(kPrefix.length + 1)
    if (typeof text === 'string' && !templates.has(name)) templates.set(name, { name, source: 'file', text })
  }
  if (templates.size > 0 || !hasVocabulary(metadata)) return templates
  const vocabulary = tokenizer()
  const source = suggestedFormat(
    String(metadata.get('general.architecture')),
    (token) => vocabulary.find(token) !== undefined,
  )
  if (source !== undefined)
    templates.set('default', {
      name: 'default',
      source,
      get text() {
        return knownText(source)
      },
    })
  return templates
}

/** Whether the file contains a chat template. */
export function hasTemplate(metadata: Metadata): boolean {
  return [...metadata.keys()].some((key) => key === kPrefix || key.startsWith(`${kPrefix}.`))
}
