// Normalizes embeddings.
import type { GgufFile } from '../api/file.js'
import { namesIn } from './file-kinds.js'
import type { Pooling } from './types.js'

/**
 * Scales rows of n floats in place. p -1: no scaling; 0: to a largest magnitude of 32760; otherwise to a p-norm of 1.
 */
export function normalizeRows(values: Float32Array, n: number, p: number): void {
  if (p < 0) return
  for (let at = 0; at < values.length; at += n) {
    const row = values.subarray(at, at + n)
    let length = 0
    for (const value of row) {
      const size = Math.abs(value)
      if (p === 0) length = Math.max(length, size / 32760)
      else length += p === 2 ? size * size : size ** p
    }
    if (p === 2) length = Math.sqrt(length)
    else if (p !== 0) length = length ** (1 / p)
    if (length > 0) row.forEach((value, i) => (row[i] = value / length))
  }
}

/** Converts the option normalize to the p of normalizeRows. */
export function normOf(normalize: boolean | number | undefined, pooling: Pooling): number {
  if (normalize === undefined) return pooling === 'none' || pooling === 'rank' ? -1 : 2
  if (typeof normalize === 'number') return normalize
  return normalize ? 2 : -1
}

/** The names of a classification head's outputs. */
export function labelsOf(file: GgufFile, architecture: string): readonly string[] {
  return namesIn(file, `${architecture}.classifier.output_labels`)
}
