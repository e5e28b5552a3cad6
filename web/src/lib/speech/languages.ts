// Names of the languages that models of speech know.
import type { GgufFile, LazyArray } from 'ggufscope'
import { speechLanguages } from 'ggufscope/engine'
import { language } from '../language/language.svelte'

/** Codes and names of the languages that a Whisper model knows, by name; none if it knows only English. */
export function languageNames(file: GgufFile): [code: string, name: string][] {
  const tokens = Number(
    file.tensors.find(({ name }) => name === 'decoder.token_embedding.weight')?.shape[1] ?? 0,
  )
  // A multilingual vocabulary has 51865 tokens with 99 languages, and one more for each further language.
  const known = tokens < 51865 ? [] : speechLanguages.slice(0, tokens - 51865 + 99)
  return named(known)
}

const namesIn = (code: string) => new Intl.DisplayNames(code, { type: 'language' })

function named(codes: readonly string[]): [code: string, name: string][] {
  const names = namesIn(language.current.code)
  return codes
    .map((code): [string, string] => [code, names.of(code) ?? code])
    .sort(([, a], [, b]) => (a < b ? -1 : 1))
}

/** Codes and names of the languages that a model speaks, by name; none if it speaks one. */
export async function spokenLanguages(
  { metadata }: GgufFile,
  signal: AbortSignal,
): Promise<[code: string, name: string][]> {
  const tokens = metadata.get('tokenizer.ggml.tokens') as LazyArray<string> | undefined
  if (!tokens) return []
  await tokens.load({ signal })
  // Qwen3-TTS has a token for each, with its English name.
  const known = new Set([...tokens].map((token) => /^<\|codec_language_(\w+)\|>$/.exec(token)?.[1]))
  const english = namesIn('en')
  return named(speechLanguages.filter((code) => known.has(english.of(code)?.toLowerCase())))
}
