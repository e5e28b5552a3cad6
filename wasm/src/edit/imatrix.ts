// Importance: which columns of a tensor its inputs make matter, as llama.cpp's imatrix gathers it.
import { GgufError } from '../api/errors.js'
import { OpenFile } from '../file/file.js'
import type { GgufFile } from '../api/types.js'
import type { Importance } from './layout.js'
import type { ImportanceSource } from './types.js'

/** Of a GGUF file: sums of squares of each column's inputs, and their count. */
function inFile(file: GgufFile, name: string): Importance | undefined {
  const sums = file.tensor(`${name}.in_sum2`)
  const counts = file.tensor(`${name}.counts`)
  if (!sums || !counts) return undefined
  return {
    count: sums.elementCount,
    async load(signal) {
      const [values, n] = await Promise.all([
        file.dequantize(sums.name, { signal }),
        file.dequantize(counts.name, { signal }),
      ])
      const rowLength = values.length / n.length
      // An expert that nothing went through says nothing: all its columns are alike.
      return values.map((value, i) => {
        const count = n[Math.floor(i / rowLength)]!
        return count > 0 ? value / count : 1
      })
    },
  }
}

export function importanceOf(source: ImportanceSource, name: string): Importance | undefined {
  if (source instanceof OpenFile) return inFile(source, name)
  if (!(source instanceof Map))
    throw new GgufError('invalid-argument', 'importance is an open file of this package or a Map of columns.')
  const values = (source as ReadonlyMap<string, Float32Array>).get(name)
  return values && { count: values.length, load: async () => values }
}

/**
 * The columns by tensor of an imatrix.dat, which llama.cpp wrote until 2025: count of entries; each: length and name,
 * calls, count of values, values multiplied by the calls. All numbers are of 32 bits, little-endian.
 */
export function parseImatrix(bytes: Uint8Array): Map<string, Float32Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const take = (length: number): number => {
    if (length < 0 || length > bytes.length - at)
      throw new GgufError('truncated', `The imatrix ends at byte ${bytes.length}, within an entry.`, {
        offset: at,
      })
    at += length
    return at - length
  }
  const i32 = (): number => view.getInt32(take(4), true)
  const entries = new Map<string, Float32Array>()
  const count = i32()
  // An entry takes 13 bytes at least.
  if (count < 1 || count > bytes.length / 13)
    throw new GgufError('bad-count', `This is no imatrix: it would have ${count} entries.`, { offset: 0 })
  for (let i = 0; i < count; i++) {
    const length = i32()
    const start = take(length)
    const name = new TextDecoder().decode(bytes.subarray(start, start + length))
    const calls = i32()
    const values = i32()
    const from = take(4 * values)
    const columns = Float32Array.from({ length: values }, (_, k) => view.getFloat32(from + 4 * k, true))
    entries.set(name, calls > 0 ? columns.map((value) => value / calls) : columns)
  }
  return entries
}
