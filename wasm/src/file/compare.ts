import type { CompareOptions, Comparison } from '../api/compare.js'
import type { GgufFile } from '../api/file.js'

/**
 * What two open files differ in: keys, tensors, and how far the second file's values are from the first's. Errors:
 * 'invalid-argument', and those of reading.
 */
export async function compare(a: GgufFile, b: GgufFile, options: CompareOptions = {}): Promise<Comparison> {
  const { compareFiles } = await import('../compare/compare.js')
  return await compareFiles(a, b, options)
}
