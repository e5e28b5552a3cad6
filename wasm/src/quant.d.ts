// The parts that the package uses of the glue that Emscripten generates from wasm/bindings_quant.cpp.
import type { Bytes } from './api/arrays.js'
import type { Span } from './inspect.js'
import type { GlueOptions } from './runtime/compile.js'

type Numbers<Keys extends string> = Readonly<Record<Keys, number>>

export interface Collector {
  add(blocks: number, blockCount: number, floats: number, count: number): void
  compare(reference: number, other: number, count: number): void
  numbers(): Numbers<
    'count' | 'finite' | 'zeros' | 'nans' | 'infinities' | 'min' | 'max' | 'mean' | 'standardDeviation'
  >
  scales():
    | Numbers<'count' | 'zeros' | 'subnormal' | 'notFinite' | 'min' | 'max' | 'mean' | 'standardDeviation'>
    | undefined
  comparison(): Numbers<'notFinite' | 'nmse' | 'cosine' | 'maximum'>
  histogramExponent(): number
  /** doubles: the counts of the bins */
  histogram(): Span
  /** doubles: absolute maximum and root mean square, alternating */
  lines(columns: boolean): Span
  delete(): void
}

export interface QuantModule {
  HEAPU8: Bytes
  _malloc(bytes: number): number
  _free(pointer: number): void
  findType(name: string): { id: number; blockSize: number; blockBytes: number }
  canDequantize(type: number): boolean
  canQuantize(type: number): boolean
  needsImportance(type: number): boolean
  /** Big-endian blocks are first converted in place. */
  dequantize(type: number, blocks: number, floats: number, blockCount: number, bigEndian: boolean): boolean
  /** Super-blocks of 64 elements; false for types that never had them. */
  dequantizeSmall(
    type: number,
    blocks: number,
    floats: number,
    blockCount: number,
    bigEndian: boolean,
  ): boolean
  /** Converts blocks between byte orders, in place. */
  swapBytes(type: number, blocks: number, blockCount: number, small: boolean): void
  /**
   * Finds blocks, in the byte order of the file, that llama.cpp's --check-tensors refuses. flaw: 1 for NaN, 2 for
   * infinity, 3 for a type that files should not contain.
   */
  invalidBlocks(
    type: number,
    blocks: number,
    blockCount: number,
    bigEndian: boolean,
    small: boolean,
  ): readonly [count: number, first: number, flaw: number]
  /** Today's type with the same quantized values as one of 2023's block layouts, or -1. */
  modernType(type: number): number
  modernize(type: number, from: number, to: number, blockCount: number): void
  quantize(
    type: number,
    floats: number,
    blocks: number,
    blockCount: number,
    importance: number,
    rowBlocks: number,
  ): void
  Collector: new (type: number, smallBlocks: boolean, rowLength: number, rowCount: number) => Collector
}

export default function createQuant(options: GlueOptions): Promise<QuantModule>
