// Translates what the package says in English: rules and messages of lint, meanings of keys, reasons. The table of a language
// (texts/package) is loaded when the first such text is shown. What has no translation is shown in English, and is marked so.
import type { Language } from '../../texts/languages'
import { OnDemand } from '../page/on-demand.svelte'
import { language } from './language.svelte'
import { Sentences } from './sentences'

const tables = new Map<Language, OnDemand<Sentences>>()

function sentences(): Sentences | undefined {
  const { current } = language
  const { loadSaid } = current
  if (!loadSaid) return undefined
  const load = async (): Promise<Sentences> => new Sentences((await loadSaid()).default)
  const table = tables.get(current) ?? new OnDemand(load)
  tables.set(current, table)
  return table.value
}

export interface Said {
  readonly text: string
  /** of the text, if it is not the page's language */
  readonly lang: string | undefined
}

/** The text in the page's language if it is known, otherwise in English. */
export function said(english: string): Said {
  const { code } = language.current
  if (code === 'en') return { text: english, lang: undefined }
  const text = sentences()?.translate(english)
  return text === undefined ? { text: english, lang: 'en' } : { text, lang: undefined }
}
