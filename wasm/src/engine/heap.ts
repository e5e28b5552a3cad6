import { Failed } from './failed.js'
import type { EngineModule, Span, WasmLoader } from './module.js'

/** Throws the engine's error if a call has failed. */
export function check(done: boolean, engine: WasmLoader): void {
  if (done) return
  const { code, message, offset } = engine.failure()
  throw new Failed(code, message, offset)
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** The memory of the engine's module. Results are copies, because shared memory can neither be decoded nor transferred. */
export class EngineHeap {
  readonly #module: EngineModule

  constructor(module: EngineModule) {
    this.#module = module
  }

  /** Copies bytes to the engine's reserved buffer. */
  put(bytes: Uint8Array, engine: WasmLoader): void {
    const pointer = Number(engine.reserve(Math.max(bytes.length, 1)))
    if (pointer === 0) throw new Failed('out-of-memory', `No memory for ${bytes.length} bytes.`)
    this.#module.HEAPU8.set(bytes, pointer)
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
}
