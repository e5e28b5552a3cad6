// Plans a new file: keys and tensors, and the changes to them.
import { kAssetChecks, kBuildChecks, kQuantizeChecks, kSplitChecks } from './checks.js'
import {
  checkArgument,
  checkOptions,
  either,
  integer,
  kReadChecks,
  list,
  listOf,
  number,
  object,
  oneOf,
  text,
} from '../api/checks.js'
import type { AssetOptions } from '../api/assets.js'
import { GgufError } from '../api/errors.js'
import type { GgufBuilder as Builder } from '../api/file.js'
import { mustBeWhole } from '../file/damage.js'
import type { OpenedFile, Part } from '../file/opened.js'
import { kScalars } from '../header/header.js'
import { BlobSource, BytesSource } from '../sources/bytes.js'
import type { GgufFile } from '../api/file.js'
import type { LazyArray, ValueType } from '../api/metadata.js'
import type { ByteSource } from '../api/source.js'
import type { KeyEntry, Layout, TensorEntry } from './entries.js'
import { layOut } from './layout.js'
import { modernize } from './legacy.js'
import type {
  AddTokensOptions,
  BuilderOptions,
  BuildOptions,
  EditOptions,
  MergeReport,
  NewRows,
  NewToken,
  SplitOptions,
  TensorData,
  TensorPlan,
  QuantizeReport,
  WriteType,
  WriteValue,
} from '../api/edit.js'
import type { MergeAdapterOptions, RequantizeOptions } from '../api/file.js'
import { openFile } from './open-file.js'
import { addTokens, removeTokens, type ChangedKeys } from './vocabulary.js'
import { rowsOf, withRows } from './token-rows.js'
import { describeRow, isStandard, standardKey, typeToWrite } from './key-types.js'
import { encodeValue } from './values.js'
import type { WrittenFile } from './written-file.js'

const kMaxKeyBytes = 65_535
const kMaxNameBytes = 64
// Largest number of dimensions in ggml.
const kMaxDimensions = 4

const bytesIn = (text: string): number => new TextEncoder().encode(text).length
const invalid = (message: string): GgufError => new GgufError('invalid-argument', message)
const quoted = (text: unknown): string =>
  typeof text === 'string'
    ? JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text)
    : String(text)

/** The initial content of a builder. */
interface Beginning {
  readonly keys: KeyEntry[]
  readonly tensors: TensorEntry[]
  /** the only file, or the first of several */
  readonly part: Part
  /** the file whose tensor data may be copied as one range */
  readonly alone: boolean
  /** not one shard of several */
  readonly whole: boolean
  readonly hosting: AssetOptions | undefined
}

function sourceOf(data: TensorData, name: string): ByteSource {
  if (typeof Blob !== 'undefined' && data instanceof Blob) return new BlobSource(data)
  if (data instanceof ArrayBuffer) return new BytesSource(new Uint8Array(data))
  if (ArrayBuffer.isView(data))
    return new BytesSource(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
  if (typeof data === 'object' && data !== null && 'read' in data) return data
  throw invalid(`The data of tensor ${name} are floats, bytes, a Blob or a ByteSource, not ${typeof data}.`)
}

/**
 * Builds a GGUF file from keys and tensors: from scratch, or from an opened file (`file.edit()`). Arrays and tensor
 * data of opened files are read when the new file is written.
 */
export class GgufBuilder implements Builder {
  readonly #keys: KeyEntry[] = []
  readonly #tensors: TensorEntry[] = []
  readonly #begun: Beginning | undefined
  readonly #hosting: AssetOptions | undefined
  readonly #isWhole: boolean
  #touched = false
  #quantization: QuantizeReport | undefined
  #checked = false

  /** beginning: the initial content, which edit() passes. */
  constructor(options: BuilderOptions = {}, beginning?: Beginning) {
    checkOptions('GgufBuilder', options, kAssetChecks)
    this.#hosting = beginning?.hosting ?? options
    this.#begun = beginning
    this.#isWhole = beginning?.whole ?? true
    if (!beginning) return
    this.#keys = beginning.keys
    this.#tensors = beginning.tensors
  }

  keys(): string[] {
    return this.#keys.map(({ key }) => key)
  }

  has(key: string): boolean {
    return this.#keys.some((entry) => entry.key === key)
  }

  type(key: string): ValueType | undefined {
    const entry = this.#keys.find((one) => one.key === key)
    return entry?.from.type
  }

  get tensors(): readonly TensorPlan[] {
    return this.#tensors.map(({ name, shape, type }) => ({ name, shape, type }))
  }

  set(key: string, value: WriteValue, type?: WriteType): this {
    const index = this.#keys.findIndex((entry) => entry.key === key)
    if (index < 0) checkKey(key)
    if (type !== undefined) checkArgument('set()', 'type', type, either(text, object))
    if (key === 'general.alignment') checkAlignment(value)
    const from = encodeValue(value, type ?? typeToWrite(key, value, this.#keys[index]?.from), key)
    this.#touched = true
    this.#replace(key, from)
    return this
  }

  copy(file: GgufFile, key: string, as = key): this {
    checkArgument('copy()', 'key', key, text)
    const { header } = openFile(file)
    const index = header.keys().indexOf(key)
    if (index < 0) throw new GgufError('not-found', `There is no key ${quoted(key)} in that file.`)
    if (as !== key && !this.has(as)) checkKey(as)
    this.#touched = true
    this.#replace(as, { ...header.keyEntries()[index]!, header, key })
    return this
  }

  removeSplit(): this {
    for (const key of this.keys()) if (key.startsWith('split.') && this.has(key)) this.remove(key)
    return this
  }

  remove(key: string): this {
    this.#key(key)
    this.#touched = true
    for (let i = this.#keys.length - 1; i >= 0; i--) if (this.#keys[i]!.key === key) this.#keys.splice(i, 1)
    return this
  }

  rename(key: string, to: string): this {
    const entry = this.#key(key)
    if (to === key) return this
    checkKey(to)
    if (this.has(to)) throw new GgufError('duplicate', `There is a key ${quoted(to)} already.`)
    if (!isStandard(to, entry.from))
      throw invalid(
        `${to} is ${describeRow(standardKey(to)!)}, and ${quoted(key)} holds another type: set ${to} and remove the other.`,
      )
    this.#touched = true
    entry.key = to
    return this
  }

  addTensor(name: string, shape: readonly number[], type: string, data: TensorData): this {
    this.#checkName(name)
    checkArgument('addTensor()', 'shape', shape, list)
    checkArgument('addTensor()', 'type', type, text)
    if (shape.length > kMaxDimensions || !shape.every((n) => Number.isSafeInteger(n) && n >= 0))
      throw new GgufError('bad-shape', `Tensor ${name}: [${shape.join(', ')}] is not a shape.`)
    const from = { source: sourceOf(data, name), type: data instanceof Float32Array ? 'F32' : type }
    this.#touched = true
    this.#tensors.push({ name, shape: [...shape], type, importance: undefined, from })
    return this
  }

  renameTensor(name: string, to: string): this {
    const entry = this.#tensor(name)
    if (to === name) return this
    this.#checkName(to)
    this.#touched = true
    entry.name = to
    return this
  }

  removeTensor(name: string): this {
    const entry = this.#tensor(name)
    this.#touched = true
    this.#tensors.splice(this.#tensors.indexOf(entry), 1)
    return this
  }

  addTokens(tokens: readonly NewToken[], options: AddTokensOptions = {}): this {
    checkOptions('addTokens()', options, { rows: oneOf('mean', 'zeros') })
    checkArgument('addTokens()', 'tokens', tokens, listOf(object, 'an array of { text }'))
    const { rows = 'mean' } = options
    if (tokens.length === 0) return this
    return this.#setVocabulary(addTokens(this.#keys, tokens, rowsOf(this.#tensors)), tokens.length, rows)
  }

  removeTokens(tokens: readonly (number | string)[]): this {
    checkArgument(
      'removeTokens()',
      'tokens',
      tokens,
      listOf(either(integer(), text), 'an array of ids and texts'),
    )
    if (tokens.length === 0) return this
    return this.#setVocabulary(removeTokens(this.#keys, tokens, rowsOf(this.#tensors)), 0, 'zeros')
  }

  async quantize(mixture: string, options: RequantizeOptions = {}): Promise<this> {
    checkArgument('quantize()', 'mixture', mixture, text)
    checkOptions('quantize()', options, kQuantizeChecks)
    options.signal?.throwIfAborted()
    const { decide } = await import('./quantize.js')
    const facts = {
      architecture: this.#text('general.architecture'),
      adapter: this.#text('general.type') === 'adapter',
      number: (key: string) => this.#number(key),
    }
    const { report, importance, apply } = await decide(this.#tensors, mixture, facts, options, this.#hosting)
    this.#quantization = report
    if (options.dryRun) return this
    apply()
    this.#touched = true
    if (this.#isWhole) this.removeSplit()
    this.#checked = true
    const put = (key: string, value: WriteValue | undefined, type: 'u32' | 'string'): void => {
      if (value !== undefined) this.#replace(key, encodeValue(value, type, key))
    }
    put('general.file_type', report.fileType, 'u32')
    put('general.quantization_version', 2, 'u32')
    if (importance) {
      put('quantize.imatrix.file', options.importanceFile, 'string')
      put('quantize.imatrix.dataset', importance.datasets[0], 'string')
      put('quantize.imatrix.entries_count', importance.size, 'u32')
      put('quantize.imatrix.chunks_count', importance.chunks || undefined, 'u32')
    }
    return this
  }

  async mergeAdapter(adapter: GgufFile, options: MergeAdapterOptions = {}): Promise<MergeReport> {
    checkOptions('mergeAdapter()', options, { ...kReadChecks, scale: number(), importance: object })
    options.signal?.throwIfAborted()
    const { merge } = await import('./merge-adapter.js')
    const architecture = this.#text('general.architecture')
    const { report, changes } = await merge(adapter, this.#tensors, architecture, options, this.#hosting)
    this.#tensors.splice(0, Infinity, ...this.#tensors.map((entry) => changes.get(entry) ?? entry))
    this.#touched = this.#checked = true
    if (this.#isWhole) this.removeSplit()
    return report
  }

  get quantization(): QuantizeReport | undefined {
    return this.#quantization
  }

  async build(options: BuildOptions = {}): Promise<WrittenFile> {
    checkOptions('build()', options, kBuildChecks)
    const file = await layOut(this.#layout(options))
    options.signal?.throwIfAborted()
    return file
  }

  async split(name: string, options: SplitOptions = {}): Promise<WrittenFile[]> {
    checkArgument('split()', 'name', name, text)
    checkOptions('split()', options, kSplitChecks)
    const { splitLayout } = await import('./split.js')
    const layouts = await splitLayout(this.#layout(options), name, options)
    options.signal?.throwIfAborted()
    return await Promise.all(layouts.map(layOut))
  }

  #layout({ version, endianness, signal }: BuildOptions): Layout {
    signal?.throwIfAborted()
    if (version !== undefined && version !== 2 && version !== 3)
      throw new GgufError('unsupported', `Version ${String(version)} cannot be written: 2 or 3.`)
    const begun = this.#begun
    const header = begun?.part.header
    const facts = header?.facts()
    const before = header?.container === 'gguf' ? facts!.version : undefined
    const big = endianness === undefined ? (facts?.bigEndian ?? false) : endianness === 'big'
    return {
      keys: this.#keys,
      tensors: this.#tensors,
      version: version ?? (before === 2 ? 2 : 3),
      bigEndian: big,
      base: begun?.alone ? begun.part : undefined,
      checked: this.#checked,
      untouched: !this.#touched && (version ?? before) === before && big === facts?.bigEndian,
      hosting: this.#hosting,
    }
  }

  #setVocabulary({ keys, count, removed }: ChangedKeys, added: number, rows: NewRows): this {
    if (!this.#isWhole)
      throw new GgufError(
        'unsupported',
        'One file of a split model cannot get another vocabulary: edit all files together.',
      )
    const tensors = this.#tensors.map((entry) =>
      withRows(entry, { count, removed, added, rows, hosting: this.#hosting }),
    )
    this.#keys.splice(0, Infinity, ...keys)
    this.#tensors.splice(0, Infinity, ...tensors)
    this.#touched = true
    return this
  }

  #replace(key: string, from: KeyEntry['from']): void {
    const index = this.#keys.findIndex((entry) => entry.key === key)
    if (index < 0) this.#keys.push({ key, from })
    else this.#keys[index] = { key, from }
  }

  #text(key: string): string | undefined {
    const from = this.#keys.find((entry) => entry.key === key)?.from
    if (from?.type !== 'string') return undefined
    return 'header' in from
      ? from.header.text(from.offset, from.length)
      : new TextDecoder().decode(from.bytes)
  }

  /** The number of a key; the first element if it is an array (numbers of heads that differ between layers). */
  #number(key: string): number | undefined {
    const from = this.#keys.find((entry) => entry.key === key)?.from
    const row = from && kScalars[from.type === 'array' ? from.elementType : from.type]
    if (!row || from.count === 0) return undefined
    const inHeader = 'header' in from
    const view = inHeader
      ? from.header.view(from.offset, from.length)
      : new DataView(from.bytes.buffer, from.bytes.byteOffset, from.bytes.byteLength)
    const little = !inHeader || !from.header.bigEndian
    return Number(row.get(view, 0, little))
  }

  #key(key: string): KeyEntry {
    const entry = this.#keys.find((one) => one.key === key)
    if (!entry) throw new GgufError('not-found', `There is no key ${quoted(key)}.`)
    return entry
  }

  #tensor(name: string): TensorEntry {
    const entry = this.#tensors.find((one) => one.name === name)
    if (!entry) throw new GgufError('not-found', `There is no tensor ${quoted(name)}.`)
    return entry
  }

  #checkName(name: string): void {
    if (typeof name !== 'string') throw invalid(`A tensor's name must be a string, not ${String(name)}.`)
    if (name === '' || bytesIn(name) > kMaxNameBytes)
      throw invalid(`${quoted(name)} is not a name of a tensor: 1 to ${kMaxNameBytes} bytes.`)
    if (this.#tensors.some((one) => one.name === name))
      throw new GgufError('duplicate', `There is a tensor ${quoted(name)} already.`)
  }
}

/**
 * The specification asks for segments in lower_snake_case. Real files have other characters, but only visible ASCII.
 */
function checkKey(key: string): void {
  if (typeof key !== 'string') throw invalid(`A key must be a string, not ${String(key)}.`)
  const strange = /[^\x21-\x7e]/u.exec(key)?.[0]
  if (strange === ' ') throw invalid(`${quoted(key)} is no key: it has a space.`)
  if (strange !== undefined)
    throw invalid(`${quoted(key)} is no key: ${quoted(strange)} is not visible ASCII.`)
  if (key === '' || key.length > kMaxKeyBytes)
    throw invalid(`${quoted(key)} is no key: it has 1 to ${kMaxKeyBytes} characters.`)
}

/** The alignment that a file already has may stay, whatever it is. Those that cannot be written fail in build(). */
function checkAlignment(value: WriteValue): void {
  if ((typeof value !== 'number' && typeof value !== 'bigint') || value <= 0) return
  if (Number.isInteger(Math.log2(Number(value)))) return
  throw new GgufError(
    'bad-alignment',
    `general.alignment must be a power of two, not ${String(value)}: llama.cpp refuses other files.`,
  )
}

/** Implements file.edit(). */
export function edit(file: OpenedFile, { shard, allowDamaged = false }: EditOptions = {}): GgufBuilder {
  const all = file.parts
  if (shard !== undefined && !(shard in all))
    throw invalid(`There is no shard ${shard}: the model has ${all.length}, from 0.`)
  if (!allowDamaged) mustBeWhole(file, shard)
  const parts = (shard === undefined ? all : [all[shard]]).filter((part) => part !== undefined)
  const [first] = parts
  if (!first)
    throw new GgufError(
      'missing-shard',
      `The first file of this model is not there, or is not the one to edit (shard ${shard}, from 0).`,
    )
  const { header } = first
  const entries = header.keyEntries()
  const keys = header.keys().map((key, index): KeyEntry => {
    return { key, from: { ...entries[index]!, header, key } }
  })
  const tensors = parts.flatMap((part) =>
    part.header.tensors(all.indexOf(part)).map((info, index): TensorEntry => ({
      name: info.name,
      shape: info.shape,
      type: info.type,
      importance: undefined,
      from: { file, part, index, info },
    })),
  )
  if (header.container !== 'gguf') {
    const { metadata } = file
    const text = metadata.get('general.architecture')
    const number = (key: string): number | undefined => {
      const value = metadata.get(key)
      return typeof value === 'number' ? value : undefined
    }
    const words = (): Uint8Array[] => {
      const tokens = metadata.get('tokenizer.ggml.tokens') as LazyArray | undefined
      return Array.from({ length: tokens?.length ?? 0 }, (_, i) => tokens!.bytesAt(i)!)
    }
    const today = modernize(typeof text === 'string' ? text : undefined, keys, tensors, number, words)
    return new GgufBuilder({}, { ...today, part: first, alone: false, whole: true, hosting: file.hosting })
  }
  const alone = parts.length === 1
  return new GgufBuilder(
    {},
    {
      keys: alone ? keys : keys.filter(({ key }) => !key.startsWith('split.')),
      tensors,
      part: first,
      alone,
      whole: all.length === 1 || !alone,
      hosting: file.hosting,
    },
  )
}
