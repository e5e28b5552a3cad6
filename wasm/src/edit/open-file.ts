import { GgufError } from '../api/errors.js'
import { OpenFile } from '../file/file.js'
import type { GgufFile } from '../api/types.js'

/** What open() gave, as the class that it is. */
export function openFile(file: GgufFile): OpenFile {
  if (file instanceof OpenFile) return file
  throw new GgufError('invalid-argument', 'That is no open file of this package.')
}
