// The messages between the page and the worker of the tensor lens.
import type { TensorStats } from 'ggufscope'
import { tileRows, type Matrix } from './chunks'

export interface Subject extends Matrix {
  typeId: number
  bigEndian: boolean
}

/** A tile of cells; a cell is 2^zx columns by 2^zy rows of elements. */
export interface Place {
  zx: number
  zy: number
  x: number
  y: number
}

/** The cells of one tile, row-major. If zx and zy are 0, each cell is one element. */
export interface Cells {
  width: number
  height: number
  mean: Float32Array<ArrayBuffer>
  rms: Float32Array<ArrayBuffer>
  /** the value of largest magnitude, with its sign */
  extreme: Float32Array<ArrayBuffer>
  /** of the finite magnitudes: the 99th percentile, the 99.9th, and the maximum */
  reach: Record<Quantity, { most: number; high: number; max: number }>
}

const quantities = ['extreme', 'mean', 'rms'] as const
export type Quantity = (typeof quantities)[number]

// Tiles have few rows, because whole rows are read.
export const tileColumns = 256

/** The number of columns and rows of elements in a tile. */
export const sidesOf = ({ zx, zy }: Pick<Place, 'zx' | 'zy'>) =>
  [tileColumns * 2 ** zx, tileRows * 2 ** zy] as const

export const keyOf = ({ zx, zy, x, y }: Place) => `${zx}/${zy}/${x}/${y}`

export type ToWorker =
  /** assets: addresses of wasm modules that the worker does not know */
  | { kind: 'open'; session: number; subject: Subject; assets: Record<string, string> }
  /** Replaces the previous view. Fetches at most `allowance` bytes for it. */
  | { kind: 'view'; session: number; view: number; tiles: Place[]; allowance: number }
  | { kind: 'bytes'; session: number; request: number; bytes: Uint8Array }
  | { kind: 'failed'; session: number; request: number; message: string }
  | { kind: 'block'; session: number; request: number; offset: number; length: number }
  | { kind: 'stats' | 'cancelStats'; session: number }
  | { kind: 'stop'; session: number }

export type FromWorker =
  /** requests a run of chunks */
  | { kind: 'read'; session: number; request: number; from: number; to: number }
  | { kind: 'tile'; session: number; place: Place; cells: Cells }
  /** missing: bytes that the view needs beyond its allowance; 0 if all tiles have arrived or will arrive */
  | { kind: 'view'; session: number; view: number; missing: number; isDone: boolean }
  | { kind: 'loaded'; session: number; view: number; loaded: number; total: number }
  | { kind: 'block'; session: number; request: number; bytes: Uint8Array }
  | { kind: 'stats'; session: number; stats: TensorStats }
  | { kind: 'statsProgress'; session: number; loaded: number; total: number }
  | { kind: 'failure'; session: number; of: 'view' | 'stats' | 'block'; message: string }
