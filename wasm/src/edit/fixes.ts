// The key or tensor that a finding is about, and changes that fix the finding if no choice is needed.
import { openedFile } from '../file/opened.js'
import { checkArgument, object, type Check } from '../api/checks.js'
import type { Change, ChangeValue } from '../api/edit.js'
import type { GgufFile } from '../api/file.js'
import type { Finding } from '../api/findings.js'
import type { LazyArray, MetadataValue, Scalar } from '../api/metadata.js'
import { GgufBuilder } from './builder.js'
import { applyChanges } from './changes.js'
import { kMixtures } from './mixtures.js'

/** At most one of: a key of the file, a key that the file lacks, a tensor. */
export interface FindingSubject {
  readonly key?: string
  readonly missingKey?: string
  readonly tensor?: string
}

export interface Fix {
  /** what the fix does, as an imperative: "Remove the key" */
  readonly title: string
  readonly changes: readonly Change[]
}

const kWidths: Readonly<Record<string, number>> = {
  u8: 1,
  i8: 1,
  bool: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  u64: 8,
  i64: 8,
  f64: 8,
}
const isArray = (value: MetadataValue | undefined): value is LazyArray => typeof value === 'object'
const bytesIn = (text: string): number => new TextEncoder().encode(text).length

interface Place {
  readonly key: string
  /** from the beginning of the key to the end of the value; to is Infinity if the end is unknown */
  readonly from: number
  readonly to: number
}

const places = new WeakMap<GgufFile, readonly Place[]>()

/** The positions of a file's keys, in the order of the file. */
function placesOf(file: GgufFile): readonly Place[] {
  const known = places.get(file)
  if (known) return known
  const { metadata } = file
  const lengthBytes = file.version === 1 ? 4 : 8
  const all = [...metadata.keys()].map((key) => {
    return { key, value: metadata.get(key), type: metadata.type(key), at: metadata.offset(key) ?? 0 }
  })
  const rows = [...all, ...metadata.repeated.map((one) => ({ ...one, at: one.offset }))]
  const list = rows
    .map(({ key, value, type, at }) => {
      const behindType = type === 'array' ? 4 + lengthBytes : type === 'string' ? lengthBytes : 0
      const width = isArray(value) ? kWidths[value.type] : kWidths[type ?? '']
      const count = isArray(value) ? value.length : 1
      const length =
        typeof value === 'string' ? bytesIn(value) : width === undefined ? Infinity : width * count
      return { key, from: at - behindType - 4 - bytesIn(key), to: at + length }
    })
    .sort((a, b) => a.from - b.from)
  const made = list.map((one, i) => ({
    ...one,
    to: Math.min(one.to, (list[i + 1]?.from ?? Infinity) - lengthBytes),
  }))
  places.set(file, made)
  return made
}

const kMissing = [/ requires ([a-z0-9_.-]+)/, /^([a-z0-9_.]+) is missing/, / but ([a-z0-9_.]+) is missing/]
const kOthers = /without ([a-z0-9_]+\.[a-z0-9_.]+)|no (general\.quantization_version)/

const isFinding: Check = (value) =>
  object(value) === undefined &&
  ['code', 'message'].every((name) => typeof (value as Record<string, unknown>)[name] === 'string')
    ? undefined
    : 'a finding of lint()'

function checkBoth(what: string, file: unknown, finding: unknown): void {
  checkArgument(what, 'file', file, openedFile)
  checkArgument(what, 'finding', finding, isFinding)
}

/** The tensor that a message names. A message cuts a long name: "blk.0.attn..." */
function tensorNamed(file: GgufFile, quoted: string): FindingSubject {
  const start = quoted.endsWith('...') ? quoted.slice(0, -3) : undefined
  const tensor =
    file.tensor(quoted) ??
    (start === undefined ? undefined : file.tensors.find(({ name }) => name.startsWith(start)))
  return tensor ? { tensor: tensor.name } : {}
}

/** Returns the key or tensor that a finding is about. */
export function findingSubject(file: GgufFile, finding: Finding): FindingSubject {
  checkBoth('findingSubject()', file, finding)
  const { message, offset, shard } = finding
  const missing = [...kMissing, kOthers].map((pattern) => pattern.exec(message)?.slice(1).find(Boolean))
  const missingKey = missing.find((key) => key?.includes('.') === true && !file.metadata.has(key))
  if (
    missingKey !== undefined &&
    file.tensor(missingKey) === undefined &&
    !/\.(weight|bias)$/.test(missingKey)
  )
    return { missingKey }
  const quoted = /tensors?,? '([^']*)'/.exec(message)?.[1]
  if (quoted !== undefined) return tensorNamed(file, quoted)
  // The engine names a tensor without quotes.
  const named = /^tensor (\S+) /.exec(message)?.[1]
  if (named !== undefined && file.tensor(named)) return { tensor: named }
  if (shard > 0 || offset === undefined) return {}
  const place = placesOf(file).find(({ from, to }) => offset >= from && offset < Math.max(to, from + 1))
  return place && Number.isFinite(place.to) ? { key: place.key } : keyNamed(file, message, offset, place)
}

/**
 * The end of a last key that is an array of strings is unknown: the message must name the key or one of its entries.
 */
function keyNamed(file: GgufFile, message: string, offset: number, place: Place | undefined): FindingSubject {
  if (place === undefined || offset >= file.dataOffset) return {}
  return message.includes(place.key) || /^(byte )?(token|merge) \d/.test(message) ? { key: place.key } : {}
}

interface Context {
  readonly file: GgufFile
  readonly finding: Finding
  readonly subject: FindingSubject
  /** the key that the finding is about */
  readonly key: string
  readonly value: MetadataValue | undefined
}
type MakeFix = (context: Context) => Fix | undefined

const plain = (value: Scalar): ChangeValue =>
  typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)) ? String(value) : value

const remove: MakeFix = ({ key }) => ({ title: 'Remove the key', changes: [{ change: 'remove', key }] })

const set = (title: string, key: string, value: ChangeValue, type?: string): Fix => ({
  title,
  changes: [{ change: 'set', key, value, ...(type === undefined ? {} : { type }) }],
})

/** The same value in the type that readers expect. */
const retype: MakeFix = ({ key, value }) => {
  if (value === undefined || isArray(value)) return undefined
  const number = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
  for (const one of new Set<Scalar>([value, number, String(value)])) {
    const builder = new GgufBuilder()
    try {
      builder.set(key, one)
    } catch {
      continue
    }
    return set(`Store it as ${builder.type(key)!}`, key, plain(one), builder.type(key))
  }
  return undefined
}

const align: MakeFix = () => set('Align the tensors to 32 bytes', 'general.alignment', 32, 'u32')

const renamed: MakeFix = ({ file, finding, key }) => {
  const to = /: ([^ ]+) (?:says it today|was probably meant)/.exec(finding.message)?.[1]
  if (to === undefined || to === 'general.dataset.count') return undefined
  if (file.metadata.has(to))
    return { title: `Remove it: ${to} is there`, changes: [{ change: 'remove', key }] }
  return { title: `Rename it to ${to}`, changes: [{ change: 'rename', key, to }] }
}

const fileType: MakeFix = (context) => {
  const stored = context.file.summary().quantization[0]?.type
  const numbers = Object.entries(kMixtures).filter(([, mixture]) => mixture.type === stored)
  const [only] = numbers
  return numbers.length === 1 && only
    ? set(`Set it to ${only[1].fileType} (${only[0]})`, context.key, only[1].fileType, 'u32')
    : remove(context)
}

const keepFirst: MakeFix = ({ file, key, value }) => {
  const type = file.metadata.type(key)
  if (value === undefined || type === undefined) return undefined
  const first: Change = isArray(value)
    ? { change: 'entries', key }
    : { change: 'set', key, value: plain(value), type }
  return { title: 'Keep the first, remove the others', changes: [{ change: 'remove', key }, first] }
}

const text =
  (title: string, mend: (text: string) => string): MakeFix =>
  ({ key, value }) =>
    typeof value === 'string' ? set(title, key, mend(value), 'string') : undefined

const cutToTokens: MakeFix = ({ file, key, value }) => {
  const tokens = file.metadata.get('tokenizer.ggml.tokens')
  if (!isArray(tokens) || !isArray(value) || value.length - tokens.length > 100_000) return undefined
  const extra = Array.from({ length: value.length - tokens.length }, (_, i) => tokens.length + i)
  return {
    title: 'Remove the entries beyond the last token',
    changes: [{ change: 'entries', key, remove: extra }],
  }
}

/** One row for each rule. Rules whose fix needs a person's choice, or the original model, have no row. */
const kFixes: Readonly<Record<string, MakeFix>> = {
  'empty-key': () => ({ title: 'Remove the key', changes: [{ change: 'remove', key: '' }] }),
  'duplicate-key': keepFirst,
  'bool-value': ({ key, value }) =>
    typeof value === 'boolean' ? set(`Set it to ${value}`, key, value, 'bool') : undefined,
  'string-utf8': text('Replace the broken characters', (value) => value),
  'string-nul': text('Remove the NUL characters', (value) => value.replaceAll('\0', '')),
  'value-type': retype,
  'loader-type': retype,
  'special-id-type': retype,
  'kind-key-type': retype,
  'alignment-type': align,
  'alignment-power-of-two': align,
  'alignment-multiple-of-8': align,
  'data-alignment': align,
  'deprecated-key': renamed,
  'mistyped-key': renamed,
  'general-type': remove,
  uuid: remove,
  'sampling-range': remove,
  'special-id-range': remove,
  'special-id-missing': ({ key }) => set('Do not add the token', key, false, 'bool'),
  'huggingface-json': remove,
  'quantization-version': () => set('Set the version to 2', 'general.quantization_version', 2, 'u32'),
  'file-type-known': fileType,
  'file-type-present': fileType,
  'tokenizer-array-long': cutToTokens,
  'separator-spelling': ({ value }) =>
    typeof value === 'number'
      ? set("Add the key in llama.cpp's spelling", 'tokenizer.ggml.seperator_token_id', value, 'u32')
      : undefined,
  'tensor-unknown': ({ subject: { tensor } }) =>
    tensor === undefined
      ? undefined
      : { title: 'Remove the tensor', changes: [{ change: 'remove-tensor', name: tensor }] },
}
const kKeyless = new Set(['empty-key', 'quantization-version', 'tensor-unknown', 'data-alignment'])

/**
 * The fix of a finding, tested on a builder of the file; undefined if there is none, or if it needs a choice. Fixes
 * change keys and names of tensors, never values of tensors.
 */
export async function fixOf(file: GgufFile, finding: Finding): Promise<Fix | undefined> {
  checkBoth('fixOf()', file, finding)
  const make = Object.hasOwn(kFixes, finding.code) ? kFixes[finding.code] : undefined
  if (!make || file.container !== 'gguf' || finding.shard > 0) return undefined
  const subject = findingSubject(file, finding)
  const { key = '' } = subject
  if (key === '' && !kKeyless.has(finding.code)) return undefined
  const fix = make({ file, finding, subject, key, value: file.metadata.get(key) })
  if (!fix) return undefined
  const builder = await file.edit({ allowDamaged: true })
  try {
    applyChanges(file, builder, fix.changes)
  } catch {
    // The format or the catalogue forbids these changes: they are not a fix.
    return undefined
  }
  return fix
}
