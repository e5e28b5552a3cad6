// What is a machine's own affair is tried while tokens are generated, two choices at a time and in turns, as a machine's
// speed changes by itself: how many groups of weights one token reads side by side (kReaders of core/nn/packed.hpp), and
// how much of its share a thread takes at once (kFirstEighths of core/nn/pool.hpp). Results are the same whichever it is.
/** Until then engines still optimize what is called. */
const kWarmMs = 300
const kWarmPasses = 8
const kPasses = 6
/** The first choice is left for no less: a small difference is noise. */
const kGain = 0.98

/** The mean of the faster half: what is slower was disturbed. */
function fastHalf(times: readonly number[]): number {
  const half = [...times].sort((a, b) => a - b).slice(0, Math.ceil(times.length / 2))
  return half.reduce((sum, time) => sum + time, 0) / half.length
}

/** Between a first choice (0) and a second one (1). */
export type Use = (choice: number) => void

export class Trial {
  readonly #uses: Use[]
  #times: [number[], number[]] = [[], []]
  #passes = 0
  #warmMsLeft = kWarmMs
  #warmPassesLeft = 2 * kWarmPasses

  /** uses: what the next tokens are computed with, one to be settled after the other. */
  constructor(...uses: Use[]) {
    this.#uses = uses
  }

  get settled(): boolean {
    return this.#uses.length === 0
  }

  /** One token took so long. */
  took(ms: number): void {
    const use = this.#uses[0]
    if (!use) return
    const [first, second] = this.#times
    const times = this.#passes++ % 2 === 0 ? first : second
    this.#warmMsLeft -= ms
    this.#warmPassesLeft--
    if (this.#warmMsLeft <= 0 && this.#warmPassesLeft < 0) times.push(ms)
    if (second.length < kPasses) return use(this.#passes % 2)
    use(fastHalf(second) < kGain * fastHalf(first) ? 1 : 0)
    this.#uses.shift()
    this.#times = [[], []]
    this.#passes = 0
  }
}
