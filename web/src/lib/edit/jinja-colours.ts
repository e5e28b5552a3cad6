// Splits a chat template into pieces for syntax colours. It follows Jinja's lexer: text, comments, and the words inside of
// {{ }} and {% %}.

export type Kind = 'text' | 'mark' | 'comment' | 'word' | 'name' | 'string' | 'number'

export interface Piece {
  readonly kind: Kind
  readonly text: string
}

const inside =
  /(?<end>[-+]?(?:%\}|\}\}))|(?<string>"(?:[^"\\]|\\[^])*"?|'(?:[^'\\]|\\[^])*'?)|(?<number>\d[\d_]*(?:\.\d+)?)|(?<name>[A-Za-z_]\w*)|[^"'\w%}+-]+|[^]/y

const words = new Set(
  (
    'and as break call continue do elif else endcall endfilter endfor endgeneration endif endmacro endset extends ' +
    'filter for from generation if import in include is loop macro not or recursive set with without ' +
    'true false none True False None'
  ).split(' '),
)

/** The pieces in order. Together they are the text. */
export function jinjaPieces(template: string): Piece[] {
  const pieces: Piece[] = []
  const add = (kind: Kind, from: number, to: number) => {
    if (to <= from) return
    const last = pieces.at(-1)
    const text = template.slice(from, to)
    if (last?.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text }
    else pieces.push({ kind, text })
  }
  const begin = /\{[{%#][-+]?/g
  let at = 0
  for (;;) {
    begin.lastIndex = at
    const found = begin.exec(template)
    if (!found) break
    add('text', at, found.index)
    at = begin.lastIndex
    if (found[0][1] === '#') {
      const close = template.indexOf('#}', at)
      const end = close < 0 ? template.length : close + 2
      add('comment', found.index, end)
      at = end
      continue
    }
    add('mark', found.index, at)
    while (at < template.length) {
      inside.lastIndex = at
      const groups = inside.exec(template)!.groups!
      const { end, string, number, name } = groups
      const kind: Kind =
        end !== undefined
          ? 'mark'
          : string !== undefined
            ? 'string'
            : number !== undefined
              ? 'number'
              : name !== undefined
                ? words.has(name)
                  ? 'word'
                  : 'name'
                : 'text'
      add(kind, at, inside.lastIndex)
      at = inside.lastIndex
      if (end !== undefined) break
    }
  }
  add('text', at, template.length)
  return pieces
}

/** The pieces of each line, without its line break. */
export function jinjaLines(template: string): Piece[][] {
  const lines: Piece[][] = [[]]
  for (const { kind, text } of jinjaPieces(template))
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) lines.push([])
      if (part) lines.at(-1)!.push({ kind, text: part })
    }
  return lines
}
