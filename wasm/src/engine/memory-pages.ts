// The shared memory that engine-*-threads.wasm and engine-memory64.wasm import, in pages of 64 KiB. wasm/modules.cmake declares the same limits
// (INITIAL_MEMORY, MAXIMUM_MEMORY); tests/package/engine-boundary.test.ts reads them from the module and compares.
export const kInitialPages = 128
/** The first is the module's own maximum. If there is less address space, one of the next is used. */
export const kMaxPages: readonly number[] = [65536, 32768, 16384, 8192]
/** The same for engine-memory64.wasm. */
export const kMaxPages64: readonly number[] = [262144, 196608, 131072, 98304]
