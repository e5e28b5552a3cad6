import {
  anything,
  callback,
  either,
  flag,
  number,
  object,
  oneOf,
  signal,
  text,
  type Check,
} from '../api/checks.js'
import type { OpenOptions } from '../api/file.js'

/** What the options of open() may be. */
export const kOpenChecks: Readonly<Record<keyof OpenOptions, Check>> = {
  signal,
  preview: oneOf('full', 'sparse', 'auto'),
  cache: flag,
  onKeys: callback,
  onProgress: callback,
  fetch: callback,
  headers: anything, // fetch() says what is wrong
  retries: number(0),
  timeout: either(number(0), oneOf(Infinity)),
  allowMissingShards: flag,
  wasmUrl: anything, // whoever starts the module says what is wrong
  assets: either(text, object),
}
