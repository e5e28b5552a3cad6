// Reads text that arrives in parts. The readers are generators that pause when they need more text. They decide only
// when enough text has arrived, so the result does not depend on how the text was cut.

/** A generator that yields when it needs more text. */
export type Reading<T = void> = Generator<undefined, T, undefined>
export type Emit = (text: string) => void

export class Reader {
  #text = ''
  #at = 0
  /** the place to which release() may go back; the text from here on is kept */
  #held: number | undefined
  #ended = false
  #isCut = false
  #reachedEnd = false

  add(text: string): void {
    const from = this.#held ?? this.#at
    this.#text = this.#text.slice(from) + text
    this.#at -= from
    if (this.#held !== undefined) this.#held = 0
  }
  /** cut: the text would have gone on. */
  end(cut: boolean): void {
    this.#ended = true
    this.#isCut = cut
    // Half of a pair of surrogates is no character.
    if (cut) this.#text = this.#text.replace(/[\ud800-\udbff]$/, '')
  }

  /** Whether reading came to the end of the text. A call that is open there stays open: nothing may be closed. */
  get atEnd(): boolean {
    return this.#reachedEnd
  }
  /** Whether it did, and the text was cut: what would follow is not known. */
  get cut(): boolean {
    return this.#isCut && this.#reachedEnd
  }

  /** Keeps the text from here on, so that release() can go back to it. */
  hold(): void {
    this.#held = this.#at
  }
  release(isBack: boolean): void {
    if (isBack && this.#held !== undefined) {
      this.#at = this.#held
      this.#reachedEnd = false
    }
    this.#held = undefined
  }
  /** The text that has arrived and was not read. */
  get left(): string {
    return this.#text.slice(this.#at)
  }

  /**
   * Takes what until() has left: the beginning of a marker at the end of the text. If the text was cut, only a single
   * character is returned, which may as well be text.
   */
  rest(): string {
    const text = this.#text.slice(this.#at)
    this.#at = this.#text.length
    return this.#isCut && text.length > 1 ? '' : text
  }

  /** Whether n more characters follow. */
  *has(n: number): Reading<boolean> {
    while (this.#text.length - this.#at < n && !this.#ended) yield
    const holds = this.#text.length - this.#at >= n
    if (!holds) this.#reachedEnd = true
    return holds
  }
  /** The character at a distance ahead; '' at the end. */
  *peek(ahead = 0): Reading<string> {
    return (yield* this.has(ahead + 1)) ? this.#text[this.#at + ahead]! : ''
  }
  /** Takes a character; both halves of a pair of surrogates. */
  *next(): Reading<string> {
    let char = yield* this.peek()
    if (/[\ud800-\udbff]/.test(char) && /[\udc00-\udfff]/.test(yield* this.peek(1)))
      char = this.#text.slice(this.#at, this.#at + 2)
    if (this.#at === this.#text.length) return '' // end() has removed it
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
  /** Takes one of the names and an end after it: a name may have the end within it. */
  *takeName(
    names: readonly string[],
    ends: readonly string[],
  ): Reading<{ key: string; end: string } | undefined> {
    for (const key of names) for (const end of ends) if (yield* this.take(key + end)) return { key, end }
    return undefined
  }
  /** Skips white space. Returns the number of characters. */
  *space(): Reading<number> {
    let n = 0
    for (; /\s/.test(yield* this.peek()); n++) this.#at++
    return n
  }
  /**
   * Passes text on up to a marker, which is skipped. Returns undefined if the text ends first. The beginning of a
   * marker at the end of the text is not passed on: see rest().
   */
  *until(markers: readonly string[], emit: Emit): Reading<string | undefined> {
    for (;;) {
      const marker = yield* this.takeAny(markers)
      if (marker !== undefined) return marker
      if (this.atEnd) {
        const rest = this.#text.slice(this.#at)
        if (markers.some((one) => one.startsWith(rest))) return undefined
      }
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

  /** Passes a JSON value on unchanged. false: the text ended inside it. */
  *json(emit: Emit): Reading<boolean> {
    let depth = 0
    let inString = false
    const first = yield* this.peek()
    if (!'{["'.includes(first) || first === '') {
      emit(yield* this.word(/[^\s,\]}]/))
      return !this.atEnd
    }
    do {
      const char = yield* this.next()
      if (char === '') return false
      emit(char)
      if (inString) {
        if (char === '\\') emit(yield* this.next())
        else if (char === '"') inString = false
      } else if (char === '"') inString = true
      else if ('{['.includes(char)) depth++
      else if ('}]'.includes(char)) depth--
    } while (depth > 0 || inString)
    return true
  }
  /**
   * A JSON string's value; the text itself if it is not a valid JSON string. Undefined if the text ends inside it:
   * `onCut` then gets the value's beginning.
   */
  *string(onCut: Emit = () => {}): Reading<string | undefined> {
    let raw = ''
    const isWhole = yield* this.json((text) => (raw += text))
    if (isWhole) return parsedString(raw) ?? raw
    const begun = /^"(?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*/.exec(raw)
    onCut((begun && parsedString(`${begun[0]}"`)) ?? '')
    return undefined
  }
}

function parsedString(raw: string): string | undefined {
  try {
    return String(JSON.parse(raw))
  } catch {
    return undefined
  }
}
