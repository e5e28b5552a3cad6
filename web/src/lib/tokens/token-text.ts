import type { Token } from 'ggufscope'
import { oneLine } from '../language/format'
import { t } from '../language/text'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a token, or its bytes if it is a part of a character. */
export function tokenText(token: Token): string {
  try {
    return (
      oneLine(strict.decode(token.bytes), 60).replaceAll(' ', '·') ||
      oneLine(token.text, 60) ||
      t('(nothing)')
    )
  } catch {
    return [...token.bytes.subarray(0, 12)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
  }
}

/** Parses ids in any notation: "1 2,3", "[1, 2]". Throws an Error that names the part which is not an id. */
export function parseIds(text: string, size: number): number[] {
  const words = text.split(/[\s,;[\]]+/).filter(Boolean)
  return words.map((word) => {
    const id = Number(word)
    if (!Number.isInteger(id) || id < 0 || id >= size)
      throw new Error(
        t('{word} is no token id: they go from 0 to {last}.', {
          word: oneLine(word, 40),
          last: String(size - 1),
        }),
      )
    return id
  })
}
