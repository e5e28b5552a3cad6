// Counts the tokens of a long text or of a file, piece by piece, so that the page stays free.
import type { TextPieces, Tokenizer } from 'ggufscope'
import { errorText } from '../language/error-text'

export interface Counted {
  name: string
  /** bytes of a file, UTF-16 code units of a text */
  size: number
  tokens: number
}

export class Counter {
  progress = $state.raw<Counted & { read: number }>()
  result = $state.raw<Counted>()
  failure = $state('')
  private control: AbortController | undefined

  /** Counts anew. `size` is in the unit of what `pieces` gives: bytes, or UTF-16 code units. */
  async count(
    tokenizer: Tokenizer,
    what: { name: string; size: number; pieces: TextPieces },
    options: { special: boolean; bos: boolean },
  ) {
    this.cancel()
    const control = (this.control = new AbortController())
    const { name, size, pieces } = what
    this.result = undefined
    this.progress = { name, size, read: 0, tokens: 0 }
    let shownAt = 0
    try {
      const tokens = await tokenizer.countStream(pieces, {
        ...options,
        signal: control.signal,
        onProgress: ({ read, tokens }) => {
          if (performance.now() - shownAt < 100) return
          shownAt = performance.now()
          this.progress = { name, size, read, tokens }
        },
      })
      this.result = { name, size, tokens }
    } catch (error) {
      if (!control.signal.aborted) this.failure = errorText(error)
    }
    if (this.control === control) this.progress = this.control = undefined
  }

  cancel() {
    this.control?.abort()
    this.progress = this.control = undefined
    this.failure = ''
  }
}

/** A long text in pieces, so that its progress can be shown. */
export function* piecesOf(text: string): Generator<string> {
  const length = 65_536
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length)
}
