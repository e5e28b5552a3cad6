// Makes a reply's deltas in OpenAI's format.
import type { Emit } from './reader.js'
import type { ReplyDelta } from './types.js'

/** Collects deltas. White space after content or reasoning is held back until more text follows it. */
export class Output {
  #deltas: ReplyDelta[] = []
  #held = ''
  #shown = false
  /** whether only content was written so far; leading white space is then kept */
  #fresh = true
  #last: 'content' | 'reasoning_content' = 'content'
  #index = -1
  /** a call without any text of its arguments so far */
  #begun: { readonly id: string; readonly name: string } | undefined

  constructor(readonly newId: () => string) {}

  /** Whether the reply has a call. */
  get hasCalls(): boolean {
    return this.#index >= 0 || this.#begun !== undefined
  }

  take(): ReplyDelta[] {
    const out = this.#deltas
    this.#deltas = []
    return out
  }

  readonly content: Emit = (text) => this.#text('content', text)
  readonly reasoning: Emit = (text) => this.#text('reasoning_content', text)
  /** Ends a part, and drops the white space at its end. */
  part(): void {
    this.#held = ''
    this.#shown = this.#fresh = false
  }
  /** Ends the reply. White space at the end of plain content is kept. */
  finish(cut: boolean): void {
    this.endCall(cut)
    if (this.#last === 'content' && this.#index < 0) this.#append('content', this.#held)
    this.#held = ''
  }

  #text(name: 'content' | 'reasoning_content', text: string): void {
    this.#last = name
    for (const char of text)
      if (/\s/.test(char)) {
        if (this.#shown || (name === 'content' && this.#fresh)) this.#held += char
      } else {
        this.#append(name, this.#held + char)
        this.#held = ''
        this.#shown = true
      }
  }
  #append(name: 'content' | 'reasoning_content', text: string): void {
    if (text === '') return
    const last = this.#deltas.at(-1)
    if (last && last[name] !== undefined) last[name] += text
    else this.#deltas.push({ [name]: text })
  }

  /** Begins a call. Its first delta follows with the first text of its arguments. */
  call(name: string, id?: string): void {
    this.part()
    this.endCall(false)
    this.#begun = { name, id: id || this.newId() }
  }
  readonly arguments: Emit = (text) => {
    if (this.#begun) text = text.trimStart()
    if (text === '') return
    if (this.#begun) {
      const { id, name } = this.#begun
      this.#begun = undefined
      const called = { name, arguments: text }
      this.#deltas.push({ tool_calls: [{ index: ++this.#index, id, type: 'function', function: called }] })
      return
    }
    const last = this.#deltas.at(-1)?.tool_calls?.[0]
    if (last) last.function.arguments = (last.function.arguments ?? '') + text
    else this.#deltas.push({ tool_calls: [{ index: this.#index, function: { arguments: text } }] })
  }
  /** Ends a call. One without arguments gets an empty object; if the text was cut there, it is left out. */
  endCall(cut: boolean): void {
    if (this.#begun && !cut) this.arguments('{}')
    this.#begun = undefined
  }
}
