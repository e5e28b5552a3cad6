import type { Finding, GgufFile } from 'ggufscope'
import { nextTask } from './later'
import { isLong, lintInWorker } from './lint'

// Incremented when findings were updated, so that dependent values are recomputed.
let version = $state(0)
const known = new WeakMap<GgufFile, readonly Finding[]>()
const started = new WeakSet<GgufFile>()

/**
 * The findings of a file, computed once; undefined until they are known. Trailing data is described more exactly
 * when its first bytes were read.
 */
export function findingsOf(file: GgufFile): readonly Finding[] | undefined {
  const findings = version >= 0 ? known.get(file) : undefined
  if (findings || started.has(file)) return findings
  started.add(file)
  void lint(file)
  return undefined
}

async function lint(file: GgufFile): Promise<void> {
  try {
    const found = isLong(file) ? await lintInWorker(file).catch(() => undefined) : undefined
    if (!found) await nextTask()
    let findings = found ?? file.lint()
    known.set(file, findings)
    version++
    const ofTemplates = await file.lintTemplates().catch(() => [])
    if (ofTemplates.length > 0) {
      findings = [...findings, ...ofTemplates]
      known.set(file, findings)
      version++
    }
    if (findings.some(isBehind)) void lookBehind(file, findings)
  } catch {
    // The file was closed meanwhile.
  }
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
