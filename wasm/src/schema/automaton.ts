// Finite automata over code points: converts regular expressions to NFAs, several NFAs to one DFA, minimizes the DFA,
// and converts it to grammar rules.
import { GgufError } from '../api/errors.js'
import {
  choice,
  jsonCharacter,
  kEmpty,
  kNone,
  rule,
  sequence,
  sortedApart,
  type Expression,
  type Range,
} from './gbnf.js'
import { kAny, kWord, type Regex } from './regex.js'
import { alternativesOf } from './lookahead.js'
import type { Rules } from './rules.js'

const kMaxNfa = 100_000
const kMaxDfa = 20_000

function tooLarge(): never {
  throw new GgufError('unsupported', 'The strings of the schema need an automaton of too many states.')
}

/** Groups code points into classes: those that no set distinguishes have the same class. */
class Alphabet {
  readonly classes: Range[][] = []
  readonly isWord: boolean[] = []
  readonly #starts: number[] = []
  readonly #classOf: number[] = [] // class of the interval that begins at each start

  constructor(sets: readonly (readonly Range[])[]) {
    const all = [kWord, ...sets]
    const events = new Map<number, number[]>() // sets that begin or end at a code point
    all.forEach((set, i) => {
      for (const [first, last] of sortedApart(set))
        for (const at of [first, last + 1]) events.set(at, [...(events.get(at) ?? []), i])
    })
    events.set(0, events.get(0) ?? [])
    const inside = new Set<number>()
    const known = new Map<string, number>()
    const borders = [...events.keys()].filter((at) => at <= 0x10ffff).sort((a, b) => a - b)
    borders.forEach((first, k) => {
      for (const i of events.get(first)!) if (!inside.delete(i)) inside.add(i)
      const key = [...inside].sort((a, b) => a - b).join()
      let id = known.get(key)
      if (id === undefined) {
        known.set(key, (id = this.classes.length))
        this.classes.push([])
        this.isWord.push(inside.has(0))
      }
      this.classes[id]!.push([first, (borders[k + 1] ?? 0x110000) - 1])
      this.#starts.push(first)
      this.#classOf.push(id)
    })
  }

  of(ranges: readonly Range[]): number[] {
    const out = new Set<number>()
    for (const [first, last] of ranges) {
      let low = 0
      for (let high = this.#starts.length; high - low > 1;) {
        const middle = (low + high) >> 1
        if (this.#starts[middle]! <= first) low = middle
        else high = middle
      }
      for (; low < this.#starts.length && this.#starts[low]! <= last; low++) out.add(this.#classOf[low]!)
    }
    return [...out]
  }
}

function setsOf(regex: Regex, out: (readonly Range[])[]): void {
  if (regex.kind === 'set') out.push(regex.ranges)
  else if (regex.kind === 'repeat' || regex.kind === 'ahead') setsOf(regex.item, out)
  else if (regex.kind === 'sequence' || regex.kind === 'choice')
    regex.items.forEach((item) => setsOf(item, out))
}

type Condition = 'start' | 'end' | 'border' | 'inside'
interface NfaState {
  readonly to: number[]
  classes?: ReadonlySet<number>
  condition?: Condition
}
interface Moment {
  readonly start: boolean
  readonly end: boolean
  readonly wordBefore: boolean
  readonly wordAfter: boolean
}

/** Determinizes one regular expression on demand. A state is a set of NFA states and the kind of the last character. */
class Machine {
  readonly #states: NfaState[] = []
  readonly #final: number
  readonly #sets: { nfa: readonly number[]; start: boolean; word: boolean }[] = []
  readonly #ids = new Map<string, number>()
  readonly start: number

  /** Whether the regular expression may match anywhere in the text. */
  constructor(
    regex: Regex,
    readonly alphabet: Alphabet,
  ) {
    const any: Regex = { kind: 'repeat', item: { kind: 'set', ranges: kAny }, min: 0, max: Infinity }
    this.#final = this.#state()
    const from = this.#build({ kind: 'sequence', items: [any, regex, any] }, this.#final)
    this.start = this.#intern([from], true, false)
  }

  #state(): number {
    if (this.#states.length > kMaxNfa) tooLarge()
    return this.#states.push({ to: [] }) - 1
  }

  /** Returns the state from which regex leads to the state `next`. */
  #build(regex: Regex, next: number): number {
    switch (regex.kind) {
      case 'sequence':
        return regex.items.reduceRight((after, item) => this.#build(item, after), next)
      case 'choice': {
        const at = this.#state()
        this.#states[at]!.to.push(...regex.items.map((item) => this.#build(item, next)))
        return at
      }
      case 'repeat': {
        let at = next
        if (regex.max === Infinity) {
          at = this.#state()
          this.#states[at]!.to.push(next, this.#build(regex.item, at))
        } else {
          for (let i = regex.min; i < regex.max; i++) {
            const skip = this.#state()
            this.#states[skip]!.to.push(next, this.#build(regex.item, at))
            at = skip
          }
        }
        for (let i = 0; i < regex.min; i++) at = this.#build(regex.item, at)
        return at
      }
      case 'ahead':
        throw new GgufError('unsupported', 'A pattern looks ahead where what is before has no fixed length.')
      default: {
        const at = this.#state()
        const state = this.#states[at]!
        state.to.push(next)
        if (regex.kind === 'set') state.classes = new Set(this.alphabet.of(regex.ranges))
        else state.condition = regex.kind === 'border' ? (regex.negated ? 'inside' : 'border') : regex.kind
        return at
      }
    }
  }

  #intern(nfa: readonly number[], start: boolean, word: boolean): number {
    const key = `${nfa.join()} ${start} ${word}`
    let id = this.#ids.get(key)
    if (id === undefined) {
      this.#ids.set(key, (id = this.#sets.length))
      this.#sets.push({ nfa, start, word })
    }
    return id
  }

  #closure(from: readonly number[], now: Moment): Set<number> {
    const holds = (condition: Condition): boolean => {
      if (condition === 'start') return now.start
      if (condition === 'end') return now.end
      return (now.wordBefore !== now.wordAfter) === (condition === 'border')
    }
    const out = new Set(from)
    for (const at of out) {
      const state = this.#states[at]!
      if (state.classes || (state.condition && !holds(state.condition))) continue
      for (const to of state.to) out.add(to)
    }
    return out
  }

  step(id: number, letter: number): number {
    const { nfa, start, word } = this.#sets[id]!
    const wordAfter = this.alphabet.isWord[letter]!
    const next = new Set<number>()
    for (const at of this.#closure(nfa, { start, end: false, wordBefore: word, wordAfter }))
      if (this.#states[at]!.classes?.has(letter)) next.add(this.#states[at]!.to[0]!)
    return this.#intern(
      [...next].sort((a, b) => a - b),
      false,
      wordAfter,
    )
  }
  accepts(id: number): boolean {
    const { nfa, start, word } = this.#sets[id]!
    return this.#closure(nfa, { start, end: true, wordBefore: word, wordAfter: false }).has(this.#final)
  }
}

export interface Dfa {
  readonly classes: readonly (readonly Range[])[]
  /** the next state by state and class; state 0 is the start */
  readonly next: readonly (readonly number[])[]
  /** label of each state; '' if a text must not end there */
  readonly labels: readonly string[]
}

/** Labels strings by the patterns that they match. */
export type Label = (matches: readonly boolean[]) => string

/** Makes a DFA of strings, labelled by the patterns that they match; label returns '' for strings that are excluded. */
export function makeDfa(patterns: readonly Regex[], label: Label): Dfa {
  const alternatives = patterns.map(alternativesOf)
  const sets: (readonly Range[])[] = []
  for (const { regex } of alternatives.flat(2)) setsOf(regex, sets)
  const alphabet = new Alphabet(sets)
  const machines = alternatives.flat(2).map(({ regex }) => new Machine(regex, alphabet))
  const labelOf = (tuple: readonly number[]): string => {
    let at = 0
    return label(
      alternatives.map((several) => {
        const fits = several.map((parts) =>
          parts.map(({ negated }) => machines[at]!.accepts(tuple[at++]!) !== negated).every(Boolean),
        )
        return fits.some(Boolean)
      }),
    )
  }
  const tuples = [machines.map(({ start }) => start)]
  const ids = new Map([[tuples[0]!.join(), 0]])
  const next: number[][] = []
  const labels: string[] = []
  for (let at = 0; at < tuples.length; at++) {
    if (tuples.length > kMaxDfa) tooLarge()
    const tuple = tuples[at]!
    labels.push(labelOf(tuple))
    next.push(
      alphabet.classes.map((_, letter) => {
        const to = machines.map((machine, i) => machine.step(tuple[i]!, letter))
        const key = to.join()
        let id = ids.get(key)
        if (id === undefined) {
          ids.set(key, (id = tuples.length))
          tuples.push(to)
        }
        return id
      }),
    )
  }
  return minimized({ classes: alphabet.classes, next, labels })
}

/** Merges equivalent states by Hopcroft's algorithm. */
export function minimized({ classes, next, labels }: Dfa): Dfa {
  const group = refined(next, classes.length, numbered(labels))
  const firsts: number[] = []
  const order: number[] = [] // groups in the order of their first state, so that the start stays 0
  const renamed = new Map<number, number>()
  group.forEach((id, at) => {
    if (renamed.has(id)) return
    renamed.set(id, order.push(id) - 1)
    firsts.push(at)
  })
  return {
    classes,
    next: firsts.map((at) => next[at]!.map((to) => renamed.get(group[to]!)!)),
    labels: firsts.map((at) => labels[at]!),
  }
}

function refined(next: readonly (readonly number[])[], letters: number, group: number[]): number[] {
  const before: number[][][] = Array.from({ length: letters }, () => next.map(() => []))
  next.forEach((row, at) => row.forEach((to, letter) => before[letter]![to]!.push(at)))
  const members: number[][] = []
  group.forEach((id, at) => (members[id] ??= []).push(at))
  const open: [number, number][] = members.flatMap((_, id) =>
    before.map((__, letter): [number, number] => [id, letter]),
  )
  const waiting = new Set(open.map(([id, letter]) => id * letters + letter))
  const add = (id: number, letter: number) => {
    if (waiting.has(id * letters + letter)) return
    waiting.add(id * letters + letter)
    open.push([id, letter])
  }
  for (let item = open.pop(); item; item = open.pop()) {
    const [splitter, letter] = item
    waiting.delete(splitter * letters + letter)
    const hit = new Map<number, Set<number>>() // by group: states that the letter leads into the splitter
    for (const to of members[splitter]!)
      for (const from of before[letter]![to]!) {
        const id = group[from]!
        let set = hit.get(id)
        if (!set) hit.set(id, (set = new Set()))
        set.add(from)
      }
    for (const [id, inside] of hit) {
      const all = members[id]!
      if (inside.size === all.length) continue
      const outside = all.filter((at) => !inside.has(at))
      const [kept, moved] = inside.size <= outside.length ? [outside, [...inside]] : [[...inside], outside]
      members[id] = kept
      const made = members.push(moved) - 1
      for (const at of moved) group[at] = made
      // If the whole group is still a splitter, both parts become splitters; otherwise the smaller part is enough.
      for (let l = 0; l < letters; l++) add(made, l)
    }
  }
  return group
}
/** Numbers keys in the order of their first occurrence. */
function numbered(keys: readonly string[]): number[] {
  const ids = new Map<string, number>()
  return keys.map((key) => {
    const id = ids.get(key) ?? ids.size
    ids.set(key, id)
    return id
  })
}

/** The states from which a state with the label can be reached. */
function reaching({ next, labels }: Dfa, wanted: (label: string) => boolean): boolean[] {
  const before: number[][] = next.map(() => [])
  next.forEach((row, at) => row.forEach((to) => before[to]!.push(at)))
  const out = labels.map(wanted)
  const open = out.flatMap((good, at) => (good ? [at] : []))
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const from of before[at]!)
      if (!out[from]) {
        out[from] = true
        open.push(from)
      }
  return out
}

export function labelsOf(dfa: Dfa): string[] {
  return [...new Set(dfa.labels)].filter((label) => label !== '')
}
export function isEmptyDfa(dfa: Dfa): boolean {
  return dfa.labels.every((label) => label === '')
}

/** Writes the strings with a label as grammar rules. spell writes one character of a set. */
export function dfaToRules(
  given: Dfa,
  label: string,
  rules: Rules,
  hint: string,
  spell: (ranges: readonly Range[]) => Expression = jsonCharacter,
): Expression {
  const dfa = minimized({ ...given, labels: given.labels.map((l) => (l === label ? l : '')) })
  const alive = reaching(dfa, (l) => l !== '')
  if (!alive[0]) return kNone
  const steps = dfa.next.map((row) => {
    const byTarget = new Map<number, Range[]>()
    row.forEach((to, letter) => {
      if (alive[to]) byTarget.set(to, [...(byTarget.get(to) ?? []), ...dfa.classes[letter]!])
    })
    return [...byTarget].map(([to, ranges]) => [to, sortedApart(ranges)] as const)
  })
  const uses = dfa.next.map(() => 0)
  uses[0] = 1
  for (const row of steps) for (const [to] of row) uses[to]!++
  const sets = new Map<string, Expression>()
  const spelled = (ranges: readonly Range[]) => {
    const key = ranges.join()
    let out = sets.get(key)
    if (!out) sets.set(key, (out = rules.add('chars', spell(ranges))))
    return out
  }
  const names = new Map<number, string>()
  const body = (at: number, depth: number): Expression => {
    const loop = steps[at]!.map(([to, ranges]) => sequence(spelled(ranges), go(to, depth + 1)))
    return choice(...(dfa.labels[at] === '' ? [] : [kEmpty]), ...loop)
  }
  const open: number[] = []
  // A state with only one incoming edge is written inline, and a chain of such states as one text.
  const go = (to: number, depth: number): Expression => {
    const plain =
      uses[to] === 1 && depth < 40 && (steps[to]!.length + Number(dfa.labels[to] !== '') < 2 || depth < 12)
    if (plain && to !== 0) return body(to, depth)
    if (dfa.labels[to] !== '' && steps[to]!.length === 0) return kEmpty
    let name = names.get(to)
    if (name === undefined) {
      names.set(to, (name = rules.reserve(hint)))
      open.push(to)
    }
    return rule(name)
  }
  const start = go(0, 0)
  for (let at = open.pop(); at !== undefined; at = open.pop()) rules.define(names.get(at)!, body(at, 0), true)
  return start
}

/** The lengths in characters of the shortest and the longest string. */
export function lengthsOf(dfa: Dfa): { readonly shortest: number; readonly longest: number } {
  const alive = reaching(dfa, (label) => label !== '')
  let shortest = Infinity
  let level = new Set(alive[0] ? [0] : [])
  // A string longer than the number of states visits a state twice.
  for (let length = 0; length <= dfa.next.length; length++) {
    if (level.size === 0) return { shortest, longest: length - 1 }
    if ([...level].some((at) => dfa.labels[at] !== '')) shortest = Math.min(shortest, length)
    level = new Set([...level].flatMap((at) => dfa.next[at]!.filter((to) => alive[to])))
  }
  return { shortest, longest: Infinity }
}
