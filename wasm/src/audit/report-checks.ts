// Checks of the arguments of functions that write a report.
import { checkArgument, checkOptions, text, type Check } from '../api/checks.js'
import type { FormatOptions } from './types.js'

const report: Check = (value) => {
  const { files, duplicates } = (value ?? {}) as { files?: unknown; duplicates?: unknown }
  return Array.isArray(files) && Array.isArray(duplicates) ? undefined : 'what audit() returned'
}
const kFormatChecks: Readonly<Record<keyof FormatOptions, Check>> = {
  version: text,
  now: (value) => (value instanceof Date && !Number.isNaN(value.getTime()) ? undefined : 'a Date'),
}

/** Refuses what audit() did not return, and wrong options. what: "toSarif()" */
export function checkReport(what: string, value: unknown, options: FormatOptions = {}): void {
  checkArgument(what, 'report', value, report)
  checkOptions(what, options, kFormatChecks)
}
