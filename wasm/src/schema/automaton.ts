// Finite automata over code points: makes one DFA of several regular expressions, minimizes it, and converts it to
// grammar rules.
import { PatternError } from './errors.js'
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
import { Alphabet, Machine, setsOf } from './machine.js'
import { countSteps } from './steps.js'
import type { Regex } from './regex.js'
import type { Rules } from './rules.js'

const kMaxDfa = 20_000

export interface Dfa {
  readonly classes: readonly (readonly Range[])[]
  /** the next state by state and class; state 0 is the start */
  readonly next: readonly (readonly number[])[]
  /** label of each state; '' if a text must not end there */
  readonly labels: readonly string[]
}

/** Labels strings by the patterns that they match. */
export type Label = (matches: readonly boolean[]) => string

/**
 * Makes a DFA of strings, labelled by the patterns that they match; label returns '' for strings that are excluded.
 * hopeless: whether the known results, undefined for open ones, exclude every string that continues.
 */
export function makeDfa(
  patterns: readonly Regex[],
  label: Label,
  hopeless?: (settled: readonly (boolean | undefined)[]) => boolean,
): Dfa {
  const sets: (readonly Range[])[] = []
  for (const regex of patterns) setsOf(regex, sets)
  const alphabet = new Alphabet(sets)
  const machines = patterns.map((regex) => new Machine(regex, alphabet))
  const dead = machines.map(() => -1)
  const isDead = (tuple: readonly number[]) => tuple[0] === -1
  const pruned = (tuple: readonly number[]) =>
    hopeless?.(tuple.map((at, i) => machines[i]!.settled(at))) ? dead : tuple
  const tuples = [pruned(machines.map((machine) => machine.begin()))]
  const ids = new Map([[tuples[0]!.join(), 0]])
  const next: number[][] = []
  const labels: string[] = []
  for (let at = 0; at < tuples.length; at++) {
    if (tuples.length > kMaxDfa)
      throw new PatternError('needs an automaton of too many states for its strings')
    const tuple = tuples[at]!
    labels.push(isDead(tuple) ? '' : label(machines.map((machine, i) => machine.accepts(tuple[i]!))))
    next.push(
      alphabet.classes.map((_, letter) => {
        countSteps(1 + 2 * machines.length)
        const to = isDead(tuple)
          ? dead
          : pruned(machines.map((machine, i) => machine.step(tuple[i]!, letter)))
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
    countSteps(1 + members[splitter]!.length)
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
      countSteps(all.length + letters)
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
    countSteps(level.size)
    if (level.size === 0) return { shortest, longest: length - 1 }
    if ([...level].some((at) => dfa.labels[at] !== '')) shortest = Math.min(shortest, length)
    level = new Set([...level].flatMap((at) => dfa.next[at]!.filter((to) => alive[to])))
  }
  return { shortest, longest: Infinity }
}
