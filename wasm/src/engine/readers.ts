// How many groups of weights one token reads side by side is a machine's own affair: the two choices (kReaders of
// core/nn/packed.hpp) are tried while tokens are generated, in turns, as a machine's speed changes by itself. Results are
// the same whichever it is.
/** Until then engines still optimize what is called. */
const kWarmMs = 300
const kWarmPasses = 8
const kPasses = 8
/** The first choice is left for no less: a small difference is noise. */
const kGain = 0.98

/** The mean of the faster half: what is slower was disturbed. */
function fastHalf(times: readonly number[]): number {
  const half = [...times].sort((a, b) => a - b).slice(0, Math.ceil(times.length / 2))
  return half.reduce((sum, time) => sum + time, 0) / half.length
}

export class ReaderTrial {
  readonly #use: (choice: number) => void
  readonly #times: readonly [number[], number[]] = [[], []]
  #passes = 0
  #warmMsLeft = kWarmMs
  #settled = false

  /** use: what the next tokens are computed with. */
  constructor(use: (choice: number) => void) {
    this.#use = use
  }

  get settled(): boolean {
    return this.#settled
  }

  /** One token took so long. */
  took(ms: number): void {
    if (this.#settled) return
    const [first, second] = this.#times
    const times = this.#passes++ % 2 === 0 ? first : second
    this.#warmMsLeft -= ms
    if (this.#warmMsLeft <= 0 && this.#passes > 2 * kWarmPasses) times.push(ms)
    if (second.length < kPasses) return this.#use(this.#passes % 2)
    this.#settled = true
    this.#use(fastHalf(second) < kGain * fastHalf(first) ? 1 : 0)
  }
}
