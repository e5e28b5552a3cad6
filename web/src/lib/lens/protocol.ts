// What the page and the worker of the tensor lens say to each other.
import type { TensorStats } from 'ggufscope'
import type { Matrix } from './chunks'

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

/** Cells of one tile, row-major. Where zx and zy are 0 all three are the elements themselves. */
export interface Cells {
  width: number
  height: number
  mean: Float32Array<ArrayBuffer>
  rms: Float32Array<ArrayBuffer>
  /** the value of largest magnitude, with its sign */
  extreme: Float32Array<ArrayBuffer>
  /** of the magnitudes, not NaN */
  reach: Record<Quantity, { most: number; high: number; max: number }>
}

export const quantities = ['extreme', 'mean', 'rms'] as const
export type Quantity = (typeof quantities)[number]

// Low tiles, because whole rows are read.
export const tileColumns = 256
export const tileRows = 32

/** The elements of a tile's sides. */
export const sidesOf = ({ zx, zy }: Pick<Place, 'zx' | 'zy'>) =>
  [tileColumns * 2 ** zx, tileRows * 2 ** zy] as const

export const keyOf = ({ zx, zy, x, y }: Place) => `${zx}/${zy}/${x}/${y}`

export type ToWorker =
  | { kind: 'open'; session: number; subject: Subject }
  /** Replaces the view before it. No more than `allowance` bytes are fetched for it. */
  | { kind: 'view'; session: number; view: number; tiles: Place[]; allowance: number }
  | { kind: 'bytes'; session: number; request: number; bytes: Uint8Array }
  | { kind: 'failed'; session: number; request: number; message: string }
  | { kind: 'block'; session: number; request: number; offset: number; length: number }
  | { kind: 'stats' | 'cancelStats'; session: number }
  | { kind: 'stop'; session: number }

export type FromWorker =
  /** asks for a run of chunks */
  | { kind: 'read'; session: number; request: number; from: number; to: number }
  | { kind: 'tile'; session: number; place: Place; cells: Cells }
  /** missing: bytes that the view needs beyond its allowance; 0 where all of it is there, or will be */
  | { kind: 'view'; session: number; view: number; missing: number; isDone: boolean }
  | { kind: 'loaded'; session: number; view: number; loaded: number; total: number }
  | { kind: 'block'; session: number; request: number; bytes: Uint8Array }
  | { kind: 'stats'; session: number; stats: TensorStats }
  | { kind: 'statsProgress'; session: number; loaded: number; total: number }
  | { kind: 'failure'; session: number; of: 'view' | 'stats' | 'block'; message: string }
