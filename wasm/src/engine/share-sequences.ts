// The sequences of a shared engine. Tabs and their forks may have more than the engine: then the one that rested longest
// gives its place up. What it had computed is a cache, which the next answer of its tab computes again.
import type { EngineCalls } from './model-engine.js'

interface Place {
  readonly sequence: number
  /** who uses it: a tab and its number of the sequence */
  owner: string | undefined
  /** cells of the context that it may take */
  cells: number
  usedAt: number
}

export class SharedSequences {
  readonly #engine: EngineCalls
  readonly #context: number
  readonly #places: Place[]
  #time = 0

  constructor(engine: EngineCalls, sequences: number) {
    this.#engine = engine
    this.#context = engine.info.contextLength
    this.#places = Array.from({ length: sequences }, (_, sequence) => ({
      sequence,
      owner: undefined,
      cells: 0,
      usedAt: 0,
    }))
  }

  /** Cells of the context that the owner's sequence may take. */
  cellsOf(owner: string): number {
    return this.#places.find((place) => place.owner === owner)?.cells ?? 0
  }

  hasPlace(owner: string): boolean {
    return this.#places.some((place) => place.owner === owner)
  }

  /** Whether the engine has something of that owner. */
  holds(owner: string): boolean {
    return this.cellsOf(owner) > 0
  }

  /** The owner's sequence, with that many cells for it; others give up theirs. */
  async place(owner: string, cells: number): Promise<number> {
    const byAge = this.#places.toSorted((a, b) => a.usedAt - b.usedAt)
    const place =
      this.#places.find((one) => one.owner === owner) ??
      this.#places.find((one) => one.owner === undefined) ??
      byAge[0]!
    if (place.owner !== owner) {
      if (place.owner !== undefined) await this.#clear(place)
      place.owner = owner
    }
    place.usedAt = ++this.#time
    const needed = Math.min(cells, this.#context)
    for (const other of byAge) {
      if (other === place || this.#cellsBeside(place) + needed <= this.#context) continue
      if (other.cells > 0) await this.#clear(other)
    }
    return place.sequence
  }

  /** The owner's sequence takes that many cells now. */
  took(owner: string, cells: number): void {
    const place = this.#places.find((one) => one.owner === owner)
    if (place) place.cells = Math.min(cells, this.#context)
  }

  /** Whether other sequences take cells. */
  hasOthers(owner: string): boolean {
    return this.#places.some((place) => place.owner !== owner && place.cells > 0)
  }

  /** The engine has cleared all sequences. */
  cleared(): void {
    for (const place of this.#places) place.cells = 0
  }

  /** Frees the sequences of the owners for which `isGone` is true. */
  async free(isGone: (owner: string) => boolean): Promise<void> {
    for (const place of this.#places)
      if (place.owner !== undefined && isGone(place.owner)) await this.#clear(place)
  }

  #cellsBeside(place: Place): number {
    return this.#places.reduce((sum, other) => (other === place ? sum : sum + other.cells), 0)
  }

  async #clear(place: Place): Promise<void> {
    place.owner = undefined
    place.cells = 0
    await this.#engine.call('drop', { sequence: place.sequence })
  }
}
