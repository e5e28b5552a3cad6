// An audit as SARIF 2.1.0, which code hosts show beside the changed files.
import { kSeverities, publicName, titleOf } from './levels.js'
import { checkReport } from './report-checks.js'
import type { AuditedFile, AuditFinding, AuditReport, FormatOptions } from './types.js'

/** A path or an address as the URI reference of SARIF. */
function uriOf(name: string | undefined): string {
  const plain = publicName(name)
  if (/^(?:https?|hf):/i.test(plain)) return plain.replaceAll(' ', '%20')
  const path = plain.replaceAll('\\', '/').replace(/^\.\//, '')
  return path.split('/').map(encodeURIComponent).join('/')
}

function resultOf(file: AuditedFile, index: number, finding: AuditFinding, rules: readonly string[]): object {
  const { code, level, message, offset, subject, shard } = finding
  return {
    ruleId: code,
    ruleIndex: rules.indexOf(code),
    level: kSeverities[level],
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file.name), index },
          ...(offset !== undefined && { region: { byteOffset: offset } }),
        },
      },
    ],
    partialFingerprints: { 'finding/v1': `${code}:${shard}:${offset ?? 'file'}:${uriOf(file.name)}` },
    properties: { subject },
  }
}

/** Writes a report as a SARIF 2.1.0 log of one run. */
export function toSarif(report: AuditReport, options: FormatOptions = {}): object {
  checkReport('toSarif()', report, options)
  const { files } = report
  const { version } = options
  const findings = files.flatMap((file) => file.findings)
  const rules = [...new Set(findings.map(({ code }) => code))].sort()
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'ggufscope',
            informationUri: 'https://github.com/ggufscope/ggufscope',
            ...(version !== undefined && { version }),
            rules: rules.map((id) => ({
              id,
              shortDescription: { text: titleOf(id) },
              defaultConfiguration: { level: kSeverities[findings.find(({ code }) => code === id)!.level] },
            })),
          },
        },
        artifacts: files.map(({ name, size, hashes }) => {
          const sha256 = hashes?.files.length === 1 ? hashes.files[0]!.sha256 : undefined
          return {
            location: { uri: uriOf(name) },
            ...(size !== undefined && { length: size }),
            ...(sha256 !== undefined && { hashes: { 'sha-256': sha256 } }),
          }
        }),
        results: files.flatMap((file, i) => file.findings.map((one) => resultOf(file, i, one, rules))),
        columnKind: 'utf16CodeUnits',
      },
    ],
  }
}
