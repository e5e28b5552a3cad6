// Joins parts of a text with the punctuation of the page's language: Chinese has marks of its own.
import { language } from './language.svelte'
import { t } from './text'

/** What stands between a sentence and a link after it. */
export const gap = (): string => language.current.gap ?? ' '

export const listed = (parts: readonly string[]): string => parts.join(t(', ##list'))

export const labelled = (label: string, value: string): string => t('{label}: {value}', { label, value })

/** note: none if it is empty or false */
export const bracketed = (text: string, note: string | false | undefined): string =>
  note ? t('{text} ({note})', { text, note }) : text
