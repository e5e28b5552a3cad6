// What this browser allows a page: WebAssembly memory and, if there is WebGPU, sizes of buffers.

// Minimal modules: a memory with 64-bit addresses; i32x4.relaxed_dot_i8x16_i7x16_add_s. The engine's variant for more than
// 4 GiB needs both.
const memory64 = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 4, 1)
const relaxed = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0,
  253, 15, 65, 0, 253, 15, 253, 147, 2, 11,
) // prettier-ignore

export interface WasmLimits {
  /** bytes of a memory with 32-bit addresses */
  readonly narrow: number
  /** bytes of a memory with 64-bit addresses, as the engine declares it; undefined: not available here */
  readonly wide: number | undefined
}

export const wasmLimits = (): WasmLimits => ({
  narrow: 2 ** 32,
  wide: [memory64, relaxed].every((module) => WebAssembly.validate(module)) ? 2 ** 34 : undefined,
})

/** Approximate memory of the device in bytes, which browsers round and cap; undefined: they do not tell. */
export function deviceMemory(): number | undefined {
  const { deviceMemory } = navigator as { deviceMemory?: number }
  return deviceMemory === undefined ? undefined : deviceMemory * 2 ** 30
}

export interface GpuLimits {
  /** such as "nvidia ampere"; may be empty */
  readonly name: string
  readonly maxBufferSize: number
  readonly maxStorageBufferBindingSize: number
}

interface Adapter {
  readonly limits: Omit<GpuLimits, 'name'>
  readonly info?: { readonly vendor: string; readonly architecture: string }
}

/** undefined: no WebGPU, or no graphics card for it. */
export async function gpuLimits(): Promise<GpuLimits | undefined> {
  const { gpu } = navigator as { gpu?: { requestAdapter(): Promise<Adapter | null> } }
  const adapter = await gpu?.requestAdapter().catch(() => null)
  if (!adapter) return undefined
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits
  const { vendor = '', architecture = '' } = adapter.info ?? {}
  return { name: `${vendor} ${architecture}`.trim(), maxBufferSize, maxStorageBufferBindingSize }
}
