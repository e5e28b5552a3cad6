import type { Finding, GgufFile } from 'ggufscope'

const known = new WeakMap<GgufFile, readonly Finding[]>()

/** Findings of a file, worked out once. */
export function findingsOf(file: GgufFile): readonly Finding[] {
  let findings = known.get(file)
  if (!findings) known.set(file, (findings = file.lint()))
  return findings
}
