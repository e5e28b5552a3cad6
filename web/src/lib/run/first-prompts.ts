// Messages to begin a conversation with, by what a model is for.
import type { GgufFile } from 'ggufscope'
import { languages } from '../../texts/languages'
import type { Plain } from '../../texts/text'
import { language } from '../language/language.svelte'
import { t } from '../language/text'
import { decisionExamples } from './decision.svelte'
import { takesTools, type Mode } from './model-use'

export interface Prompt {
  readonly text: Plain
  /** the same in a language that the model knows */
  readonly words: string
  /** whether the example of a tool is offered with it */
  readonly tools?: boolean
}

/** Names and tags of models, and what such a model is asked. The first that matches counts. */
const kinds: readonly { names: RegExp; prompts: readonly Plain[]; beginnings?: readonly Plain[] }[] = [
  {
    names: /stories/i,
    // What the sample follows each time.
    prompts: ['Tell me a story about a fox and a lamp', 'What do bees make?', 'Who are you?'],
    beginnings: [
      'Once upon a time, a brave mouse named Mila',
      'One rainy day, Ruby had a basket of apples.',
      'One night, a great storm came over the land.',
    ],
  },
  {
    names: /translat|madlad|hunyuan-?mt|\btower/i,
    prompts: [
      'Translate into French: The train leaves at nine.',
      'Translate into Spanish: Where is the library?',
      'Translate into English: Der Apfel fällt nicht weit vom Stamm.',
    ],
  },
  {
    names: /cod(e|er|ing)\b|code-?(llama|gemma|qwen)|starcoder|devstral|codestral/i,
    prompts: [
      'Write a function that finds duplicates in a list',
      'Explain what a closure is',
      'Write a test for a parser of dates',
    ],
    beginnings: ['def fibonacci(n):', 'class Stack:', 'SELECT name, COUNT(*) FROM'],
  },
  {
    names: /math|reason|think|\br1\b|qwq/i,
    prompts: [
      'Which is larger, 9.11 or 9.9?',
      'Prove that there are infinitely many primes',
      'How many days are in 1000 hours?',
    ],
  },
]
const general: readonly Plain[] = [
  'Explain how a rainbow forms',
  'Write a short poem about the sea',
  'Give me three ideas for a rainy day',
]
const beginnings: readonly Plain[] = [
  'Once upon a time',
  'The sea was calm, and',
  'The most important invention was',
]
const pictures: readonly Plain[] = ['Describe this picture', 'What does the text in this picture say?', 'Write a title for this picture'] // prettier-ignore
const recordings: readonly Plain[] = ['Write down what is said', 'What is this recording about?'] // prettier-ignore
// Several texts each.
const comparisons: readonly Plain[] = [
  'A small owl / A bird of the night / A red car / The price of bread',
  'How do I reset my password? / I forgot my login / Where is my parcel? / When do you open?',
]
const rankings: readonly Plain[] = [
  'What do owls eat? / Owls hunt mice and other small animals. / The owl is a symbol of wisdom. / Bread is made of flour.',
]

export interface Senses {
  /** what its projector takes */
  readonly images: boolean
  readonly audio: boolean
}

function listOf({ metadata }: GgufFile, key: 'general.tags' | 'general.languages'): string[] {
  const list = metadata.get(key)
  return typeof list === 'object' && list.loaded ? list.slice(0, 32).map(String) : []
}

/** A code in its shortest form: "deu", "de-DE" and "German" are "de". Undefined: it names no single language. */
function codeOf(given: string): string | undefined {
  const name = given.trim().toLowerCase()
  const named = languages.find(({ code }) => englishNames.of(code)?.toLowerCase() === name)
  if (named) return named.code.split('-')[0]
  try {
    const { language } = new Intl.Locale(name.replaceAll('_', '-'))
    return /^(mul|und|multi.*)$/.test(language) ? undefined : language
  } catch {
    return undefined
  }
}

const englishNames = new Intl.DisplayNames('en', { type: 'language' })

/** The names of the languages that the file lists, if the page's is not one of them; otherwise none. */
export function otherLanguages(file: GgufFile): readonly string[] {
  const known = listOf(file, 'general.languages').map(codeOf)
  const { code } = language.current
  if (known.some((one) => one === undefined || one === code.split('-')[0])) return []
  const names = new Intl.DisplayNames(code, { type: 'language' })
  return [...new Set(known)].map((one) => names.of(one!) ?? one!)
}

/** Up to four of them. A model that completes texts gets beginnings of texts. */
export function firstPrompts(
  file: GgufFile,
  mode: Mode,
  ranks: boolean,
  { images, audio }: Senses,
): readonly Prompt[] {
  const isTranslated = otherLanguages(file).length === 0
  const of = (texts: readonly Plain[]) =>
    texts.map((text) => ({ text, words: isTranslated ? t(text) : text }))
  if (mode === 'decide') return of(decisionExamples.map(({ question }) => question))
  if (mode === 'compare') return of(ranks ? rankings : comparisons)
  const { name = '', sizeLabel = '' } = file.summary()
  const words = [name, sizeLabel, ...listOf(file, 'general.tags')].join(' ')
  const kind = kinds.find(({ names }) => names.test(words))
  if (mode === 'complete' || mode === 'inside') return of(kind?.beginnings ?? beginnings)
  if (images) return of(pictures)
  if (audio) return of(recordings)
  return [
    ...of(kind?.prompts ?? general),
    ...(takesTools(file)
      ? of(['How is the weather in Oslo?']).map((prompt) => ({ ...prompt, tools: true }))
      : []),
  ]
}
