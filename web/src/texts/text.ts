// The type of the viewer's texts. The code contains them in English; they are the keys of each language's table. Only types
// are imported, so that no table is in the page.
import type de from './de/index.ts'

export type Text = keyof typeof de

/** A text without placeholders and plurals. */
export type Plain = { [T in Text]: T extends `${string}{${string}` | `${string}|${string}` ? never : T }[Text]
