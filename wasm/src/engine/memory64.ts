// Whether the engine's variant with 64-bit memory can run here. Used by the page and by the worker.

// Minimal modules: a memory with 64-bit addresses; i32x4.relaxed_dot_i8x16_i7x16_add_s.
const kMemory64Probe = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 4, 1])
const kRelaxedProbe = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0,
  253, 15, 65, 0, 253, 15, 253, 147, 2, 11,
])

export const hasRelaxed = (): boolean => WebAssembly.validate(kRelaxedProbe)

/** undefined: it can */
export function whyNoMemory64(): string | undefined {
  if (!WebAssembly.validate(kMemory64Probe)) return 'WebAssembly has no 64-bit memory (memory64) here.'
  return hasRelaxed()
    ? undefined
    : 'The variant with 64-bit memory needs relaxed SIMD, which is missing here.'
}
