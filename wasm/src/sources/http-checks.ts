// The checks for the options of requests.
import { callback, either, headers, number, oneOf, type Check } from '../api/checks.js'
import type { HttpOptions } from './http.js'

/** The allowed options of requests. */
export const kHttpChecks: Readonly<Record<keyof HttpOptions, Check>> = {
  fetch: callback,
  headers,
  retries: number(0),
  timeout: either(number(0), oneOf(Infinity)),
  onRetry: callback,
}
