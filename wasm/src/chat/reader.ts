// Text that arrives in parts, read by generators that stop where they need more. Nothing is decided before it is certain,
// so how the text is cut changes nothing.

/** Runs until it needs more text than there is. */
export type Reading<T = void> = Generator<undefined, T, undefined>
export type Emit = (text: string) => void

export class Reader {
  #text = ''
  #at = 0
  #ended = false

  add(text: string): void {
    this.#text = this.#text.slice(this.#at) + text
    this.#at = 0
  }
  end(): void {
    this.#ended = true
  }

  /** Whether n more characters are there. */
  *has(n: number): Reading<boolean> {
    while (this.#text.length - this.#at < n && !this.#ended) yield
    return this.#text.length - this.#at >= n
  }
  /** A character ahead; '' at the end. */
  *peek(ahead = 0): Reading<string> {
    return (yield* this.has(ahead + 1)) ? this.#text[this.#at + ahead]! : ''
  }
  *next(): Reading<string> {
    const char = yield* this.peek()
    this.#at += char.length
    return char
  }
  *startsWith(marker: string, ahead = 0): Reading<boolean> {
    for (let i = 0; i < marker.length; i++) if ((yield* this.peek(ahead + i)) !== marker[i]) return false
    return true
  }
  *take(marker: string): Reading<boolean> {
    if (marker === '' || !(yield* this.startsWith(marker))) return false
    this.#at += marker.length
    return true
  }
  *takeAny(markers: readonly string[]): Reading<string | undefined> {
    for (const marker of markers) if (yield* this.take(marker)) return marker
    return undefined
  }
  /** Passes white space; how many characters. */
  *space(): Reading<number> {
    let n = 0
    for (; /\s/.test(yield* this.peek()); n++) this.#at++
    return n
  }
  /** Gives text on until a marker, which is passed; undefined where the text ends first. */
  *until(markers: readonly string[], emit: Emit): Reading<string | undefined> {
    for (;;) {
      const found = yield* this.takeAny(markers)
      if (found !== undefined) return found
      const char = yield* this.next()
      if (char === '') return undefined
      emit(char)
    }
  }
  *word(pattern: RegExp): Reading<string> {
    let out = ''
    for (let char = yield* this.peek(); char !== '' && pattern.test(char); char = yield* this.peek())
      out += yield* this.next()
    return out
  }

  /** Gives a JSON value on as it stands. */
  *json(emit: Emit): Reading {
    let depth = 0
    let inString = false
    const first = yield* this.peek()
    if (!'{["'.includes(first) || first === '') {
      emit(yield* this.word(/[^\s,\]}]/))
      return
    }
    do {
      const char = yield* this.next()
      if (char === '') return
      emit(char)
      if (inString) {
        if (char === '\\') emit(yield* this.next())
        else if (char === '"') inString = false
      } else if (char === '"') inString = true
      else if ('{['.includes(char)) depth++
      else if ('}]'.includes(char)) depth--
    } while (depth > 0 || inString)
  }
  /** A JSON string's value; what is broken as it stands. */
  *string(): Reading<string> {
    let raw = ''
    yield* this.json((text) => (raw += text))
    try {
      return String(JSON.parse(raw))
    } catch {
      return raw
    }
  }
}
