// Converts the vocabulary of ggml's GPT-2 and GPT-J examples to GGUF's byte-level tokens and merges. The old files hold
// the bytes of each token, in the order of the merges.
import { tokenTypeId } from '../text/token-types.js'

const kNormal = tokenTypeId('normal')
const kControl = tokenTypeId('control')
const kUnused = tokenTypeId('unused')

/**
 * GPT-2 writes each byte as a visible character: the byte itself if it is one, otherwise the next one from U+0100 on.
 */
const alphabet: readonly string[] = (() => {
  const isVisible = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
  let next = 0x100
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isVisible(byte) ? byte : next++))
})()

const written = (bytes: string): string => Array.from(bytes, (char) => alphabet[char.charCodeAt(0)]).join('')

/** The two parts of a token's merge: what is left after all merges of lower ranks, the lowest first. */
function lastPair(token: string, own: number, ranks: ReadonlyMap<string, number>): string[] | undefined {
  const parts = [...token]
  while (parts.length > 2) {
    let best = own
    let at = -1
    for (let i = 0; i + 1 < parts.length; i++) {
      const rank = ranks.get(parts[i]! + parts[i + 1]!) ?? own
      if (rank < best) [best, at] = [rank, i]
    }
    if (at < 0) return undefined
    parts.splice(at, 2, parts[at]! + parts[at + 1]!)
  }
  return parts
}

export interface ByteLevelVocabulary {
  readonly tokens: string[]
  readonly types: number[]
  readonly merges: string[]
  /** id of <|endoftext|>, which is both BOS and EOS; -1: none */
  readonly end: number
}

/** size: number of rows of the embeddings, which may exceed the number of tokens. */
export function byteLevelVocabulary(words: readonly Uint8Array[], size: number): ByteLevelVocabulary {
  const texts = words.map((bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  const isControl = (text: string) => /^<\|.+\|>$/.test(text)
  const ranks = new Map(texts.map((text, id) => [text, id]))
  const merges: string[] = []
  for (const [id, text] of texts.entries()) {
    const pair = text.length > 1 && !isControl(text) ? lastPair(text, id, ranks) : undefined
    if (pair) merges.push(`${written(pair[0]!)} ${written(pair[1]!)}`)
  }
  const tokens = texts.map((text) => (isControl(text) ? text : written(text)))
  const types: number[] = texts.map((text) => (isControl(text) ? kControl : kNormal))
  for (let id = tokens.length; id < size; id++) {
    tokens.push(`[PAD${id}]`)
    types.push(kUnused)
  }
  return { tokens, types, merges, end: texts.indexOf('<|endoftext|>') }
}
