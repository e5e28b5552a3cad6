// How a token is shown: its text or its bytes.
import type { Token } from 'ggufscope'
import { oneLine } from '../language/format'
import { t } from '../language/text'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a token, or its bytes if it is a part of a character. */
export function tokenText(token: Token): string {
  try {
    return shown(strict.decode(token.bytes)) || oneLine(token.text, 60) || t('(nothing)')
  } catch {
    return [...token.bytes.subarray(0, 12)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
  }
}

/** How bytes end as UTF-8: after a character, within one, or they are none. */
function endOf(bytes: Uint8Array): 'after' | 'within' | 'none' {
  try {
    strict.decode(bytes)
    return 'after'
  } catch {
    // A decoder of its own: a part of a character stays in it.
    try {
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
      return 'within'
    } catch {
      return 'none'
    }
  }
}

/** the characters (code points) of a text; a lone surrogate counts as one */
export function characterCount(text: string): number {
  let pairs = 0
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) pairs++
  }
  return text.length - pairs
}

/** Whether there are more tokens than characters because some characters are tokens of their bytes. */
export const isInBytes = (tokens: readonly Token[], ids: number, characters: number): boolean =>
  ids > characters && tokens.some(({ bytes }) => endOf(bytes) !== 'after')

/** Neighbours in a text: those that share a character, or several that do not. */
interface TokenGroup {
  readonly tokens: Token[]
  /** what tokens that share a character are together; undefined: they share none */
  readonly text?: string
}

/** The tokens that share the character which begins with the one at `from`; undefined: it has whole characters, or none. */
function sharedFrom(tokens: readonly Token[], from: number): TokenGroup | undefined {
  let bytes = new Uint8Array()
  for (let at = from; at < tokens.length && tokens[at]!.bytes.length > 0; at++) {
    bytes = Uint8Array.from([...bytes, ...tokens[at]!.bytes])
    const end = endOf(bytes)
    if (end === 'none' || (end === 'after' && at === from)) return undefined
    if (end === 'after') return { tokens: tokens.slice(from, at + 1), text: shown(strict.decode(bytes)) }
  }
  return undefined
}

/** Puts tokens together that share a character, which is whole only in all of them. */
export function byCharacter(tokens: readonly Token[]): TokenGroup[] {
  const groups: TokenGroup[] = []
  for (let at = 0; at < tokens.length;) {
    const shared = sharedFrom(tokens, at)
    const last = groups.at(-1)
    if (shared) groups.push(shared)
    else if (last && last.text === undefined) last.tokens.push(tokens[at]!)
    else groups.push({ tokens: [tokens[at]!] })
    at += shared?.tokens.length ?? 1
  }
  return groups
}

const shown = (text: string) => oneLine(text, 60).replaceAll(' ', '·')

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
