// How many groups of weights one token reads side by side is a machine's own affair: tried while tokens are generated, in
// turns, as a machine's speed changes by itself. Results are the same whichever it is.
const kChoices = 2 // kReaders of core/nn/packed.hpp
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
  readonly #times: number[][] = Array.from({ length: kChoices }, () => [])
  #passes = 0
  #warmUntil = kWarmMs
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
    const choice = this.#passes++ % kChoices
    this.#warmUntil -= ms
    if (this.#warmUntil <= 0 && this.#passes > kWarmPasses * kChoices) this.#times[choice]!.push(ms)
    if (this.#times.at(-1)!.length < kPasses) return this.#use(this.#passes % kChoices)
    const [first, ...others] = this.#times.map(fastHalf)
    let best = 0
    for (const [i, time] of others.entries())
      if (time < kGain * first! && (best === 0 || time < others[best - 1]!)) best = i + 1
    this.#settled = true
    this.#use(best)
  }
}
