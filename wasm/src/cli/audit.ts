// The command audit: checks files before they are published, and reports for people and for other tools.
import { audit } from '../audit/audit.js'
import { toCycloneDx } from '../audit/cyclonedx.js'
import { kHashAlgorithms } from '../audit/digests.js'
import { countFindings, kSeverities, publicName, type Severity } from '../audit/levels.js'
import { toMarkdown } from '../audit/markdown.js'
import { toSarif } from '../audit/sarif.js'
import type { AuditedFile, AuditReport, FileHashes, HashAlgorithm } from '../audit/types.js'
import type { GgufFile } from '../node.js'
import { kFiles, UsageError, type Command, type Context } from './command.js'
import { failureOf } from './failure.js'
import { counted, visible } from './format.js'
import { printFindings } from './lint.js'
import { bytesFile, saveAll, type Output } from './save.js'
import { packageVersion } from './version.js'

type Format = (report: AuditReport, version: string) => string
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** The reports that an option writes to a file, or with "-" to standard output. */
const kFormats: Readonly<Record<string, Format>> = {
  markdown: (report) => toMarkdown(report),
  sarif: (report, version) => json(toSarif(report, { version })),
  cyclonedx: (report, version) => json(toCycloneDx(report, { version })),
}

/** The entry of a file that cannot be opened: one finding says why. */
function unreadable(path: string, error: unknown): AuditedFile {
  const failure = failureOf(error)
  if (['usage', 'interrupted', 'internal'].includes(failure.code)) throw error
  const { code, message, offset } = failure
  return {
    name: path,
    size: undefined,
    architecture: undefined,
    title: undefined,
    fileType: undefined,
    parameters: 0,
    license: undefined,
    author: undefined,
    organization: undefined,
    version: undefined,
    description: undefined,
    url: undefined,
    baseModels: [],
    datasets: [],
    tags: [],
    provenance: [],
    hashes: undefined,
    findings: [
      { level: 'error', code, message, shard: 0, subject: 'file', ...(offset !== undefined && { offset }) },
    ],
  }
}

/** Audits all files that can be opened, in one report: tensors are compared across them. */
async function reportOf(context: Context): Promise<AuditReport> {
  const { positionals, values, signal, progress } = context
  const files: GgufFile[] = []
  const entries: (AuditedFile | undefined)[] = []
  try {
    for (const path of positionals)
      try {
        files.push(await context.open({ allowMissingShards: true }, path))
        entries.push(undefined)
      } catch (error) {
        signal.throwIfAborted()
        entries.push(unreadable(path, error))
      }
    const hash = (values['hash'] ?? []) as HashAlgorithm[]
    const report = await audit(files, {
      signal,
      load: values['no-load'] !== true,
      ...(hash.length > 0 && { hash, onProgress: progress.reading('hashing') }),
    })
    progress.clear()
    // The index of each opened file among all.
    const places = entries.flatMap((entry, i) => (entry === undefined ? [i] : []))
    let next = 0
    return {
      files: entries.map((entry, i) => entry ?? { ...report.files[next++]!, name: positionals[i] }),
      duplicates: report.duplicates.map((group) => ({
        ...group,
        tensors: group.tensors.map(({ file, name }) => ({ file: places[file]!, name })),
      })),
    }
  } finally {
    for (const file of files) file.close()
  }
}

function printHashes({ files, tensors }: FileHashes, { print }: Context): void {
  for (const { name = 'file', hashes, sha256 } of files) {
    print(`  sha256 of all bytes of ${visible(name)}: ${sha256}`)
    for (const [algorithm, hash] of Object.entries(hashes))
      print(`  ${algorithm} of its tensor data: ${hash}`)
  }
  for (const { name, hashes } of tensors)
    for (const [algorithm, hash] of Object.entries(hashes)) print(`  ${algorithm} ${hash} ${visible(name)}`)
}

function print(report: AuditReport, context: Context): void {
  const { print, style } = context
  for (const [i, { name, findings, provenance, hashes }] of report.files.entries()) {
    print(`${i === 0 ? '' : '\n'}${style.bold(`${visible(publicName(name))}:`)}`)
    printFindings(findings, context, kSeverities)
    for (const { key, value } of provenance) print(style.dim(`  ${visible(key)}: ${visible(value)}`))
    if (hashes) printHashes(hashes, context)
  }
  const groups = report.duplicates.length
  if (groups > 0) print(`\n${counted(groups, 'group')} of tensors with the same data`)
  const { error, warning, note } = countFindings(report)
  print(style.dim(`\n${counted(error, 'error')}, ${counted(warning, 'warning')}, ${counted(note, 'note')}`))
}

/** Writes the reports that options ask for. Returns true if one of them was printed. */
async function writeReports(context: Context, report: AuditReport): Promise<boolean> {
  const { values } = context
  const version = await packageVersion()
  const outputs: Output[] = []
  let isPrinted = false
  for (const [name, format] of Object.entries(kFormats)) {
    const path = values[name]
    if (typeof path !== 'string') continue
    const text = format(report, version)
    isPrinted ||= path === '-'
    if (path === '-') context.print(text.trimEnd())
    else {
      outputs.push({ path, file: bytesFile(new TextEncoder().encode(text)) })
    }
  }
  if (outputs.length > 0) await saveAll({ ...context, print: () => {} }, outputs)
  return isPrinted
}

const kFailOn = {
  error: ['error'],
  warning: ['error', 'warning'],
  note: ['error', 'warning', 'note'],
  never: [],
}

export const command: Command = {
  damage: 'told',
  arguments: [kFiles],
  options: {
    hash: {
      value: 'NAME',
      repeats: true,
      choices: kHashAlgorithms,
      help: 'also hash tensors and files, and find tensors with the same data; reads every byte',
    },
    'fail-on': {
      value: 'LEVEL',
      choices: Object.keys(kFailOn),
      help: 'the least severe finding that makes the status 1; default: error',
    },
    'no-load': { help: 'do not start the engine, which finds what it refuses' },
    markdown: { value: 'FILE', file: 'written', help: 'write the report as Markdown; "-": print it' },
    sarif: { value: 'FILE', file: 'written', help: 'write the findings as SARIF 2.1.0; "-": print them' },
    cyclonedx: {
      value: 'FILE',
      file: 'written',
      help: 'write a bill of materials, CycloneDX 1.6; "-": print it',
    },
    force: { help: 'replace existing reports' },
  },
  help: [
    'Checks files before they are published: lint, what the engine refuses, chat templates that hide text, hold addresses or try to leave the sandbox, and keys that say where the model comes from. Only headers are read, unless --hash is given.',
    'A file that cannot be opened is a finding of level error.',
  ],
  async run(context) {
    const { values } = context
    const printed = Object.keys(kFormats).filter((name) => values[name] === '-')
    if (printed.length + (context.json ? 1 : 0) > 1)
      throw new UsageError(`--${printed.join(', --')}: only one report can be printed`)
    const report = await reportOf(context)
    const isPrinted = await writeReports(context, report)
    if (context.json) context.printJson(report)
    else if (!isPrinted) print(report, context)
    const counts = countFindings(report)
    const levels = kFailOn[(values['fail-on'] ?? 'error') as keyof typeof kFailOn] as readonly Severity[]
    return levels.some((level) => counts[level] > 0) ? 1 : 0
  },
}
