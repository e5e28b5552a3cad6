// Groups findings by rule, with their subjects and fixes.
import type { Finding, FindingLevel, GgufFile } from 'ggufscope'
import { findingSubject, fixOf, type Change, type FindingSubject, type Fix } from 'ggufscope/edit'
import type { Plain } from '../../texts/text'
import { t } from '../language/text'

export interface Item {
  readonly finding: Finding
  /** number of other places with the same message */
  readonly again: number
  readonly subject: FindingSubject
}

export interface Group {
  readonly code: string
  readonly level: FindingLevel
  readonly items: readonly Item[]
}

const order: readonly FindingLevel[] = ['error', 'spec', 'note']

export const levelNames = {
  error: 'Error',
  spec: 'Specification',
  note: 'Note',
} as const satisfies Record<FindingLevel, Plain>

/** Groups findings by rule. Groups are sorted by severity, then by their order in the file. */
export function groupFindings(file: GgufFile, findings: readonly Finding[]): Group[] {
  const groups = new Map<string, Map<string, Finding[]>>()
  for (const finding of findings) {
    const code = `${order.indexOf(finding.level)} ${finding.code}`
    const group = groups.get(code) ?? new Map<string, Finding[]>()
    groups.set(code, group)
    const same = group.get(finding.message)
    if (same) same.push(finding)
    else group.set(finding.message, [finding])
  }
  return [...groups.values()]
    .map((messages) => {
      const items = [...messages.values()].map(([finding, ...more]) => {
        return { finding: finding!, again: more.length, subject: findingSubject(file, finding!) }
      })
      const { code, level } = items[0]!.finding
      return { code, level, items }
    })
    .toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level))
}

/** Limit of a group's findings for which fixes are computed. */
const max = 200

/** One fix that combines the fixes of a group's findings. */
export async function fixOfGroup(file: GgufFile, { items }: Group): Promise<Fix | undefined> {
  const changes = new Map<string, Change>()
  let title = ''
  let count = 0
  for (const { finding } of items.slice(0, max)) {
    const fix = await fixOf(file, finding)
    if (!fix) continue
    title ||= fix.title
    if (title !== fix.title) title = t('Fix')
    count++
    for (const change of fix.changes) changes.set(JSON.stringify(change), change)
  }
  if (count === 0) return undefined
  return { title: count === 1 ? title : `${title} (${count})`, changes: [...changes.values()] }
}
