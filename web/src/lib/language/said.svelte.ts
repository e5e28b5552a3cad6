// Translates what the package says in English: rules and messages of lint, meanings of keys, errors. The tables of a language
// (texts/package) are loaded when the first such text is shown. What has no translation is shown in English, and is marked so.
import { languages, type Language } from '../../texts/languages'
import { OnDemand } from '../page/on-demand.svelte'
import { count, oneLine } from './format'
import { joined } from './joined'
import { language } from './language.svelte'
import { errorText } from './error-text'
import { t } from './text'
import { isUnloaded } from './unloaded'

type Load = NonNullable<Language['loadSaid']>

const onDemand = (load: Load, marks: Language['marks']) =>
  new OnDemand(async () => {
    const [{ Sentences }, texts] = await Promise.all([import('./sentences'), load()])
    return new Sentences(texts.default, marks)
  })

/** One for each load function. They are made here: what reads state that it made itself does not run again. */
const tables = new Map(
  languages.flatMap(({ loadSaid, loadErrors, marks }) =>
    [loadSaid, loadErrors].flatMap((load) => (load ? [[load, onDemand(load, marks)] as const] : [])),
  ),
)

export interface Said {
  readonly text: string
  /** of the text, if it is not the page's language */
  readonly lang: string | undefined
}

const grouped = (text: string) => text.replace(/\d+/, (digits) => count(BigInt(digits)))

/** "at byte 1234567" -> "at byte 1,234,567", and other numbers of five digits that are no part of a name. */
const groupDigits = (text: string): string =>
  text
    .replace(/(?<![\w.,'"`:=/-])\d{5,}(?![\w'"`=/-]|:\S|[.,]\d)/g, grouped)
    .replace(/(?:\bbytes?|字节) ?\d{4}\b|\b\d{4} ?(?:(?:more |weitere )?bytes?\b|个?字节)/gi, grouped)

/** What a sentence about a file of another kind begins with, for those who know the format. */
const kBadMagic = /\bbad magic at byte 0: /

/** The text in the page's language if it is known, otherwise in English. Its numbers are grouped. */
export function said(english: string): Said {
  // It names addresses of scripts, and no remedy.
  if (isUnloaded(english))
    return {
      text: joined(
        t('A part of this page could not be loaded.'),
        t('Check the connection and try again. If that does not help, load the page again.'),
      ),
      lang: undefined,
    }
  // The browser's words for it do not say why.
  if (!navigator.onLine && /could not be reached/.test(english))
    return { text: t('This device is offline.'), lang: undefined }
  const { text, lang } = translated(english.replace(kBadMagic, ''))
  const isCut = english.search(kBadMagic) === 0
  return { text: groupDigits(isCut ? text.charAt(0).toUpperCase() + text.slice(1) : text), lang }
}

function translated(english: string): Said {
  const { code, loadSaid, loadErrors } = language.current
  if (code === 'en' || !loadSaid || !loadErrors) return { text: english, lang: undefined }
  // Most texts are in the smaller table.
  const files = tables.get(loadSaid)?.value
  const text = files?.translate(english) ?? (files && tables.get(loadErrors)?.value?.translate(english))
  return text === undefined ? { text: english, lang: 'en' } : { text, lang: undefined }
}

/** The message of an error in one line, in the page's language if it is the package's. To be called where it is shown. */
export const reason = (error: unknown, max: number): string => oneLine(said(errorText(error)).text, max)
