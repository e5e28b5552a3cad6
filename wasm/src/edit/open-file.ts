import { GgufError } from '../api/errors.js'
import { isOpened, type OpenedFile } from '../file/opened.js'
import type { GgufFile } from '../api/file.js'

/** What open() gave, as the class that it is. */
export function openFile(file: GgufFile): OpenedFile {
  if (isOpened(file)) return file
  throw new GgufError('invalid-argument', 'That is no open file of this package.')
}
