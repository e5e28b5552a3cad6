// Compares two open files.
import type { CompareOptions, Comparison } from '../api/compare.js'
import type { GgufFile } from '../api/file.js'

/**
 * Lists the differences between two open files: keys, tensors, and the error of the second file's values relative to
 * the first. Errors: 'invalid-argument', and those of reading.
 */
export async function compare(a: GgufFile, b: GgufFile, options: CompareOptions = {}): Promise<Comparison> {
  const { compareFiles } = await import('../compare/compare.js')
  return await compareFiles(a, b, options)
}
