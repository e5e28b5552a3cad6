// Translates the texts of the viewer. A text may have placeholders, "{name}", and the forms of a plural, separated by "|",
// in the order of Intl's categories: "{n} file|{n} files". What follows "##" distinguishes equal English texts.
import type { Text } from '../../texts/text'
import { number } from './format'
import { language } from './language.svelte'

type Names<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type Needed<T extends string> = Names<T> | (T extends `${string}|${string}` ? 'n' : never)
type Values<T extends string> = [Needed<T>] extends [never]
  ? []
  : [Readonly<Record<Needed<T>, string | number>>]

/** The form of a plural for the number n. */
function formOf(text: string, n: number): string {
  const forms = text.split('|')
  return forms[language.current.form(n)] ?? forms.at(-1) ?? ''
}

/** The text in the page's language. Numbers among the values are formatted; `n` chooses the form of a plural. */
export function t<T extends Text>(text: T, ...[values]: Values<T>): string {
  const given: Readonly<Record<string, string | number>> = values ?? {}
  let form = known(text)
  if (form.includes('|')) form = formOf(form, Number(given['n']))
  return form.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = given[name] ?? whole
    return typeof value === 'number' ? number(value, 3) : value
  })
}

/** The translation of a text that may be one of the table's, e.g. a name that the package returns. */
export const known = (text: string): string =>
  Object.hasOwn(language.texts, text) ? (language.texts[text] ?? text) : text.replace(/##\w+$/, '')
