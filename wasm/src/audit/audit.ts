// Audits files before they are published: lint, what load() refuses, chat templates, provenance, hashes, duplicates.
import {
  anything,
  callback,
  checkArgument,
  checkOptions,
  either,
  flag,
  listOf,
  object,
  signal as signalCheck,
  text,
  type Check,
} from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { Finding } from '../api/findings.js'
import { openedFile, type OpenedFile } from '../file/opened.js'
import { duplicateFindings, findDuplicates } from './duplicates.js'
import { hashFile, hashPlan, kAlgorithmCheck } from './hash.js'
import { findInvisible } from './invisible.js'
import { originsOf, provenanceFindings, provenanceOf, textOf, textsOf } from './provenance.js'
import { auditTemplates, kFoundByAudit } from './templates.js'
import type {
  AuditedFile,
  AuditFinding,
  AuditOptions,
  AuditReport,
  AuditSubject,
  FileHashes,
} from './types.js'

const kAuditChecks: Readonly<Record<keyof AuditOptions, Check>> = {
  signal: signalCheck,
  onProgress: callback,
  hash: kAlgorithmCheck,
  load: flag,
  workerUrl: either(text, object),
  wasmUrl: anything,
  assets: either(text, object),
}

const kTemplate = /^tokenizer\.chat_template(?:\.|$)/

/** Notes on texts with characters that nobody sees. Chat templates have their own finding. */
function textFindings({ metadata }: GgufFile): Finding[] {
  return [...metadata.keys()].flatMap((key): Finding[] => {
    const value = metadata.get(key)
    if (typeof value !== 'string' || kTemplate.test(key) || !key.startsWith('general.')) return []
    const found = findInvisible(value)
    if (!found) return []
    const message = `${key} has ${found.count} ${found.what} that nobody sees`
    return [{ level: 'note', code: 'invisible-text', message, offset: metadata.offset(key)!, shard: 0 }]
  })
}

async function findingsOf(file: OpenedFile, options: AuditOptions): Promise<AuditFinding[]> {
  const { signal, load = true } = options
  const all: AuditFinding[] = []
  const collect = (subject: AuditSubject, findings: readonly Finding[]): void =>
    void all.push(...findings.map((finding) => ({ ...finding, subject })))
  // Damage has more to say about bytes after the data.
  const behind = (await file.damage({ signal })).filter(({ code }) => code === 'trailing-data')
  const linted = file
    .lint()
    .map((one) => behind.find(({ code, shard }) => code === one.code && shard === one.shard) ?? one)
  const ofTemplates = linted.filter(({ code }) => code.startsWith('template-'))
  collect(
    'file',
    linted.filter((one) => !ofTemplates.includes(one)),
  )
  collect('file', await file.lintKeys({ signal }))
  collect('template', await file.lintTemplates({ signal }))
  // Other errors would be found again.
  if (load && !all.some(({ level }) => level === 'error')) {
    const { lintLoad } = await import('../engine/index.js')
    const { wasmUrl, assets, workerUrl } = options
    collect('load', await lintLoad(file, { signal, wasmUrl, assets, workerUrl }))
  }
  collect(
    'template',
    ofTemplates.filter(({ code }) => !kFoundByAudit.has(code)),
  )
  collect('template', await auditTemplates(file, { signal }))
  collect('text', textFindings(file))
  collect('provenance', provenanceFindings(file.metadata, file.summary().kind))
  return all
}

function describe(file: OpenedFile): Omit<AuditedFile, 'findings' | 'hashes'> {
  const { metadata } = file
  const summary = file.summary()
  const sizes = file.shards.map(({ size }) => size)
  return {
    name: file.name,
    size: sizes.every((size) => size !== undefined) ? sizes.reduce((sum, size) => sum + size, 0) : undefined,
    architecture: summary.architecture,
    title: summary.name,
    fileType: summary.fileType,
    parameters: summary.parameters,
    license: summary.license ?? textOf(metadata, 'general.license.name'),
    author: summary.author,
    organization: summary.organization,
    version: textOf(metadata, 'general.version'),
    description: summary.description,
    url: summary.url ?? textOf(metadata, 'general.repo_url'),
    baseModels: originsOf(metadata, 'base_model'),
    datasets: originsOf(metadata, 'dataset'),
    tags: textsOf(metadata, 'general.tags'),
    provenance: provenanceOf(metadata),
  }
}

/** The bytes to hash of a file, or why its bytes are not known: damage that lint() tells of. */
async function bytesToHash(file: OpenedFile): Promise<number | GgufError> {
  try {
    return (await hashPlan(file)).total
  } catch (error) {
    if (error instanceof GgufError && error.code !== 'closed') return error
    throw error
  }
}

/** The hashes of each file that is whole, and for others the reason why there are none. */
async function hashAll(
  files: readonly OpenedFile[],
  { hash, signal, onProgress }: AuditOptions,
): Promise<(FileHashes | GgufError | undefined)[]> {
  if (hash === undefined) return files.map(() => undefined)
  const totals = await Promise.all(files.map(bytesToHash))
  const sizes = totals.map((total) => (typeof total === 'number' ? total : 0))
  const all = sizes.reduce((sum, size) => sum + size, 0)
  const hashes: (FileHashes | GgufError)[] = []
  let before = 0
  for (const [i, file] of files.entries()) {
    const total = totals[i]!
    const done = before
    const onBytes = (loaded: number) => onProgress?.(done + loaded, all)
    hashes.push(
      typeof total === 'number'
        ? await hashFile(file, { algorithm: hash, signal, onProgress: onBytes })
        : total,
    )
    before += sizes[i]!
  }
  return hashes
}

function notHashed({ message }: GgufError): AuditFinding {
  const text = `there are no hashes: ${message.replace(/\.$/, '')}`
  return { subject: 'file', level: 'note', code: 'not-hashed', message: text, shard: 0 }
}

/**
 * Audits one or several open files: lint(), lintTemplates(), lintKeys() and lintLoad(); chat templates that hide text,
 * hold addresses or try to leave the sandbox; texts with invisible characters; keys that say where the model comes from.
 * It reads headers only. With `hash`, all bytes are read: tensors and files get hashes, and tensors with the same data
 * are found, also across files. A damaged file has a note
 * instead of hashes. Error: 'invalid-argument'.
 */
export async function audit(
  files: GgufFile | readonly GgufFile[],
  options: AuditOptions = {},
): Promise<AuditReport> {
  checkArgument('audit()', 'files', files, either(openedFile, listOf(openedFile, 'an array of them')))
  checkOptions('audit()', options, kAuditChecks)
  const all = (Array.isArray(files) ? files : [files]) as OpenedFile[]
  const found: AuditFinding[][] = []
  for (const file of all) {
    options.signal?.throwIfAborted()
    await file.completeHeader({ signal: options.signal })
    found.push(await findingsOf(file, options))
  }
  const hashed = await hashAll(all, options)
  const hashes = hashed.map((one) => (one instanceof GgufError ? undefined : one))
  const duplicates = findDuplicates(all, hashes)
  return {
    files: all.map((file, i) => {
      const failure = hashed[i]
      return {
        ...describe(file),
        findings: [
          ...found[i]!,
          ...(failure instanceof GgufError ? [notHashed(failure)] : []),
          ...duplicateFindings(i, file, duplicates),
        ],
        hashes: hashes[i],
      }
    }),
    duplicates,
  }
}
