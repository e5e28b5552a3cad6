// Characters that nobody sees but a model reads.

/** Characters that are not shown, without tab and newline. */
export const kInvisible =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u
/** A joiner within one emoji, such as a family. */
export const kEmojiJoiner =
  /(?<=[\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}])\u200d(?=\p{Extended_Pictographic})/gu

const kKinds: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/[\u{e0000}-\u{e007f}]/u, 'tag characters'],
  [/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u, 'characters that change the direction of text'],
  [/[\u0000-\u001f\u007f-\u009f]/u, 'control characters'],
]

interface InvisibleText {
  /** of the first such character, in UTF-16 units */
  readonly at: number
  readonly count: number
  /** "tag characters" */
  readonly what: string
  /** the text that tag characters spell */
  readonly hidden: string
}

/** Finds characters that are not shown; undefined if there are none. */
export function findInvisible(text: string): InvisibleText | undefined {
  // As long as the text, so that places stay.
  const plain = text.replace(kEmojiJoiner, 'x')
  const at = plain.search(kInvisible)
  if (at < 0) return undefined
  const found = Array.from(plain).filter((character) => kInvisible.test(character))
  const all = found.join('')
  const hidden = found
    .map((character) => character.codePointAt(0)! - 0xe0000)
    .filter((code) => code >= 0x20 && code < 0x7f)
    .map((code) => String.fromCharCode(code))
    .join('')
  const what = kKinds.find(([pattern]) => pattern.test(all))?.[1] ?? 'characters without width'
  return { at, count: found.length, what, hidden }
}
