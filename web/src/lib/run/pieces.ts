// Cuts a long answer into pieces, so that an answer that grows is drawn by its last piece, and a page stays free while it draws.
import type { Marked, Token } from 'marked'

/** Characters of a piece at least, if its last block allows it. */
const kPiece = 4_000
/** Characters of one paragraph. The time to find its emphasis grows with their square. */
const kParagraph = 8_000
/** The indentation of an item 20 levels deep or more. The parser's time grows with the cube of the levels, and a page with 3,000 ends. */
const kDeepItem = /^(?:\t| {4}){20}[ \t]*(?=(?:[-*+]|\d{1,9}[.)])[ \t])/

/** The text with blank lines in paragraphs that are too long, and with lists of few levels, outside of blocks of code. */
function withBreaks(text: string): string {
  let length = 0
  let fence: string | undefined
  const lines: string[] = []
  for (let line of text.split('\n')) {
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? []
    if (mark && (fence === undefined || mark.startsWith(fence)))
      fence = fence === undefined ? mark : undefined
    if (fence === undefined) line = line.replace(kDeepItem, ' '.repeat(80))
    if (fence !== undefined || line.length + length <= kParagraph) lines.push(line)
    else
      lines.push(
        ...(length > 0 ? [''] : []),
        ...(line.match(/[^]{1,8000}/g) ?? []).flatMap((part) => [part, '']),
      )
    length =
      fence !== undefined || !line.trim() || line.length + length > kParagraph ? 0 : length + line.length
  }
  return lines.join('\n')
}

export interface Piece {
  readonly raw: string
  readonly tokens: readonly Token[]
}

/** The text's blocks in pieces. Throws a RangeError if they nest too deep. */
export function piecesOf(markdown: Marked, text: string): Piece[] {
  const pieces: { raw: string; tokens: Token[] }[] = []
  const all = markdown.lexer(text.length > kParagraph ? withBreaks(text) : text)
  for (const token of all) {
    const last = pieces.at(-1)
    if (last && last.raw.length < kPiece) {
      last.raw += token.raw
      last.tokens.push(token)
    } else pieces.push({ raw: token.raw, tokens: [token] })
  }
  return pieces
}
