// An audit as Markdown, for comments and summaries. Texts of the file become plain text: no links, images or mentions.
import { counted } from '../api/counted.js'
import { countFindings, kSeverities, publicName } from './levels.js'
import { checkReport } from './report-checks.js'
import type { AuditedFile, AuditReport, FileHashes } from './types.js'

const kSpecial = /[&<>`*_~|[\]()!@#\\]/g
// Longer values tell nothing in a table.
const kMaxValue = 200
/** Rows of a table; more tell nothing new. */
export const kMaxRows = 100

/** A text of the file, on one line and without any mark of Markdown. */
export function plainText(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  const short = line.length > kMaxValue ? `${line.slice(0, kMaxValue - 3)}...` : line
  return short.replaceAll(kSpecial, (mark) => `&#${mark.charCodeAt(0)};`).replaceAll('://', '&#58;//')
}

/** A table, of at most kMaxRows rows; nothing without rows. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return []
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const shown = rows.slice(0, kMaxRows).map(line)
  const more = rows.length > kMaxRows ? ['', `${rows.length - kMaxRows} more rows.`] : []
  return [line(head), line(head.map(() => '---')), ...shown, ...more, '']
}

function hashRows({ files, tensors }: FileHashes): string[][] {
  const rowsOf = (name: string, hashes: object): string[][] =>
    Object.entries(hashes).map(([algorithm, hash]) => [plainText(name), algorithm, `\`${String(hash)}\``])
  return [
    ...files.flatMap(({ name = 'file', hashes, sha256 }) => [
      ...rowsOf(`all bytes of ${name}`, { sha256 }),
      ...rowsOf(`tensor data of ${name}`, hashes),
    ]),
    ...tensors.flatMap(({ name, hashes }) => rowsOf(name, hashes)),
  ]
}

function sectionOf(file: AuditedFile): string[] {
  const { findings, provenance, hashes } = file
  const facts = [
    file.architecture,
    file.fileType,
    ...(file.parameters > 0 ? [`${file.parameters} parameters`] : []),
    file.license,
  ]
  const described = facts.filter((fact) => fact !== undefined).map(plainText)
  return [
    `## ${plainText(publicName(file.name))}`,
    '',
    ...(described.length > 0 ? [described.join(', '), ''] : []),
    ...(findings.length === 0 ? ['No findings.', ''] : []),
    ...tableOf(
      ['level', 'rule', 'offset', 'finding'],
      findings.map(({ level, code, offset, message }) => [
        kSeverities[level],
        plainText(code),
        offset === undefined ? '' : String(offset),
        plainText(message),
      ]),
    ),
    ...(provenance.length > 0 ? ['### Provenance', ''] : []),
    ...tableOf(
      ['key', 'value'],
      provenance.map(({ key, value }) => [plainText(key), plainText(value)]),
    ),
    ...(hashes ? ['### Hashes', '', ...tableOf(['of', 'algorithm', 'hash'], hashRows(hashes))] : []),
  ]
}

/** Writes a report as Markdown. */
export function toMarkdown(report: AuditReport): string {
  checkReport('toMarkdown()', report)
  const { error, warning, note } = countFindings(report)
  const { files, duplicates } = report
  const groups = duplicates.map(({ bytes, type, tensors }) => [
    type,
    String(bytes),
    tensors.map(({ file, name }) => plainText(files.length > 1 ? `${file + 1}: ${name}` : name)).join(', '),
  ])
  return [
    '# Audit',
    '',
    `${counted(error, 'error')}, ${counted(warning, 'warning')}, ${counted(note, 'note')} in ${counted(files.length, 'file')}.`,
    '',
    ...files.flatMap(sectionOf),
    ...(groups.length > 0 ? ['## Tensors with the same data', ''] : []),
    ...tableOf(['type', 'bytes of each', files.length > 1 ? 'file: tensor' : 'tensors'], groups),
  ].join('\n')
}
