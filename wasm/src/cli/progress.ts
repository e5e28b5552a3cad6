// The line that shows progress.
import type { LoadProgress } from '../engine/index.js'
import type { OpenProgress } from '../node.js'
import { bytesText, shorten, visible } from './format.js'

// Nothing is shown before this delay. Later updates are at least this interval apart.
const kFirstMs = 400
const kEveryMs = 100

const percent = (done: number, all: number): string => `${Math.floor((100 * done) / Math.max(1, all))} %`

/** A progress line on stderr. Does nothing if stderr is not a terminal. */
export class Progress {
  readonly #stream: NodeJS.WriteStream
  #next: number
  #shown = false

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
    this.#next = stream.isTTY ? performance.now() + kFirstMs : Infinity
  }

  show(text: () => string): void {
    const now = performance.now()
    if (now < this.#next) return
    this.#next = now + kEveryMs
    this.#shown = true
    this.#stream.write(`\r\x1b[K${shorten(visible(text()), (this.#stream.columns || 80) - 1)}`)
  }

  /** Clears the line. Called before anything else is printed. */
  clear(): void {
    if (!this.#shown) return
    this.#shown = false
    this.#stream.write('\r\x1b[K')
  }

  readonly opening = ({ loaded, shard, shardCount, retry }: OpenProgress): void =>
    this.show(() => {
      if (retry) return `${retry.reason} Trying again in ${(retry.delayMs / 1000).toFixed(1)} s`
      const part = shardCount > 1 ? `, file ${shard + 1} of ${shardCount}` : ''
      return `reading the header: ${bytesText(loaded)}${part}`
    })

  readonly loading = ({ phase, of, loaded, total }: LoadProgress): void =>
    this.show(() =>
      phase === 'weights'
        ? `loading weights${of === 'draft' ? ' of the draft model' : ''}: ${percent(loaded, total)} of ${bytesText(total)}`
        : `reading the header: ${bytesText(loaded)}`,
    )

  /** Progress of reading, in bytes, with a title. */
  readonly reading =
    (what: string) =>
    (done: number, all: number): void =>
      this.show(() => `${what}: ${percent(done, all)} of ${bytesText(all)}`)
}
