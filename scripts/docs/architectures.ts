// Generates the names of architectures for the documentation's page of them, which includes the file: those that run, those
// that are refused with a reason, and those of llama.cpp that are not known yet.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { knownArchitectures, runnableArchitectures } from '../compare-architectures.ts'

const kTheirs = join(import.meta.dirname, '../../tests/fixtures/llama-architectures.json')

const list = (names: Iterable<string>): string =>
  [...names]
    .toSorted()
    .map((name) => `\`${name}\``)
    .join(', ')

const newerText = (names: readonly string[]): string => `
These names of llama.cpp are newer. \`load\` and \`file.memory()\` refuse them, because their layers are not known here yet:

${list(names)}
`

export function architectureNames(): string {
  const known = knownArchitectures()
  const { runs, refused } = runnableArchitectures()
  const theirs = JSON.parse(readFileSync(kTheirs, 'utf8')) as string[]
  const newer = theirs.filter((name) => !known.has(name))
  const reasons = [...refused].toSorted().map(([name, reason]) => `| \`${name}\` | ${reason} |`)
  return `Models of these architectures run here:

${list([...runs].filter((name) => known.has(name)))}

\`load\` refuses these before it reads any weight:

| name | why it does not run |
| --- | --- |
${reasons.join('\n')}
${newer.length === 0 ? '' : newerText(newer)}`
}
