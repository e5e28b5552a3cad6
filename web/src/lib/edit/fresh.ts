// What the checks find only in the file with its changes.
import type { Finding } from 'ggufscope'
import { allFindingsOf } from '../contents/findings.svelte'
import type { Edits } from './edits.svelte'

/** Empty while either is not known. */
export function freshFindings({ file, edited }: Edits): readonly Finding[] {
  const before = allFindingsOf(file)
  const after = edited && allFindingsOf(edited)
  const known = new Set(before?.map(({ code, message }) => `${code} ${message}`))
  return before && after ? after.filter(({ code, message }) => !known.has(`${code} ${message}`)) : []
}
