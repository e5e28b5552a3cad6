// The findings of lint.

export type FindingLevel = 'error' | 'spec' | 'note'

/**
 * error: a strict loader refuses the file; spec: the specification does not allow it; note: it looks wrong or
 * unusual.
 */
export interface Finding {
  readonly level: FindingLevel
  readonly code: string
  readonly message: string
  /** absolute byte offset */
  readonly offset: number
  readonly shard: number
}
