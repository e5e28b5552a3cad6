// Settings that depend on the machine are tried while tokens are generated. The settings alternate, because a
// machine's speed changes over time. They are: the number of memory streams of decode (kMemoryStreams in
// core/nn/gemm/dispatch.hpp), a thread's initial chunk (kInitialEighths in core/nn/pool.hpp), and the number of
// threads (threads that share a core, slow cores, and more threads than a container may run slow each other down).
// They do not change results.
/** During this time, JavaScript engines still optimize the code. */
const kWarmMs = 300
const kWarmPasses = 8
const kPasses = 6
/** Another setting must take less than this fraction of the first one's time, because small differences are noise. */
const kGain = 0.98

/** The mean of the faster half. The slower half was probably disturbed by other work. */
function fastHalf(times: readonly number[]): number {
  const half = [...times].sort((a, b) => a - b).slice(0, Math.ceil(times.length / 2))
  return half.reduce((sum, time) => sum + time, 0) / half.length
}

/** use(0) selects the default, use(choices - 1) the last setting. */
export interface Setting {
  readonly choices: number
  use(choice: number): void
}

export class Trial {
  readonly #tried: Setting[]
  #times: number[][] = []
  #passes = 0
  #warmMsLeft = kWarmMs
  #warmPassesLeft = 2 * kWarmPasses

  /** tried: the settings to try, in order. */
  constructor(...tried: Setting[]) {
    this.#tried = tried
  }

  get settled(): boolean {
    return this.#tried.length === 0
  }

  /** Reports the time of one token. */
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
