// How much memory a page of this browser can have for a model, as load() decides.
// The module alone: the package's file has the whole engine, which the panels do not need.
import { memoryLimits } from '../../../../wasm/src/engine/memory-limits'

export const limits = memoryLimits

/** in bytes; a small device has less than WebAssembly can address */
export function pageMemory(): number {
  const { memory32, memory64, device } = memoryLimits()
  return device !== undefined && device < memory32 ? device : (memory64 ?? memory32)
}
