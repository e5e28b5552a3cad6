// What is a machine's own affair is tried while tokens are generated, a few choices in turns, as a machine's speed changes
// by itself: how many memory streams decode reads weights in (kMemoryStreams of core/nn/gemm/dispatch.hpp), how much of its
// share a thread takes at once (kInitialEighths of core/nn/pool.hpp), and how many threads there are: those of one core's
// halves, slow cores among fast ones, or more threads than a container may run make each other slower. Results are the
// same whichever it is.
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

/** use(0) is how it was, use(choices - 1) the last choice. */
export interface Tried {
  readonly choices: number
  use(choice: number): void
}

export class Trial {
  readonly #tried: Tried[]
  #times: number[][] = []
  #passes = 0
  #warmMsLeft = kWarmMs
  #warmPassesLeft = 2 * kWarmPasses

  /** tried: what the next tokens are computed with, one to be settled after the other. */
  constructor(...tried: Tried[]) {
    this.#tried = tried
  }

  get settled(): boolean {
    return this.#tried.length === 0
  }

  /** One token took so long. */
  took(ms: number): void {
    const tried = this.#tried[0]
    if (!tried) return
    const times = (this.#times[this.#passes++ % tried.choices] ??= [])
    this.#warmMsLeft -= ms
    this.#warmPassesLeft--
    if (this.#warmMsLeft <= 0 && this.#warmPassesLeft < 0) times.push(ms)
    const counted = this.#times.filter((times) => times.length >= kPasses).length
    if (counted < tried.choices) return tried.use(this.#passes % tried.choices)
    const taken = this.#times.map(fastHalf)
    tried.use(taken.reduce((best, time, choice) => (time < kGain * taken[best]! ? choice : best), 0))
    this.#tried.shift()
    this.#times = []
    this.#passes = 0
  }
}
