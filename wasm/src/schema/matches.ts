// Tests texts against patterns. An automaton reads each character once, where RegExp can take exponential time.
import { setsOf, Alphabet, Machine } from './machine.js'
import { parseRegex } from './regex.js'

const kMaxKept = 500
const kMaxStates = 5000

class Matcher {
  readonly #alphabet: Alphabet
  readonly #machine: Machine
  readonly #start: number
  readonly #steps = new Map<number, number[]>() // the next state by state and class

  constructor(source: string) {
    const regex = parseRegex(source)
    const sets: Parameters<typeof setsOf>[1] = []
    setsOf(regex, sets)
    this.#alphabet = new Alphabet(sets)
    this.#machine = new Machine(regex, this.#alphabet)
    this.#start = this.#machine.begin()
  }

  get isLarge(): boolean {
    return this.#steps.size > kMaxStates
  }

  test(text: string): boolean {
    let at = this.#start
    for (const char of text) {
      const code = char.codePointAt(0)!
      const letter = this.#alphabet.of([[code, code]])[0]!
      let steps = this.#steps.get(at)
      if (!steps) this.#steps.set(at, (steps = []))
      at = steps[letter] ??= this.#machine.step(at, letter)
    }
    return this.#machine.accepts(at)
  }
}

const kept = new Map<string, Matcher>()

/** Whether a pattern is found in a text. Error: PatternError for what an automaton cannot test. */
export function matches(source: string, text: string): boolean {
  let matcher = kept.get(source)
  if (!matcher || matcher.isLarge) {
    if (kept.size > kMaxKept) kept.clear()
    kept.set(source, (matcher = new Matcher(source)))
  }
  return matcher.test(text)
}
