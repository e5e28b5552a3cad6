// Messages to begin a conversation with, by what a model is for.
import type { Summary } from 'ggufscope'
import type { Plain } from '../../texts/text'

const kinds: readonly { names: RegExp; prompts: readonly Plain[] }[] = [
  { names: /stories/i, prompts: ['Tell me of bees', 'Tell me of a brave mouse', 'Tell me of ships'] },
  {
    names: /cod(e|er|ing)\b|starcoder|devstral|codestral/i,
    prompts: [
      'Write a function that finds duplicates in a list',
      'Explain what a closure is',
      'Write a test for a parser of dates',
    ],
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

/** Three of them. A model that completes texts gets beginnings of texts. */
export function firstPrompts({ name = '', sizeLabel = '' }: Summary, chat: boolean): readonly Plain[] {
  if (!chat) return beginnings
  return kinds.find(({ names }) => names.test(`${name} ${sizeLabel}`))?.prompts ?? general
}
