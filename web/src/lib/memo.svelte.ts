import type { Finding, GgufFile } from 'ggufscope'

// Counts up when more is known of a file: whoever asked is asked again.
let version = $state(0)
const known = new WeakMap<GgufFile, readonly Finding[]>()

/** Findings of a file, worked out once. What lies behind its data is told by its first bytes when these were read. */
export function findingsOf(file: GgufFile): readonly Finding[] {
  let findings = version >= 0 ? known.get(file) : undefined
  if (!findings) {
    known.set(file, (findings = file.lint()))
    if (findings.some(isBehind)) void lookBehind(file, findings)
  }
  return findings
}

const isBehind = ({ code }: Finding): boolean => code === 'trailing-data'

async function lookBehind(file: GgufFile, findings: readonly Finding[]): Promise<void> {
  // The file may be closed meanwhile, or its server gone: then the finding stays as it is.
  const behind = (await file.damage().catch(() => [])).filter(isBehind)
  if (behind.length === 0) return
  known.set(
    file,
    findings.map((one) => (isBehind(one) && behind.find(({ shard }) => shard === one.shard)) || one),
  )
  version++
}
