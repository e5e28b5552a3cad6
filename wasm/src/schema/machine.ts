// Determinizes regular expressions on demand, over classes of code points. A lookahead is an obligation: a machine of
// its own, which reads the text from there on and must match, or must not.
import { PatternError } from './errors.js'
import { sortedApart, type Range } from './gbnf.js'
import { countSteps } from './steps.js'
import { kAny, kWord, type Regex } from './regex.js'

const kMaxNfa = 100_000

/** Groups code points into classes: those that no set distinguishes have the same class. */
export class Alphabet {
  readonly classes: Range[][] = []
  readonly isWord: boolean[] = []
  readonly #starts: number[] = []
  readonly #classOf: number[] = [] // class of the interval that begins at each start

  constructor(sets: readonly (readonly Range[])[]) {
    // Each set once: texts repeat their characters.
    const all = [...new Map([kWord, ...sets].map((set) => [set.join(), set])).values()]
    const events = new Map<number, number[]>() // sets that begin or end at a code point
    const add = (at: number, i: number): void => {
      const found = events.get(at)
      if (found) found.push(i)
      else events.set(at, [i])
    }
    all.forEach((set, i) => {
      for (const [first, last] of sortedApart(set)) for (const at of [first, last + 1]) add(at, i)
    })
    events.set(0, events.get(0) ?? [])
    const inside = new Set<number>()
    const known = new Map<string, number>()
    const borders = [...events.keys()].filter((at) => at <= 0x10ffff).sort((a, b) => a - b)
    borders.forEach((first, k) => {
      for (const i of events.get(first)!) if (!inside.delete(i)) inside.add(i)
      countSteps(inside.size)
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

export function setsOf(regex: Regex, out: (readonly Range[])[]): void {
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
  /** the index of a lookahead, which begins here */
  ahead?: number
}
interface Moment {
  readonly start: boolean
  readonly end: boolean
  readonly wordBefore: boolean
  readonly wordAfter: boolean
}
/** A lookahead that is being read: its index, and the state of its machine. */
interface Obligation {
  readonly ahead: number
  readonly at: number
}
/** An NFA state, and the obligations of the way to it. */
interface Thread {
  readonly nfa: number
  readonly owed: readonly Obligation[]
}

const kAnyText: Regex = { kind: 'repeat', item: { kind: 'set', ranges: kAny }, min: 0, max: Infinity }
const keyOf = ({ nfa, owed }: Thread) => `${nfa}${owed.map(({ ahead, at }) => `.${ahead}.${at}`).join('')}`

/** Determinizes one regular expression on demand. A state is a set of threads and the kind of the last character. */
export class Machine {
  readonly #states: NfaState[] = []
  readonly #aheads: { readonly machine: Machine; readonly negated: boolean }[] = []
  readonly #final: number
  readonly #first: number
  readonly #sets: { threads: readonly Thread[]; start: boolean; word: boolean }[] = []
  readonly #ids = new Map<string, number>()
  readonly #settled: (boolean | undefined)[] = []

  /** anchored: the match begins where the machine starts; otherwise anywhere in the text. */
  constructor(
    regex: Regex,
    readonly alphabet: Alphabet,
    anchored = false,
  ) {
    this.#final = this.#state()
    const items = anchored ? [regex, kAnyText] : [kAnyText, regex, kAnyText]
    this.#first = this.#build({ kind: 'sequence', items }, this.#final)
  }

  /** The state before the first character. start: at the start of the text; word: after a character of a word. */
  begin(start = true, word = false): number {
    return this.#intern([{ nfa: this.#first, owed: [] }], start, word)
  }

  #state(): number {
    if (this.#states.length > kMaxNfa) throw new PatternError('needs too large an automaton for its strings')
    return this.#states.push({ to: [] }) - 1
  }

  /** Returns the state from which regex leads to the state `next`. */
  #build(regex: Regex, next: number): number {
    countSteps(1)
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
      default: {
        const at = this.#state()
        const state = this.#states[at]!
        state.to.push(next)
        if (regex.kind === 'set') state.classes = new Set(this.alphabet.of(regex.ranges))
        else if (regex.kind === 'ahead') {
          const machine = new Machine(regex.item, this.alphabet, true)
          state.ahead = this.#aheads.push({ machine, negated: regex.negated }) - 1
        } else state.condition = regex.kind === 'border' ? (regex.negated ? 'inside' : 'border') : regex.kind
        return at
      }
    }
  }

  #intern(threads: readonly Thread[], start: boolean, word: boolean): number {
    countSteps(threads.length)
    const key = `${threads.map(keyOf).sort().join()} ${start} ${word}`
    let id = this.#ids.get(key)
    if (id === undefined) {
      this.#ids.set(key, (id = this.#sets.length))
      this.#sets.push({ threads, start, word })
    }
    return id
  }

  /** Adds an obligation. Returns undefined if it is already broken. */
  #owing(owed: readonly Obligation[], ahead: number, at: number): readonly Obligation[] | undefined {
    const { machine, negated } = this.#aheads[ahead]!
    const settled = machine.settled(at)
    if (settled !== undefined) return settled === negated ? undefined : owed
    if (owed.some((one) => one.ahead === ahead && one.at === at)) return owed
    return [...owed, { ahead, at }].sort((a, b) => a.ahead - b.ahead || a.at - b.at)
  }

  /** The threads that follow without a character. now undefined: only those that follow whatever the place. */
  #closure(from: readonly Thread[], now?: Moment): Map<string, Thread> {
    const holds = (condition: Condition): boolean => {
      if (!now) return false
      if (condition === 'start') return now.start
      if (condition === 'end') return now.end
      return (now.wordBefore !== now.wordAfter) === (condition === 'border')
    }
    const out = new Map(from.map((thread) => [keyOf(thread), thread]))
    for (const { nfa, owed } of out.values()) {
      countSteps(4)
      const { to, classes, condition, ahead } = this.#states[nfa]!
      if (classes || (condition && !holds(condition)) || (ahead !== undefined && !now)) continue
      let all: readonly Obligation[] | undefined = owed
      if (ahead !== undefined && now)
        all = this.#owing(owed, ahead, this.#aheads[ahead]!.machine.begin(now.start, now.wordBefore))
      if (!all) continue
      for (const next of to) {
        const thread = { nfa: next, owed: all }
        const key = keyOf(thread)
        if (!out.has(key)) out.set(key, thread)
      }
    }
    return out
  }

  #stepped(owed: readonly Obligation[], letter: number): readonly Obligation[] | undefined {
    let out: readonly Obligation[] | undefined = []
    for (const { ahead, at } of owed) {
      out = this.#owing(out, ahead, this.#aheads[ahead]!.machine.step(at, letter))
      if (!out) return undefined
    }
    return out
  }

  step(id: number, letter: number): number {
    const { threads, start, word } = this.#sets[id]!
    const wordAfter = this.alphabet.isWord[letter]!
    const next = new Map<string, Thread>()
    const closure = this.#closure(threads, { start, end: false, wordBefore: word, wordAfter })
    for (const { nfa, owed } of closure.values()) {
      const { classes, to } = this.#states[nfa]!
      if (!classes?.has(letter)) continue
      const all = this.#stepped(owed, letter)
      if (!all) continue
      const thread = { nfa: to[0]!, owed: all }
      next.set(keyOf(thread), thread)
    }
    return this.#intern([...next.values()], false, wordAfter)
  }

  accepts(id: number): boolean {
    const { threads, start, word } = this.#sets[id]!
    const closure = this.#closure(threads, { start, end: true, wordBefore: word, wordAfter: false })
    const fulfilled = ({ ahead, at }: Obligation) => {
      const { machine, negated } = this.#aheads[ahead]!
      return machine.accepts(at) !== negated
    }
    return [...closure.values()].some(({ nfa, owed }) => nfa === this.#final && owed.every(fulfilled))
  }

  /** Whether every text that continues from a state matches, or none does; undefined: some do. */
  settled(id: number): boolean | undefined {
    if (!(id in this.#settled)) {
      const { threads } = this.#sets[id]!
      const done = () =>
        [...this.#closure(threads).values()].some(({ nfa, owed }) => nfa === this.#final && owed.length === 0)
      this.#settled[id] = threads.length === 0 ? false : done() ? true : undefined
    }
    return this.#settled[id]
  }
}
