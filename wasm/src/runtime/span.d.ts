// A range of a module's heap.

/** in 64-bit memory either, depending on Emscripten's version */
export type Pointer = number | bigint
export type Span = readonly [pointer: Pointer, length: number]
