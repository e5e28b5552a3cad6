// Choices that depend on the machine are tried while tokens are generated. The choices alternate, because a
// machine's speed changes by itself. They are the number of memory streams of decode (kMemoryStreams of
// core/nn/gemm/dispatch.hpp), a thread's initial chunk (kInitialEighths of core/nn/pool.hpp), and the number
// of threads: threads that share a core, slow cores among fast ones, and more threads than a container may
// run make each other slower. No choice changes results.
/** Until then JavaScript engines still optimize the code. */
const kWarmMs = 300
const kWarmPasses = 8
const kPasses = 6
/** Another choice must take less than this share of the first one's time: a small difference is noise. */
const kGain = 0.98

/** The mean of the faster half: the slower half was disturbed by other work. */
function fastHalf(times: readonly number[]): number {
  const half = [...times].sort((a, b) => a - b).slice(0, Math.ceil(times.length / 2))
  return half.reduce((sum, time) => sum + time, 0) / half.length
}

/** use(0) is the default, use(choices - 1) the last choice. */
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

  /** tried: the settings to try, one after the other. */
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
