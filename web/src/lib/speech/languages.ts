import type { GgufFile } from 'ggufscope'
import { speechLanguages } from 'ggufscope/engine'
import { language } from '../language/language.svelte'

/** Codes and names of the languages that a Whisper model knows, by name; none if it knows only English. */
export function languageNames(file: GgufFile): [code: string, name: string][] {
  const tokens = Number(
    file.tensors.find(({ name }) => name === 'decoder.token_embedding.weight')?.shape[1] ?? 0,
  )
  // A multilingual vocabulary has 51865 tokens with 99 languages, and one more for each further language.
  const known = tokens < 51865 ? [] : speechLanguages.slice(0, tokens - 51865 + 99)
  const names = new Intl.DisplayNames(language.current.code, { type: 'language' })
  return known
    .map((code): [string, string] => [code, names.of(code) ?? code])
    .sort(([, a], [, b]) => (a < b ? -1 : 1))
}
