import type { Finding, GgufFile } from 'ggufscope'

// Incremented when findings were updated, so that dependent values are recomputed.
let version = $state(0)
const known = new WeakMap<GgufFile, readonly Finding[]>()

/** The findings of a file, computed once. Trailing data is described more exactly when its first bytes were read. */
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
  // If the file was closed meanwhile or its server is unreachable, the finding stays as it is.
  const behind = (await file.damage().catch(() => [])).filter(isBehind)
  if (behind.length === 0) return
  known.set(
    file,
    findings.map((one) => (isBehind(one) && behind.find(({ shard }) => shard === one.shard)) || one),
  )
  version++
}
