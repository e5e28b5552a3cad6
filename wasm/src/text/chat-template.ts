// The chat templates of a file.
import { hasVocabulary } from '../header/metadata.js'
import type { Metadata } from '../api/metadata.js'
import type { ChatTemplate, Tokenizer } from '../api/text.js'
import { knownFormats, loadedFormats } from './load-known-formats.js'

const kPrefix = 'tokenizer.chat_template'

// Not a template, but nothing or a name: a known format stands for it.
const kWord = /^[\w.-]*$/

/** The text without comments, trimmed, if it is no template. */
function wordOf(text: string): string | undefined {
  const word = text.replace(/\{#.*?#\}/gs, '').trim()
  return kWord.test(word) ? word.toLowerCase() : undefined
}

function knownFormat(name: string, source: string, why: string): ChatTemplate {
  return {
    name,
    source,
    warning: `${why}: the format ${source} is used.`,
    get text() {
      return knownFormats().knownTemplate(source)!
    },
  }
}

/** A template of the file. An empty one is ChatML, as in llama.cpp, and a known name is the format of that name. */
function templateOf(name: string, text: string): ChatTemplate {
  const word = wordOf(text)
  if (word === '') return knownFormat(name, 'chatml', 'The chat template is empty')
  return word !== undefined && loadedFormats()?.kKnownFormatNames.includes(word)
    ? knownFormat(name, word, 'The chat template is only a name')
    : { name, source: 'file', text }
}

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
    // An empty template for tools is as good as none: the default one takes its place.
    const counts = typeof text === 'string' && (name === 'default' || wordOf(text) !== '')
    if (counts && !templates.has(name)) templates.set(name, templateOf(name, text))
  }
  if (templates.size > 0 || !hasVocabulary(metadata)) return templates
  const vocabulary = tokenizer()
  const source = knownFormats().suggestedFormat(
    String(metadata.get('general.architecture')),
    (token) => vocabulary.find(token) !== undefined,
  )
  if (source !== undefined)
    templates.set('default', knownFormat('default', source, 'The file has no chat template'))
  return templates
}

/** Whether a known format may stand for a template of the file. */
export function mayNeedKnownFormats(metadata: Metadata): boolean {
  const keys = [...metadata.keys()].filter((key) => key === kPrefix || key.startsWith(`${kPrefix}.`))
  return keys.length === 0 || keys.some((key) => wordOf(String(metadata.get(key))) !== undefined)
}
