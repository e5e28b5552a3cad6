// Makes a reply's deltas in OpenAI's format.
import type { Emit } from './reader.js'
import type { ReplyDelta } from './types.js'

/** Collects deltas. White space after content or reasoning is held back until more text follows it. */
export class Output {
  #deltas: ReplyDelta[] = []
  #held = ''
  #begun = false
  /** whether only content was written so far; leading white space is then kept */
  #fresh = true
  #last: 'content' | 'reasoning_content' = 'content'
  #index = -1
  #arguments = false

  constructor(readonly newId: () => string) {}

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
    this.#begun = this.#fresh = false
  }
  /** Ends the reply. White space at the end of plain content is kept. */
  finish(): void {
    this.endCall()
    if (this.#last === 'content' && this.#index < 0) this.#append('content', this.#held)
    this.#held = ''
  }

  #text(name: 'content' | 'reasoning_content', text: string): void {
    this.#last = name
    for (const char of text)
      if (/\s/.test(char)) {
        if (this.#begun || (name === 'content' && this.#fresh)) this.#held += char
      } else {
        this.#append(name, this.#held + char)
        this.#held = ''
        this.#begun = true
      }
  }
  #append(name: 'content' | 'reasoning_content', text: string): void {
    if (text === '') return
    const last = this.#deltas.at(-1)
    if (last && last[name] !== undefined) last[name] += text
    else this.#deltas.push({ [name]: text })
  }

  call(name: string, id?: string): void {
    this.part()
    this.endCall()
    this.#index++
    this.#arguments = false
    this.#deltas.push({
      tool_calls: [
        { index: this.#index, id: id || this.newId(), type: 'function', function: { name, arguments: '' } },
      ],
    })
  }
  readonly arguments: Emit = (text) => {
    if (text === '') return
    this.#arguments = true
    const last = this.#deltas.at(-1)?.tool_calls?.[0]
    if (last) last.function.arguments = (last.function.arguments ?? '') + text
    else this.#deltas.push({ tool_calls: [{ index: this.#index, function: { arguments: text } }] })
  }
  /** Ends a call. A call without arguments gets an empty object. */
  endCall(): void {
    if (this.#index >= 0 && !this.#arguments) this.arguments('{}')
    this.#arguments = true
  }
}
