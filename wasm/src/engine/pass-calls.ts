// The worker's calls that pass tokens through the model for numbers: logits, embeddings, scores of decisions.
import { bytesOf, check, type EngineHeap } from './heap.js'
import type { WasmEngine } from './classes.js'
import type { Pooling } from './types.js'

export interface PassCall {
  readonly sequence: number
  readonly tokens: Int32Array
}

export interface EmbedCall extends PassCall {
  /** a name, or empty for the file's default */
  readonly pooling: Pooling | ''
}

export interface DecideCall extends PassCall {
  /** what each token is part of, a number of core's DecisionPart */
  readonly parts: Int32Array
}

/** Selects the sequence, and passes numbers to the engine. */
function begin(heap: EngineHeap, engine: WasmEngine, sequence: number, numbers: Int32Array): void {
  check(engine.select(sequence), engine)
  heap.put(bytesOf(numbers), engine)
}

/** The logits that the last pass left. */
function takeLogits(heap: EngineHeap, engine: WasmEngine): Float32Array {
  const out = heap.floats(engine.evaluated())
  engine.freeOutput()
  return out
}

export function evaluate(heap: EngineHeap, engine: WasmEngine, { sequence, tokens }: PassCall): Float32Array {
  begin(heap, engine, sequence, tokens)
  check(engine.evaluate(tokens.length), engine)
  return takeLogits(heap, engine)
}

/** The logits of the last token. */
export function evaluateLast(
  heap: EngineHeap,
  engine: WasmEngine,
  { sequence, tokens }: PassCall,
): Float32Array {
  begin(heap, engine, sequence, tokens)
  check(engine.evaluateLast(tokens.length), engine)
  return takeLogits(heap, engine)
}

export function embed(
  heap: EngineHeap,
  engine: WasmEngine,
  { sequence, tokens, pooling }: EmbedCall,
): Float32Array {
  begin(heap, engine, sequence, tokens)
  check(engine.embed(tokens.length, pooling), engine)
  return heap.floats(engine.embedding())
}

export function decide(
  heap: EngineHeap,
  engine: WasmEngine,
  { sequence, tokens, parts }: DecideCall,
): Float32Array {
  const both = new Int32Array(2 * tokens.length)
  both.set(tokens)
  both.set(parts, tokens.length)
  begin(heap, engine, sequence, both)
  check(engine.decide(tokens.length), engine)
  return heap.floats(engine.embedding())
}
