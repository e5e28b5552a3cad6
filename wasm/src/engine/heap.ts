// Passes bytes, floats and texts to the engine's module and back.
import type { Span } from '../runtime/span.js'
import { EngineError } from './engine-error.js'
import type { MemoryBytes } from './protocol.js'
import type { Piece } from './types.js'
import type { WasmEngine } from './classes.js'
import type { EngineModule, WasmLoader } from './module.js'

/** An object of the module that keeps the error of its last call. */
type Failing = Pick<WasmLoader, 'failure'>

/** Throws the engine's error if a call has failed. */
export function check(done: boolean, engine: Failing): void {
  if (done) return
  const { code, message, offset } = engine.failure()
  throw new EngineError(code, message, offset)
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

// A piece of the file and the activations of one product, roughly. What does not fit grows the memory again.
const kLoading = 4 << 20

/** The memory of the engine's module. Results are copies, because shared memory can neither be decoded nor transferred. */
export class EngineHeap {
  readonly #module: EngineModule

  constructor(module: EngineModule) {
    this.#module = module
  }

  /**
   * Grows the memory for a model at once. In steps, each could copy all of it. If it fails, the engine allocates what
   * it can, and reports the error. Shared memory always grows in place, and WebKit makes all of it resident at once, so
   * that grows with the weights.
   */
  grow({ weights, cache, recurrent, scratch }: MemoryBytes): void {
    if (!(this.#module.HEAPU8.buffer instanceof ArrayBuffer)) return
    const pointer = this.#module._malloc(weights + cache + recurrent + scratch + kLoading)
    if (pointer !== 0) this.#module._free(pointer)
  }

  /** Copies bytes to the engine's reserved buffer. */
  put(bytes: Uint8Array, engine: Pick<WasmLoader, 'reserve'>): void {
    const pointer = Number(engine.reserve(Math.max(bytes.length, 1)))
    if (pointer === 0) throw new EngineError('out-of-memory', `No memory for ${bytes.length} bytes.`)
    this.#module.HEAPU8.set(bytes, pointer)
  }

  /** Bytes in the heap itself, until the next call of the module. */
  view([pointer, length]: Span): Uint8Array {
    return this.#module.HEAPU8.subarray(Number(pointer), Number(pointer) + length)
  }

  words([pointer, length]: Span): Uint32Array<ArrayBuffer> {
    return new Uint32Array(this.#module.HEAPU8.buffer, Number(pointer), length).slice()
  }

  bytes([pointer, length]: Span): Uint8Array<ArrayBuffer> {
    return this.#module.HEAPU8.slice(Number(pointer), Number(pointer) + length)
  }

  integers([pointer, length]: Span): Int32Array<ArrayBuffer> {
    return new Int32Array(this.#module.HEAPU8.buffer, Number(pointer), length).slice()
  }

  doubles([pointer, length]: Span): Float64Array<ArrayBuffer> {
    return new Float64Array(this.#module.HEAPU8.buffer, Number(pointer), length).slice()
  }

  floats([pointer, length]: Span): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#module.HEAPU8.buffer, Number(pointer), length).slice()
  }

  /** The log probability of the last token, and the most likely tokens with theirs. */
  logprobs(engine: WasmEngine): Pick<Piece, 'logprob' | 'alternatives'> {
    const [logprob, ...pairs] = this.doubles(engine.probabilities())
    return {
      logprob: logprob!,
      alternatives: Array.from({ length: pairs.length / 2 }, (_, i) => ({
        token: pairs[2 * i]!,
        logprob: pairs[2 * i + 1]!,
      })),
    }
  }
}
