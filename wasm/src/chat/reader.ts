// Reads text that arrives in parts. The readers are generators that pause when they need more text. They decide only
// when enough text has arrived, so the result does not depend on how the text was cut.

/** A generator that yields when it needs more text. */
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

  /** Whether n more characters follow. */
  *has(n: number): Reading<boolean> {
    while (this.#text.length - this.#at < n && !this.#ended) yield
    return this.#text.length - this.#at >= n
  }
  /** The character at a distance ahead; '' at the end. */
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
  /** Whether the text ahead matches completely. Reads more text while a match is still possible. */
  *looksLike(ahead: number, whole: RegExp, begun: RegExp): Reading<boolean> {
    let text = ''
    for (let i = ahead; ; i++) {
      const char = yield* this.peek(i)
      if (char === '') return false
      text += char
      if (whole.test(text)) return true
      if (!begun.test(text)) return false
    }
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
  /** Skips white space. Returns the number of characters. */
  *space(): Reading<number> {
    let n = 0
    for (; /\s/.test(yield* this.peek()); n++) this.#at++
    return n
  }
  /** Passes text on up to a marker, which is skipped. Returns undefined if the text ends first. */
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

  /** Passes a JSON value on unchanged. */
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
  /** A JSON string's value; the text itself if it is not a valid JSON string. */
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
