// The header in the heap of the inspect module: facts, keys, tensors.
import type { Bytes } from '../api/arrays.js'
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import type { InspectModule, Span, WasmDocument } from '../inspect.js'
import type { Finding } from '../api/findings.js'
import type { Container } from '../api/file.js'
import type { Scalar, ValueType } from '../api/metadata.js'
import type { ReadOptions } from '../api/source.js'
import type { TensorInfo, TensorType } from '../api/tensors.js'

/** Which rules of lint run: the usual ones, also the strict ones, or only the one on missing tensors. */
export type LintScope = (typeof kScopes)[number]

/** In the order of the bits of the core's LintScope. */
const kScopes = ['usual', 'strict', 'missing'] as const

/** Counts declared by the file, and counts parsed so far. */
export interface Facts {
  readonly version: number
  readonly bigEndian: boolean
  readonly alignment: number
  readonly dataOffset: number
  readonly keyCount: number
  readonly tensorCount: number
  readonly keysSeen: number
  readonly tensorsSeen: number
  /** the K types have super-blocks of 64 elements */
  readonly smallBlocks: boolean
}

/** In the order of the module's facts. */
const kFacts = [
  'version',
  'bigEndian',
  'alignment',
  'dataOffset',
  'keyCount',
  'tensorCount',
  'keysSeen',
  'tensorsSeen',
  'smallBlocks',
] as const satisfies readonly (keyof Facts)[]

export interface TypeRow extends TensorType {
  /** bytes of a super-block of 64 elements (ggml built with QK_K = 64); 0 for types without one */
  readonly smallBlockBytes: number
  /** a layout that only containers before GGUF have; its id exists only in this build */
  readonly legacy: boolean
}

export interface KeyEntry {
  /** in the order of the file */
  readonly index: number
  readonly type: ValueType
  /** for arrays */
  readonly elementType: ValueType
  readonly count: number
  readonly offset: number
  readonly length: number
}

// Ids of the format are the indices.
export const kValueTypes: readonly ValueType[] = [
  'u8',
  'i8',
  'u16',
  'i16',
  'u32',
  'i32',
  'f32',
  'bool',
  'string',
  'array',
  'u64',
  'i64',
  'f64',
]
const kKeyColumns = 5
const kTensorColumns = 13

/** A number if it holds the integer exactly, otherwise a bigint. */
function integer(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}

/** The JavaScript type of each scalar type. Strings and arrays are not in this table. */
export const kScalars: Readonly<
  Record<string, { bytes: number; get: (view: DataView, at: number, little: boolean) => Scalar }>
> = {
  u8: { bytes: 1, get: (v, at) => v.getUint8(at) },
  i8: { bytes: 1, get: (v, at) => v.getInt8(at) },
  u16: { bytes: 2, get: (v, at, little) => v.getUint16(at, little) },
  i16: { bytes: 2, get: (v, at, little) => v.getInt16(at, little) },
  u32: { bytes: 4, get: (v, at, little) => v.getUint32(at, little) },
  i32: { bytes: 4, get: (v, at, little) => v.getInt32(at, little) },
  f32: { bytes: 4, get: (v, at, little) => v.getFloat32(at, little) },
  bool: { bytes: 1, get: (v, at) => v.getUint8(at) !== 0 },
  u64: { bytes: 8, get: (v, at, little) => integer(v.getBigUint64(at, little)) },
  i64: { bytes: 8, get: (v, at, little) => integer(v.getBigInt64(at, little)) },
  f64: { bytes: 8, get: (v, at, little) => v.getFloat64(at, little) },
}

// A byte order mark is an ordinary part of the text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const typeTables = new WeakMap<InspectModule, ReadonlyMap<number, TypeRow>>()

/** All known ggml types by id. */
export function tensorTypes(module: InspectModule): ReadonlyMap<number, TypeRow> {
  let table = typeTables.get(module)
  if (!table) {
    const types = Array.from({ length: module.typeCount() }, (_, i): TypeRow => {
      const [id, name, blockSize, blockBytes, removed, smallBlockBytes, legacy] = module.typeRow(i)
      return { id, name, blockSize, blockBytes, removed, smallBlockBytes, legacy }
    })
    table = new Map(types.map((type) => [type.id, type]))
    typeTables.set(module, table)
  }
  return table
}

/** Facts of a container from before GGUF. The header in the heap is the one that a converter would write. */
interface Legacy {
  readonly container: Container
  readonly version: number
  readonly bytesRead: number
}

/** The missing arrays of a header that was read only partially. */
export interface Gaps {
  readonly bytesRead: number
  /** true if the elements at this offset are missing */
  has(offset: number): boolean
  /** Reads them; without an offset, all missing ones. */
  load(offset: number | undefined, options: ReadOptions): Promise<void>
}

/**
 * The header of one file in the wasm heap. Every read creates a new view, because the heap moves when it grows.
 * close() frees it; a FinalizationRegistry frees headers that were not closed.
 */
export class Header {
  readonly #module: InspectModule
  #document: WasmDocument | undefined
  #length = 0
  #bigEndian: boolean | undefined
  readonly #legacy: Legacy | undefined
  /** set while arrays are missing */
  gaps: Gaps | undefined
  /** set if it differs from the length of the header */
  bytesRead: number | undefined

  constructor(module: InspectModule, legacy?: Legacy) {
    this.#module = module
    this.#legacy = legacy
    this.bytesRead = legacy?.bytesRead
    this.#document = new module.Document()
    finalizer.register(this, this.#document, this)
  }

  /** The wasm object, for other parts of the package. */
  get document(): WasmDocument {
    if (!this.#document) throw new GgufError('closed', 'This file was closed: open it again.')
    return this.#document
  }

  get module(): InspectModule {
    return this.#module
  }

  /** bytes of the file received so far */
  get length(): number {
    return this.gaps?.bytesRead ?? this.bytesRead ?? this.#length
  }

  /** Throws if a part of the header is missing. offset: only checks the array at this offset. */
  mustHave(offset?: number): void {
    if (!this.gaps || (offset !== undefined && !this.gaps.has(offset))) return
    const advice = offset === undefined ? 'await file.completeHeader() first' : 'await its load() first'
    throw new GgufError('incomplete', `The preview left out arrays of this header: ${advice}.`, { offset })
  }

  get container(): Container {
    return this.#legacy?.container ?? 'gguf'
  }

  close(): void {
    finalizer.unregister(this)
    this.#document?.delete()
    this.#document = undefined
  }

  /**
   * Parses the next bytes of the file. Returns 0 if the header is complete, otherwise the number of bytes of the file
   * that it needs at least.
   */
  append(chunk: Uint8Array, fileSize: number | undefined): number {
    return this.appendWritten(chunk.length, fileSize, (target) => target.set(chunk))
  }

  /** The same with bytes that `write` puts into the heap. It must set all of them. */
  appendWritten(length: number, fileSize: number | undefined, write: (target: Uint8Array) => void): number {
    const document = this.document
    const pointer = document.reserve(length) >>> 0
    if (pointer === 0 && length > 0) {
      throw new GgufError(
        'out-of-memory',
        `No memory for ${length} more bytes after the first ${this.#length} of the header.`,
      )
    }
    write(this.#module.HEAPU8.subarray(pointer, pointer + length))
    this.#length += length
    const answer = document.advance(length, fileSize ?? -1)
    if (answer >= 0) return answer
    const [code, message, offset] = document.failure()
    throw new GgufError(code as GgufErrorCode, message, { offset })
  }

  /** Inserts bytes that were left out. */
  put(offset: number, bytes: Uint8Array): void {
    this.#module.HEAPU8.set(bytes, (this.document.base() >>> 0) + offset)
  }

  /** The facts of the header in the heap, by name. */
  #inHeap(): Facts {
    const values = this.document.facts()
    return Object.fromEntries(kFacts.map((name, i) => [name, values[i]])) as unknown as Facts
  }

  facts(): Facts {
    const facts = this.#inHeap()
    if (!this.#legacy) return facts
    const first = this.tensors(0).reduce((min, { offset }) => Math.min(min, offset), Infinity)
    return { ...facts, version: this.#legacy.version, dataOffset: first === Infinity ? 0 : first }
  }

  get bigEndian(): boolean {
    return (this.#bigEndian ??= this.facts().bigEndian)
  }

  findings(
    { size, name }: { size?: number | undefined; name?: string | undefined },
    scope: LintScope,
  ): Omit<Finding, 'shard'>[] {
    if (this.#legacy) {
      const message = `a ${this.#legacy.container} container from before GGUF: today's loaders refuse it until it is converted`
      // The header is the one that a converter would write: its values are the file's, but its offsets are not.
      const values = this.#findings().filter(({ code }) => code === 'fft-length')
      return [
        { level: 'error', code: 'legacy-container', message, offset: 0 },
        ...values.map(({ level, code, message }) => ({ level, code, message })),
      ]
    }
    return this.#findings(size, name, scope)
  }

  #findings(size = -1, name = '', scope: LintScope = 'usual'): Omit<Finding, 'shard'>[] {
    const { document } = this
    return Array.from({ length: document.lint(size, name, kScopes.indexOf(scope)) }, (_, i) => {
      const [level, code, message, offset] = document.finding(i)
      return { level, code, message, ...(offset < 0 ? {} : { offset }) }
    })
  }

  keyEntries(): KeyEntry[] {
    const table = this.#doubles(this.document.keyTable())
    const entries: KeyEntry[] = []
    for (let at = 0; at < table.length; at += kKeyColumns) {
      entries.push({
        index: at / kKeyColumns,
        type: kValueTypes[table[at]!]!,
        elementType: kValueTypes[table[at + 1]!]!,
        count: table[at + 2]!,
        offset: table[at + 3]!,
        length: table[at + 4]!,
      })
    }
    return entries
  }

  keys(): string[] {
    return this.#texts(this.document.gatherKeys())
  }

  /** The type of a tensor of this file; undefined if the id is unknown. */
  type(id: number): TypeRow | undefined {
    const row = tensorTypes(this.#module).get(id)
    return row?.legacy === true && !this.#legacy ? undefined : row
  }

  /** Ids without a layout in ggml are looked up among the types of forks. */
  typeName(id: number): string {
    const row = this.type(id)
    const fork = !row || row.removed ? this.#module.forkTypeName(id) : ''
    return fork || (row?.name ?? `unknown(${id})`)
  }

  /** Offset and bytes of each tensor's data. */
  tensorExtents(): { offset: number; byteLength: number }[] {
    const table = this.#doubles(this.document.tensorTable())
    return Array.from({ length: table.length / kTensorColumns }, (_, i) => ({
      offset: table[i * kTensorColumns + 1]!,
      byteLength: table[i * kTensorColumns + 2]!,
    }))
  }

  tensors(shard: number): TensorInfo[] {
    const names = this.#texts(this.document.gatherTensorNames())
    const table = this.#doubles(this.document.tensorTable())
    // In a legacy header, offsets are absolute in the file.
    const base = this.#legacy ? this.#inHeap().dataOffset : 0
    return names.map((name, i) => {
      const at = i * kTensorColumns
      const typeId = table[at]!
      return {
        name,
        shape: Array.from(table.subarray(at + 5, at + 5 + table[at + 4]!)),
        type: this.typeName(typeId),
        typeId,
        offset: table[at + 1]! - base,
        byteLength: table[at + 2]!,
        elementCount: table[at + 3]!,
        shard,
      }
    })
  }

  scalar(entry: { type: ValueType; offset: number; length: number }): Scalar {
    if (entry.type === 'string') return this.text(entry.offset, entry.length)
    return kScalars[entry.type]!.get(this.view(entry.offset, entry.length), 0, !this.bigEndian)
  }

  /** A view of all header bytes in the heap, up to the tensor data. Valid until the next call into wasm. */
  allBytes(): Bytes {
    this.mustHave()
    const { buffer, byteOffset, byteLength } = this.view(0, Math.min(this.#length, this.#inHeap().dataOffset))
    return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)
  }

  /** A copy of it. */
  bytes(): Bytes {
    return this.allBytes().slice()
  }

  /** A view of bytes of the file. Valid until the next call into wasm. */
  view(offset: number, length: number): DataView {
    this.mustHave(offset)
    return new DataView(this.#module.HEAPU8.buffer, (this.document.base() >>> 0) + offset, length)
  }

  text(offset: number, length: number): string {
    return decoder.decode(this.view(offset, length))
  }

  strings(array: number, from: number, to: number): string[] {
    return this.#texts(this.document.gatherStrings(array, from, to))
  }

  stringBytes(array: number, index: number): Uint8Array {
    const [pointer, length] = this.document.stringAt(array, index)
    return this.#module.HEAPU8.slice(pointer >>> 0, (pointer >>> 0) + length)
  }

  #doubles([pointer, length]: Span): Float64Array {
    return new Float64Array(this.#module.HEAPU8.buffer, pointer >>> 0, length).slice()
  }

  /**
   * The strings of a gather call. If all are valid UTF-8 they are decoded at once and sliced, otherwise one by one.
   */
  #texts(valid: boolean): string[] {
    const document = this.document
    const [endsPointer, count] = document.ends()
    const [pointer, length] = document.texts()
    const buffer = this.#module.HEAPU8.buffer
    const ends = new Uint32Array(buffer, endsPointer >>> 0, count)
    const bytes = new Uint8Array(buffer, pointer >>> 0, length)
    const texts = new Array<string>(count)
    const all = valid ? decoder.decode(bytes) : ''
    for (let i = 0, start = 0; i < count; i++) {
      const end = ends[i]!
      texts[i] = valid ? all.slice(start, end) : decoder.decode(bytes.subarray(start, end))
      start = end
    }
    return texts
  }
}

const finalizer = new FinalizationRegistry<WasmDocument>((document) => document.delete())
