// What the parts of a layer's graph share: the sizes of the batch, the masks, and the shapes of the layer's tensors.
import type { Graph, Value } from './graph.js'

/** The inputs of layers that select pools of positions. */
export interface PoolInputs {
  readonly pools: number
  readonly selected: number
  /** which pools a token may select, and the positions of the unfinished pool */
  readonly mask: Value
  readonly tail: Value
  /** small ones */
  readonly further: readonly Value[]
  /** pools whose keys are computed: all, when the graph is reserved */
  readonly computed: number
}

/** The shapes of a layer's tensors by the part of their name: "attn_q" for "blk.3.attn_q.weight". */
export type Parts = ReadonlyMap<string, readonly number[]>

export interface LayerContext {
  readonly graph: Graph
  readonly parts: Parts
  readonly tokens: number
  readonly embedding: number
  /** number of query heads */
  readonly heads: number
  readonly keyHeads: number
  /** cells of the layer's cache; 0: without a cache */
  readonly cells: number
  readonly mask: Value | undefined
  readonly expertsUsed: number
  /** the operation flash attention, which stores no scores, is not used */
  readonly plainAttention: boolean
  /** cells of compressed keys, and how many tokens each represents */
  readonly compressed: { readonly cells: number; readonly mask: Value } | undefined
  /** keysInPool: keys that it selects together; 1: each alone */
  readonly indexer:
    | { readonly mask: Value; readonly rotation: boolean; readonly keysInPool: number }
    | undefined
  /** the blocks of positions that MiniMax's attention selects */
  readonly blockSize: number
  /** of layers that select pools of positions */
  readonly pools: PoolInputs | undefined
  /** elements of a recurrent layer's state */
  readonly state: number
  /** values of earlier layers that later ones read again */
  readonly carried: Map<string, Value>
}

const kFloat = 4
export const kHalf = 2

/** Bytes of a float32 row for each token. */
export const rows = ({ tokens }: LayerContext, width: number) => tokens * width * kFloat
export const floats = (count: number) => count * kFloat

/** The rows that a matrix produces. */
export function widthOf({ parts }: LayerContext, name: string): number {
  const shape = parts.get(name)
  return shape === undefined ? 0 : shape.slice(1).reduce((product, n) => product * n, 1)
}

/** Multiplies by the matrix `name`. */
export const project = (layer: LayerContext, name: string, from: Value) =>
  layer.graph.add(rows(layer, widthOf(layer, name)), from)

/** A value that is computed once and stays for the later layers. */
export function carry({ carried }: LayerContext, name: string, compute: () => Value): Value {
  const value = carried.get(name) ?? compute()
  carried.set(name, value)
  return value
}
