// Takes a chat template apart: text, code, the strings of code, and the conditions under which each of them is used.

interface TemplatePart {
  readonly kind: 'text' | 'output' | 'statement' | 'comment'
  /** without the marks */
  readonly text: string
  /** of its first character, in UTF-16 units */
  readonly at: number
}

/** A text that the template may write: between its tags, or a string within one. */
export interface Literal {
  readonly text: string
  readonly at: number
  /** the conditions around it, from outside to inside; after an else, that of its if */
  readonly conditions: readonly Condition[]
}

export interface Condition {
  readonly code: string
  /** of its tag */
  readonly at: number
}

const kString = /'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*"/y
const kTags = { '{{': ['output', '}}'], '{%': ['statement', '%}'], '{#': ['comment', '#}'] } as const

/** Where a tag's code ends. Its strings may contain the mark. */
function endOf(source: string, from: number, mark: string): number {
  for (let at = from; at < source.length; at++) {
    if (source.startsWith(mark, at)) return at
    if (mark === '#}' || (source[at] !== "'" && source[at] !== '"')) continue
    kString.lastIndex = at
    if (kString.test(source)) at = kString.lastIndex - 1
  }
  return source.length
}

export function partsOf(source: string): TemplatePart[] {
  const parts: TemplatePart[] = []
  const text = (from: number, to: number): void => {
    if (to > from) parts.push({ kind: 'text', text: source.slice(from, to), at: from })
  }
  let at = 0
  for (;;) {
    const offset = source.slice(at).search(/\{[{%#]/)
    if (offset < 0) break
    const start = at + offset
    text(at, start)
    const [kind, mark] = kTags[source.slice(start, start + 2) as keyof typeof kTags]
    const end = endOf(source, start + 2, mark)
    const inner = source.slice(start + 2, end)
    parts.push({ kind, text: inner, at: start + 2 })
    at = end + 2
    if (kind !== 'statement' || !/^[-+]?\s*raw\b/.test(inner)) continue
    const closing = source.slice(at).search(/\{%[-+]?\s*endraw\b/)
    const rawEnd = closing < 0 ? source.length : at + closing
    text(at, rawEnd)
    at = rawEnd
  }
  text(at, source.length)
  return parts
}

const kEscapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

function unescaped(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|([^]))/gi, (_, x: string, u: string, one: string) =>
    x || u ? String.fromCharCode(parseInt(x || u, 16)) : (kEscapes[one] ?? one),
  )
}

/** The strings of a tag's code. */
export function stringsOf({ text, at }: TemplatePart): { text: string; at: number; raw: string }[] {
  return [...text.matchAll(new RegExp(kString.source, 'g'))].map((match) => ({
    raw: match[0],
    text: unescaped(match[0].slice(1, -1)),
    at: at + match.index + 1,
  }))
}

/** The condition of a tag: of if and elif, of a loop, or an inline one. */
function conditionOf({ kind, text }: TemplatePart): string | undefined {
  if (kind !== 'output' && kind !== 'statement') return undefined
  const [, word, rest] = /^[-+]?\s*(?:(if|elif)\b)?([^]*?)[-+]?$/.exec(text) ?? []
  if (word !== undefined) return rest!.trim()
  return /\bif\b([^]*?)(?:\belse\b[^]*)?$/.exec(rest ?? '')?.[1]?.trim()
}

/** The conditions of a template, and all texts that it may write. Strings of conditions are not among them. */
export function literalsOf(source: string): { conditions: Condition[]; literals: Literal[] } {
  const literals: Literal[] = []
  const all: Condition[] = []
  // The condition of each open block; undefined for blocks without one.
  const open: (Condition | undefined)[] = []
  for (const part of partsOf(source)) {
    const around = open.filter((one) => one !== undefined)
    if (part.kind === 'text') literals.push({ text: part.text, at: part.at, conditions: around })
    const code = conditionOf(part)
    const condition = code === undefined ? undefined : { code, at: part.at }
    if (condition) all.push(condition)
    const word = part.kind === 'statement' ? (/^[-+]?\s*(\w+)/.exec(part.text)?.[1] ?? '') : ''
    const isBlock = /^(?:if|elif|for)$/.test(word)
    // What raise_exception() says is no part of a prompt.
    if (!isBlock && (part.kind === 'output' || part.kind === 'statement') && !/\braise\w*\(/.test(part.text))
      for (const { raw, text, at } of stringsOf(part))
        if (!condition?.code.includes(raw))
          literals.push({ text, at, conditions: condition ? [...around, condition] : around })
    if (part.kind !== 'statement') continue
    if (word.startsWith('end')) open.pop()
    else if (word === 'elif') open[open.length - 1] = condition
    else if (/^(?:if|for|macro|call|filter|generation|block)$/.test(word)) open.push(condition)
    else if (word === 'set' && !/^[^=]*=[^=]/.test(part.text)) open.push(undefined)
  }
  return { conditions: all, literals }
}

/** The line of a place, which counts from 1. */
export const lineOf = (source: string, at: number): number => source.slice(0, at).split('\n').length
