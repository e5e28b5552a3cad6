// Memory of a module for the time of one task.
import { GgufError } from '../api/errors.js'
import type { QuantModule } from '../quant.js'

/**
 * Allocations in the module's heap for one task. Views are created at each use, because the heap moves when it grows.
 */
export class Heap {
  readonly #module: QuantModule
  readonly #places: number[] = []

  constructor(module: QuantModule) {
    this.#module = module
  }

  reserve(bytes: number): number {
    const place = this.#module._malloc(Math.max(bytes, 1))
    if (place === 0) throw new GgufError('out-of-memory', `There is no memory for ${bytes} bytes.`)
    this.#places.push(place)
    return place
  }

  put(place: number, bytes: Uint8Array): void {
    this.#module.HEAPU8.set(bytes, place)
  }

  putFloats(place: number, floats: Float32Array): void {
    new Float32Array(this.#module.HEAPU8.buffer, place, floats.length).set(floats)
  }

  /** Valid until the next call into the module. */
  bytes(place: number, count: number): Uint8Array {
    return this.#module.HEAPU8.subarray(place, place + count)
  }

  /** Valid until the next call into the module. */
  floats(place: number, count: number): Float32Array {
    return new Float32Array(this.#module.HEAPU8.buffer, place, count)
  }

  /** A copy. */
  doubles([place, count]: readonly [number, number]): Float64Array {
    return new Float64Array(this.#module.HEAPU8.buffer, place, count).slice()
  }

  /** Frees all allocations. It is not done with `using`, because Safari's engine has no Symbol.dispose. */
  free(): void {
    for (const place of this.#places) this.#module._free(place)
  }
}
