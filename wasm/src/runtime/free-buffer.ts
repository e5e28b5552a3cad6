/** Detaching a buffer frees its memory at once. Engines before 2024 cannot, and leave it to the garbage collector. */
export function freeBuffer(buffer: ArrayBufferLike): void {
  ;(buffer as { transfer?(bytes: number): ArrayBuffer }).transfer?.(0)
}
