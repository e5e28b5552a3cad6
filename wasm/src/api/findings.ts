// What lint finds.

export type FindingLevel = 'error' | 'spec' | 'note'

/** error: a strict loader refuses the file; spec: against the specification; note: looks wrong or unusual. */
export interface Finding {
  readonly level: FindingLevel
  readonly code: string
  readonly message: string
  /** absolute byte offset */
  readonly offset: number
  readonly shard: number
}
