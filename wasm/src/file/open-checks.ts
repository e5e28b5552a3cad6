// The checks for the options of open().
import {
  anything,
  callback,
  either,
  flag,
  headers,
  number,
  object,
  oneOf,
  signal,
  text,
  type Check,
} from '../api/checks.js'
import type { OpenOptions } from '../api/file.js'

/** The allowed options of open(). */
export const kOpenChecks: Readonly<Record<keyof OpenOptions, Check>> = {
  signal,
  preview: oneOf('full', 'sparse', 'auto'),
  cache: flag,
  onKeys: callback,
  onProgress: callback,
  fetch: callback,
  headers,
  retries: number(0),
  timeout: either(number(0), oneOf(Infinity)),
  allowMissingShards: flag,
  wasmUrl: anything, // starting the module reports what is wrong
  assets: either(text, object),
}
