// The texts of the viewer, as the code contains them. They are the keys of the other languages' tables. Only the types are
// imported, so that the lists are not in the page.
import type { Change } from './change.ts'
import type { Errors } from './errors.ts'
import type { Overview } from './overview.ts'
import type { Pictures } from './pictures.ts'
import type { Run } from './run.ts'
import type { Start } from './start.ts'

export type Text = Start | Errors | Overview | Pictures | Change | Run

/** A text without placeholders and plurals. */
export type Plain = { [T in Text]: T extends `${string}{${string}` | `${string}|${string}` ? never : T }[Text]
