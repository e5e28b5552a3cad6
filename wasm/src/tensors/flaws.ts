// Describes values of a tensor that are damaged.
import type { TensorType } from '../api/tensors.js'

/** Indexed by the number that QuantModule.invalidBlocks() returns. */
const kFlaws = ['', 'holds NaN', 'holds an infinity', 'is of a type that no file should hold']

/** "element 3 of row 1": the first element of a block, or "block 7 (in row 1)". */
export function blockText(type: TensorType, rowLength: number, block: number): string {
  const row = Math.floor((block * type.blockSize) / rowLength)
  return type.blockSize === 1
    ? `element ${block % rowLength} of row ${row}`
    : `block ${block} (in row ${row})`
}

export const flawText = (type: TensorType, rowLength: number, block: number, flaw: number): string =>
  `${blockText(type, rowLength, block)} ${kFlaws[flaw]}`
