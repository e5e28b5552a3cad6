// Cuts a long answer into pieces, so that an answer that grows is drawn by its last piece, and a page stays free while it draws.
import { Lexer, type Marked, type Token } from 'marked'

/** Characters of a piece at least, if its last block and its marks allow it. */
const kPiece = 4_000
/** Characters of one paragraph. */
const kParagraph = 8_000
/** The indentation of an item 20 levels deep or more. The parser's time grows with the cube of the levels, and a page with 3,000 ends. */
const kDeepItem = /^(?:\t| {4}){20}[ \t]*(?=(?:[-*+]|\d{1,9}[.)])[ \t])/

/** Marks of one paragraph that may open something: each is compared with what follows it, up to the paragraph's end. */
const kMarks = 300
const kMark = /[*_~`$<[\\]/g
/** A line whose text is not parsed together with that of the line before. */
const kOwnLine = /^\s*(?:[-*+]|\d{1,9}[.)]|#{1,6}|\||>)(?:\s|$)/

/** The line in parts that a paragraph has room for. They end at a space, if one is near. */
function partsOf(line: string): string[] {
  const parts: string[] = []
  let [from, marks] = [0, 0]
  const cut = (to: number) => {
    const space = line.lastIndexOf(' ', to) + 1
    const end = space > from && to - space < 80 ? space : to
    parts.push(line.slice(from, end))
    from = end
    marks = line.slice(end, to + 1).match(kMark)?.length ?? 0
  }
  for (const { index } of line.matchAll(kMark)) {
    while (index - from >= kParagraph) cut(from + kParagraph)
    if (++marks > kMarks) cut(index)
  }
  while (line.length - from > kParagraph) cut(from + kParagraph)
  parts.push(line.slice(from))
  return parts
}

/** The text with blank lines in paragraphs that are too long, and with lists of few levels, outside of blocks of code. */
function withBreaks(text: string): string {
  let [length, marks] = [0, 0]
  let fence: string | undefined
  const lines: string[] = []
  for (let line of text.split('\n')) {
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? []
    if (mark && (fence === undefined || mark.startsWith(fence)))
      fence = fence === undefined ? mark : undefined
    if (fence !== undefined) {
      lines.push(line)
      length = marks = 0
      continue
    }
    line = line.replace(kDeepItem, ' '.repeat(80))
    if (!line.trim() || kOwnLine.test(line)) length = marks = 0
    const own = line.match(kMark)?.length ?? 0
    const fits = length + line.length <= kParagraph && marks + own <= kMarks
    lines.push(
      ...(fits || length === 0 ? [] : ['']),
      ...(fits ? [line] : partsOf(line).flatMap((part) => [part, ''])),
    )
    length = fits ? length + line.length : 0
    marks = fits ? marks + own : 0
  }
  return lines.join('\n')
}

export interface Piece {
  readonly raw: string
  /** Its blocks. What is within their lines is parsed when they are first asked for. */
  tokens(): Token[]
}

/** The text's blocks in pieces. Throws a RangeError if they nest too deep. */
export function piecesOf(markdown: Marked, text: string): Piece[] {
  const lexer = new Lexer(markdown.defaults)
  const all = lexer.blockTokens((text.length > kParagraph ? withBreaks(text) : text).replace(/\r\n?/g, '\n'))
  const unparsed = new Map(lexer.inlineQueue.map(({ src, tokens }) => [tokens as unknown, { src, tokens }]))
  lexer.inlineQueue = []
  function parse(list: unknown): void {
    if (!Array.isArray(list)) return
    const line = unparsed.get(list)
    if (!line)
      return list.forEach((one: unknown) =>
        Array.isArray(one) ? parse(one) : Object.values(one ?? {}).forEach(parse),
      )
    // What was too deep is not parsed in part.
    line.tokens.length = 0
    lexer.inlineTokens(line.src, line.tokens)
    unparsed.delete(list)
  }
  const pieces: { raw: string; marks: number; blocks: Token[] }[] = []
  for (const token of all) {
    const last = pieces.at(-1)
    const marks = token.raw.match(kMark)?.length ?? 0
    if (last && last.raw.length < kPiece && last.marks + marks <= kMarks) {
      last.raw += token.raw
      last.marks += marks
      last.blocks.push(token)
    } else pieces.push({ raw: token.raw, marks, blocks: [token] })
  }
  return pieces.map(({ raw, blocks }) => ({
    raw,
    tokens() {
      parse(blocks)
      return blocks
    },
  }))
}
