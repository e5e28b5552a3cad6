// The levels of findings in the words of other tools, and what an audit counts.
import type { FindingLevel } from '../api/findings.js'
import type { AuditReport } from './types.js'

/** SARIF's words for levels. */
export type Severity = 'error' | 'warning' | 'note'

export const kSeverities: Readonly<Record<FindingLevel, Severity>> = {
  error: 'error',
  spec: 'warning',
  note: 'note',
}

/** The number of findings of each severity. */
export function countFindings({ files }: AuditReport): Record<Severity, number> {
  const counts = { error: 0, warning: 0, note: 0 }
  for (const { findings } of files) for (const { level } of findings) counts[kSeverities[level]]++
  return counts
}

/** "template-unseen-text" as words. */
export const titleOf = (code: string): string =>
  code.charAt(0).toUpperCase() + code.slice(1).replaceAll('-', ' ')

/** A name without the parts of an address that may hold secrets: user, password, query. */
export function publicName(name: string | undefined): string {
  if (name === undefined || !/^https?:/i.test(name) || !URL.canParse(name)) return name ?? 'file'
  const url = new URL(name)
  return `${url.origin}${url.pathname}`
}
