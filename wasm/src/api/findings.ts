// The findings of lint.
import type { GgufErrorCode } from './errors.js'

export type FindingLevel = 'error' | 'spec' | 'note'

/**
 * error: a strict loader refuses the file; spec: the specification does not allow it; note: it looks wrong or
 * unusual.
 */
export interface Finding {
  readonly level: FindingLevel
  readonly code: string
  readonly message: string
  /** absolute byte offset; absent for what is missing, such as a key, and for the file's name */
  readonly offset?: number
  readonly shard: number
  /** of a finding with the code 'load': the code of the error that `load()` throws */
  readonly error?: GgufErrorCode
}

export interface LintOptions {
  /** also runs the rules that most good files break: file-name. Default: false */
  readonly strict?: boolean | undefined
}
