// Collects the rules of a grammar, names them, and removes rules that match no finite text.
import { choice, isNone, print, repeat, rule, sequence, type Expression } from './gbnf.js'
import { countSteps } from './steps.js'

// Texts and sets of characters, and the names of rules.
const kWords = /"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|[a-zA-Z][a-zA-Z0-9-]*/g

/** Whether some finite text matches. known: whether one matches a rule. */
function ends(e: Expression, known: (name: string) => boolean): boolean {
  countSteps(1)
  switch (e.kind) {
    case 'rule':
      return known(e.name)
    case 'sequence':
      return e.items.every((item) => ends(item, known))
    case 'choice':
      return e.items.some((item) => ends(item, known))
    case 'repeat':
      return e.min === 0 || ends(e.item, known)
    default:
      return true
  }
}

export class Rules {
  readonly #bodies = new Map<string, Expression>()
  readonly #raw = new Map<string, string>()
  readonly #named = new Map<string, string>() // names by body
  readonly #ending = new Set<string>()
  readonly #counts = new Map<string, number>() // number of names by prefix
  readonly #open = new Set<string>() // reserved, and not defined yet
  readonly #seconds = new Map<string, () => Expression>()

  constructor(readonly common: Readonly<Record<string, string>>) {}

  /** Adds one of the common rules, and the rules that it uses. */
  use(name: string): Expression {
    if (!this.#raw.has(name)) {
      const body = this.common[name]!
      this.#raw.set(name, body)
      for (const [used] of body.replaceAll(/"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]/g, '').matchAll(/[a-z]+/g))
        this.use(used)
    }
    return rule(name)
  }

  /** Adds all rules of another grammar, and returns its root. Their names end in the suffix. */
  include(grammar: string, suffix: string): Expression {
    for (const line of grammar.trimEnd().split('\n')) {
      const renamed = line.replaceAll(kWords, (word) => (/^[a-z]/i.test(word) ? `${word}-${suffix}` : word))
      const [name, body] = renamed.split(' ::= ', 2) as [string, string]
      this.#raw.set(name, body)
    }
    return rule(`root-${suffix}`)
  }

  /** Returns an unused name. define() sets its body. */
  reserve(hint: string): string {
    // A name that ends in a number could equal another name with its count.
    const base = hint
      .replaceAll(/[^a-zA-Z0-9]+/g, '-')
      .slice(0, 40)
      .replace(/-\d+$/, '-x')
    const n = (this.#counts.get(base) ?? 0) + 1
    this.#counts.set(base, n)
    const name = `${base}-${n}`
    this.#bodies.set(name, sequence())
    this.#open.add(name)
    return name
  }
  /** Sets the body of a rule. known: whether it is already known that some finite text matches the body. */
  define(name: string, body: Expression, known = false): Expression {
    this.#bodies.set(name, body)
    this.#open.delete(name)
    if (known) this.#ending.add(name)
    return rule(name)
  }

  /** Returns a rule for a body; equal bodies share one rule. Short bodies are returned inline. */
  add(hint: string, body: Expression, shortest = 24): Expression {
    const printed = print(body)
    if (printed.length < shortest) return body
    const known = this.#named.get(printed)
    if (known !== undefined) return rule(known)
    const name = this.reserve(hint)
    this.#named.set(printed, name)
    return this.define(name, body)
  }

  /** Returns the first expression, or the second if no finite text matches the first. */
  prefer(hint: string, first: Expression, second: () => Expression): Expression {
    if (isNone(first)) return second()
    if (this.#surelyEnds(first)) return first
    // Whether a recursive rule ends is known when all rules are.
    const name = this.reserve(hint)
    this.#seconds.set(name, second)
    return this.define(name, first)
  }

  /** Whether the rules defined so far show that some finite text matches. */
  #surelyEnds(e: Expression): boolean {
    const seen = new Set<string>()
    const known = (name: string): boolean => {
      if (this.#raw.has(name) || this.#ending.has(name)) return true
      if (seen.has(name) || this.#open.has(name)) return false
      seen.add(name)
      const good = ends(this.#bodies.get(name)!, known)
      if (good) this.#ending.add(name)
      return good
    }
    return ends(e, known)
  }

  /** The rules that match some finite text. Those that do not get their second body, if they have one. */
  #productive(): Set<string> {
    const good = new Set([...this.#raw.keys(), ...this.#ending])
    for (;;) {
      for (let before = -1; before !== good.size;) {
        before = good.size
        for (const [name, body] of this.#bodies)
          if (!good.has(name) && ends(body, (used) => good.has(used))) good.add(name)
      }
      const next = [...this.#seconds].find(([name]) => !good.has(name))
      if (!next) return good
      const [name, second] = next
      this.#seconds.delete(name)
      this.#bodies.set(name, second())
      for (const used of this.#raw.keys()) good.add(used)
      for (const used of this.#ending) good.add(used)
    }
  }

  /** The grammar's text; undefined if no text matches root. */
  print(root: Expression): string | undefined {
    const good = this.#productive()
    const pruned = (e: Expression): Expression => {
      switch (e.kind) {
        case 'rule':
          return good.has(e.name) ? e : choice()
        case 'sequence':
          return sequence(...e.items.map(pruned))
        case 'choice':
          return choice(...e.items.map(pruned))
        case 'repeat':
          return repeat(pruned(e.item), e.min, e.max)
        default:
          return e
      }
    }
    const start = pruned(root)
    if (isNone(start)) return undefined
    const lines = new Map<string, string>([['root', print(start)]])
    const open = [start]
    const reach = (e: Expression) => {
      if (e.kind === 'sequence' || e.kind === 'choice') e.items.forEach(reach)
      else if (e.kind === 'repeat') reach(e.item)
      else if (e.kind === 'rule' && !lines.has(e.name) && this.#bodies.has(e.name)) {
        const body = pruned(this.#bodies.get(e.name)!)
        lines.set(e.name, print(body))
        open.push(body)
      }
    }
    while (open.length > 0) reach(open.pop()!)
    const own = [...lines].map(([name, body]) => `${name} ::= ${body}\n`)
    return [...own, ...[...this.#raw].map(([name, body]) => `${name} ::= ${body}\n`)].join('')
  }
}
