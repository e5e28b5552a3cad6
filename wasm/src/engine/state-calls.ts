// The worker's calls that save what a session holds, and restore it: the state of a sequence, and encoded media.
import { check, type EngineHeap } from './heap.js'
import type { WasmEngine } from './classes.js'

export interface OfSequence {
  readonly sequence: number
}
export interface SavedState extends OfSequence {
  readonly bytes: Uint8Array
}

function takeSaved(heap: EngineHeap, engine: WasmEngine): Uint8Array<ArrayBuffer> {
  const out = heap.bytes(engine.saved())
  engine.freeSavedState()
  return out
}

export function saveState(
  heap: EngineHeap,
  engine: WasmEngine,
  { sequence }: OfSequence,
): Uint8Array<ArrayBuffer> {
  check(engine.select(sequence), engine)
  check(engine.saveState(), engine)
  return takeSaved(heap, engine)
}

export function loadState(heap: EngineHeap, engine: WasmEngine, { sequence, bytes }: SavedState): void {
  check(engine.select(sequence), engine)
  heap.put(bytes, engine)
  check(engine.loadState(bytes.length), engine)
}

export function saveEncoded(heap: EngineHeap, engine: WasmEngine): Uint8Array<ArrayBuffer> {
  engine.saveEncoded()
  return takeSaved(heap, engine)
}

export function loadEncoded(heap: EngineHeap, engine: WasmEngine, bytes: Uint8Array): void {
  heap.put(bytes, engine)
  check(engine.loadEncoded(bytes.length), engine)
}
