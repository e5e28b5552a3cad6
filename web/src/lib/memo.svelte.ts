import type { Finding, GgufFile } from 'ggufscope'

// Incremented when more of a file was read, so that dependent values are computed again.
let version = $state(0)
const known = new WeakMap<GgufFile, readonly Finding[]>()

/**
 * Findings of a file, computed once. Bytes behind its data are identified when their first bytes were read.
 */
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
  // The file may be closed meanwhile, or its server unreachable: then the finding stays as it is.
  const behind = (await file.damage().catch(() => [])).filter(isBehind)
  if (behind.length === 0) return
  known.set(
    file,
    findings.map((one) => (isBehind(one) && behind.find(({ shard }) => shard === one.shard)) || one),
  )
  version++
}
