// How much memory the engine can have here.
import { kMaxPages, kMaxPages64 } from './memory-pages.js'
import { whyNoMemory64 } from './memory64.js'

const kPageBytes = 1 << 16
export const kMemory32 = kMaxPages[0]! * kPageBytes
export const kMemory64 = kMaxPages64[0]! * kPageBytes

export interface MemoryLimits {
  /** bytes of the engine's variants with 32-bit memory */
  readonly memory32: number
  /** bytes of the variant with 64-bit memory; undefined: it cannot run here */
  readonly memory64: number | undefined
  /** bytes that the device says it has, which browsers round and cap; undefined: it does not say */
  readonly device: number | undefined
}

export function deviceMemory(): number | undefined {
  const { deviceMemory: gigabytes } = (globalThis.navigator ?? {}) as { deviceMemory?: number }
  return gigabytes === undefined ? undefined : gigabytes * 2 ** 30
}

/** Returns the largest memories that load() can use here, the code's own included. Starts no engine. */
export const memoryLimits = (): MemoryLimits => ({
  memory32: kMemory32,
  memory64: whyNoMemory64() === undefined ? kMemory64 : undefined,
  device: deviceMemory(),
})
