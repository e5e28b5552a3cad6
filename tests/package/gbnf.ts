// A second implementation of GBNF for tests. It parses with regular expressions, matches with sets of positions, and
// can generate random texts.
type Node =
  | { kind: 'text'; chars: number[] }
  | { kind: 'class'; ranges: [number, number][]; negated: boolean }
  | { kind: 'rule'; name: string }
  | { kind: 'sequence' | 'choice'; items: Node[] }
  | { kind: 'repeat'; item: Node; min: number; max: number }

const kToken =
  /\s+|(?<name>[\w-]+)(?<defines>\s*::=)?|"(?<text>(?:\\.|[^"\\])*)"|\[(?<class>(?:\\.|[^\]\\])*)\]|(?<mark>[()|.*+?])|\{(?<min>\d+)(?<more>,(?<max>\d*))?\}/uy

function characters(body: string): (number | '-')[] {
  const out: (number | '-')[] = []
  const named: Record<string, number> = { n: 10, r: 13, t: 9 }
  for (const [, hex, escape, plain] of body.matchAll(
    /\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8})|\\(.)|([^])/gu,
  )) {
    if (hex !== undefined) out.push(parseInt(hex.slice(1), 16))
    else if (escape !== undefined) out.push(named[escape] ?? escape.codePointAt(0)!)
    else out.push(plain === '-' ? '-' : plain!.codePointAt(0)!)
  }
  return out
}

export class Gbnf {
  readonly #rules = new Map<string, Node>()
  readonly #heights = new Map<string, number>()

  constructor(source: string) {
    for (const line of source.trim().split('\n')) {
      const [, name, body] = /^([\w-]+) ::= (.*)$/.exec(line)!
      this.#rules.set(name!, this.#parse(body!))
    }
    // The smallest depth of rules at which a rule matches a text.
    for (let changed = true; changed;) {
      changed = false
      for (const [name, node] of this.#rules) {
        const height = 1 + this.#height(node)
        if (height < (this.#heights.get(name) ?? Infinity)) {
          this.#heights.set(name, height)
          changed = true
        }
      }
    }
  }

  #parse(body: string): Node {
    const stack: Node[][][] = [[[]]]
    const last = () => stack.at(-1)!.at(-1)!
    const close = (): Node => ({
      kind: 'choice',
      items: stack.pop()!.map((items) => ({ kind: 'sequence', items })),
    })
    const wrap = (min: number, max: number) => last().push({ kind: 'repeat', item: last().pop()!, min, max })
    kToken.lastIndex = 0
    while (kToken.lastIndex < body.length) {
      const at = kToken.lastIndex
      const found = kToken.exec(body)
      if (!found) throw new Error(`no GBNF at ${at} of ${body}`)
      const { name, text, class: set, mark, min, more, max } = found.groups!
      if (name !== undefined) last().push({ kind: 'rule', name })
      else if (text !== undefined)
        last().push({ kind: 'text', chars: characters(text).map((c) => (c === '-' ? 45 : c)) })
      else if (set !== undefined) {
        const negated = set.startsWith('^')
        const chars = characters(negated ? set.slice(1) : set)
        const ranges: [number, number][] = []
        for (let i = 0; i < chars.length; i++) {
          const first = chars[i] === '-' ? 45 : (chars[i] as number)
          const to = chars[i + 2]
          if (chars[i + 1] === '-' && to !== undefined) {
            ranges.push([first, to === '-' ? 45 : to])
            i += 2
          } else ranges.push([first, first])
        }
        last().push({ kind: 'class', ranges, negated })
      } else if (mark === '(') stack.push([[]])
      else if (mark === ')') {
        const group = close()
        last().push(group)
      } else if (mark === '|') stack.at(-1)!.push([])
      else if (mark === '.') last().push({ kind: 'class', ranges: [], negated: true })
      else if (mark !== undefined) wrap(mark === '+' ? 1 : 0, mark === '?' ? 1 : Infinity)
      else if (min !== undefined)
        wrap(Number(min), more === undefined ? Number(min) : max ? Number(max) : Infinity)
    }
    return close()
  }

  accepts(text: string): boolean {
    const chars = Array.from(text, (char) => char.codePointAt(0)!)
    const known = new Map<string, Set<number>>()
    const every = (node: Node, starts: Iterable<number>): Set<number> => {
      const out = new Set<number>()
      for (const start of starts) for (const end of ends(node, start)) out.add(end)
      return out
    }
    const ends = (node: Node, at: number): Set<number> => {
      switch (node.kind) {
        case 'text':
          return node.chars.every((c, i) => chars[at + i] === c)
            ? new Set([at + node.chars.length])
            : new Set()
        case 'class': {
          const c = chars[at]
          return c !== undefined && node.ranges.some(([a, b]) => c >= a && c <= b) !== node.negated
            ? new Set([at + 1])
            : new Set()
        }
        case 'rule': {
          const key = `${node.name} ${at}`
          let found = known.get(key)
          if (!found) known.set(key, (found = ends(this.#rules.get(node.name)!, at)))
          return found
        }
        case 'sequence':
          return node.items.reduce((now, item) => every(item, now), new Set([at]))
        case 'choice':
          return new Set(node.items.flatMap((item) => [...ends(item, at)]))
        case 'repeat': {
          let now = new Set([at])
          for (let i = 0; i < node.min; i++) now = every(node.item, now)
          const out = new Set(now)
          for (let i = node.min; i < node.max && now.size > 0; i++) {
            now = new Set([...every(node.item, now)].filter((end) => !out.has(end)))
            for (const end of now) out.add(end)
          }
          return out
        }
      }
    }
    return ends({ kind: 'rule', name: 'root' }, 0).has(chars.length)
  }

  #height(node: Node): number {
    switch (node.kind) {
      case 'rule':
        return this.#heights.get(node.name) ?? Infinity
      case 'sequence':
        return Math.max(0, ...node.items.map((item) => this.#height(item)))
      case 'choice':
        return Math.min(...node.items.map((item) => this.#height(item)))
      case 'repeat':
        return node.min === 0 ? 0 : this.#height(node.item)
      default:
        return 0
    }
  }

  /** A random text of the grammar. Beyond some depth it takes the shortest alternatives, so that it ends. */
  sample(random: () => number): string {
    const pick = (n: number) => Math.floor(random() * n)
    const write = (node: Node, depth: number): string => {
      switch (node.kind) {
        case 'text':
          return String.fromCodePoint(...node.chars)
        case 'class': {
          if (!node.negated) {
            const [first, last] = node.ranges[pick(node.ranges.length)]!
            const most = last > 0xffff && first < 0xd800 ? Math.min(last, first + 300) : last
            return String.fromCodePoint(first + pick(most - first + 1))
          }
          for (;;) {
            const code = pick(4) === 0 ? 0xa0 + pick(0x2000) : 0x20 + pick(0x5f)
            if (!node.ranges.some(([a, b]) => code >= a && code <= b)) return String.fromCodePoint(code)
          }
        }
        case 'rule':
          return write(this.#rules.get(node.name)!, depth + 1)
        case 'sequence':
          return node.items.map((item) => write(item, depth)).join('')
        case 'choice': {
          const least = Math.min(...node.items.map((item) => this.#height(item)))
          const items = depth > 12 ? node.items.filter((item) => this.#height(item) === least) : node.items
          return write(items[pick(items.length)]!, depth)
        }
        case 'repeat': {
          const more = depth > 12 ? 0 : Math.min(node.max - node.min, pick(2) === 0 ? pick(3) : pick(25))
          return Array.from({ length: node.min + more }, () => write(node.item, depth)).join('')
        }
      }
    }
    return write({ kind: 'rule', name: 'root' }, 0)
  }
}
