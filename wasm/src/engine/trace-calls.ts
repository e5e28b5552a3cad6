// Traces a text: the worker's side, which steps through it, and the page's side, which cuts the results into layers and
// heads.
import { bytesOf, check, type EngineHeap } from './heap.js'
import type { WasmEngine } from './classes.js'
import type { EngineModule } from './module.js'
import type { EncodingCalls } from './media-worker.js'
import type { LayerPart, Trace, TraceOptions } from './trace-types.js'

export interface TraceCall {
  readonly sequence: number
  readonly tokens: Int32Array
  /** undefined: all that can be read */
  readonly layers: Int32Array | undefined
  readonly best: number
  /** pairs of layer and head */
  readonly attention: Int32Array
  /** the same; head -1: the whole layer */
  readonly ablated: Int32Array
}

/** The results of all layers and heads, one after another. */
export interface TraceNumbers {
  readonly layers: Int32Array
  readonly logprobs: Float32Array
  readonly ranks: Int32Array
  readonly best: Int32Array
  readonly bestLogprobs: Float32Array
  readonly attention: Float32Array
}

/** Pairs of layer and head; head -1: the whole layer. */
export const pairsOf = (parts: readonly LayerPart[]): Int32Array =>
  Int32Array.from(parts.flatMap(({ layer, head }) => [layer, head ?? -1]))

export function traceCallOf(sequence: number, tokens: readonly number[], options: TraceOptions): TraceCall {
  return {
    sequence,
    tokens: Int32Array.from(tokens),
    layers: options.layers && Int32Array.from(options.layers),
    best: options.best ?? 5,
    attention: pairsOf(options.attention ?? []),
    ablated: pairsOf(options.ablate ?? []),
  }
}

/** Undefined if the call was cancelled. */
export async function trace(
  { module, heap, engine }: { module: EngineModule; heap: EngineHeap; engine: WasmEngine },
  call: TraceCall,
  calls: EncodingCalls,
): Promise<TraceNumbers | undefined> {
  check(engine.select(call.sequence), engine)
  const { tokens, layers = [], attention, ablated } = call
  const tracer = new module.Tracer(engine.session())
  try {
    heap.put(bytesOf(Int32Array.from([...tokens, ...layers, ...attention, ...ablated])), tracer)
    const counts = {
      tokens: tokens.length,
      layers: layers.length,
      attention: attention.length / 2,
      ablated: ablated.length / 2,
    }
    check(tracer.begin(counts, call.layers === undefined, call.best), tracer)
    for (let more = 1; more === 1;) {
      await calls.pause()
      if (calls.cancelled()) return undefined
      more = tracer.step()
      check(more >= 0, tracer)
      calls.step(tracer.doneTokens(), tokens.length)
    }
    return {
      layers: heap.integers(tracer.layers()),
      logprobs: heap.floats(tracer.logProbabilities()),
      ranks: heap.integers(tracer.ranks()),
      best: heap.integers(tracer.best()),
      bestLogprobs: heap.floats(tracer.bestLogProbabilities()),
      attention: heap.floats(tracer.attention()),
    }
  } finally {
    tracer.end()
    tracer.delete()
  }
}

export function traceOf(numbers: TraceNumbers, { tokens, best, attention }: TraceCall): Trace {
  const { length } = tokens
  return {
    logprobs: numbers.logprobs,
    ranks: numbers.ranks,
    layers: Array.from(numbers.layers, (layer, i) => ({
      layer,
      tokens: numbers.best.slice(i * length * best, (i + 1) * length * best),
      logprobs: numbers.bestLogprobs.slice(i * length * best, (i + 1) * length * best),
    })),
    attention: Array.from({ length: attention.length / 2 }, (_, i) => ({
      layer: attention[2 * i]!,
      head: attention[2 * i + 1]!,
      weights: numbers.attention.slice(i * length * length, (i + 1) * length * length),
    })),
  }
}
