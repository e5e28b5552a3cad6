// The check that an argument is an open file.
import { GgufError } from '../api/errors.js'
import { isOpened, type OpenedFile } from '../file/opened.js'
import type { GgufFile } from '../api/file.js'

/** Checks that a value is a file that open() returned. Error: 'invalid-argument'. */
export function openFile(file: GgufFile): OpenedFile {
  if (isOpened(file)) return file
  throw new GgufError('invalid-argument', 'That is no open file of this package.')
}
