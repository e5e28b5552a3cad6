// Computes the parts of a file from a builder's keys and tensors.
import { counted } from '../api/counted.js'
import type { HeaderWriter } from '../edit.js'
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import type { Part } from '../file/opened.js'
import { tensorTypes, type Header } from '../header/header.js'
import { editModule, inspectModule, quantModule } from '../runtime/module.js'
import type { QuantModule } from '../quant.js'
import type { ByteSource } from '../api/source.js'
import type { TensorType } from '../api/tensors.js'
import { mustBeFloats, type BlockRange } from '../tensors/values.js'
import type { FileTensor, GivenTensor, Layout, TensorEntry } from './entries.js'
import { checked, converted, modernized, turned } from './transform.js'
import type { FilePart } from '../api/edit.js'
import { typeId } from './values.js'
import { computedPart, WrittenFile } from './written-file.js'

/** A tensor with the types and the source of its bytes. */
interface Planned {
  readonly entry: TensorEntry
  readonly from: BlockRange
  /** undefined: the blocks are copied unchanged */
  readonly type: TensorType | undefined
  readonly typeId: number
  readonly byteLength: number
  readonly turn: boolean
}

export const isFile = (from: FileTensor | GivenTensor): from is FileTensor => 'file' in from

/** The type of a tensor's bytes in its source. */
export const sourceType = ({ from }: TensorEntry): string => (isFile(from) ? from.info.type : from.type)

const elements = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1)

/** Size of a tensor whose type has an unknown layout: all bytes up to the next tensor. */
function bytesUpToNext({ part, info }: FileTensor): number {
  const starts = part.header.tensors(0).map(({ offset }) => offset)
  const end = starts.filter((offset) => offset > info.offset).reduce((a, b) => Math.min(a, b), Infinity)
  const last = Math.min(end, part.source.size ?? Infinity)
  if (last === Infinity) {
    throw new GgufError(
      'unsupported',
      `The size of tensor ${info.name} is unknown, since its type ${info.type} and the size of the file are not known.`,
    )
  }
  return Math.max(0, last - info.offset)
}

/** The source, padded with zeros up to `end` if it is truncated. Only used with the option allowDamaged. */
export function ifCut(source: ByteSource, end: number): ByteSource {
  const { size } = source
  if (size === undefined || end <= size) return source
  return {
    size: end,
    async read(offset, length, options) {
      const bytes = new Uint8Array(length)
      const there = Math.max(0, Math.min(length, size - offset))
      if (there > 0) bytes.set(await source.read(offset, there, options))
      return bytes
    },
  }
}

/** Returns the source and offset of a tensor's blocks. */
export function rangeOf(entry: TensorEntry, types: ReadonlyMap<number, TensorType>): BlockRange {
  const { from, name } = entry
  if (!isFile(from)) {
    const type = [...types.values()].find(
      (row) => row.name === from.type && row.blockSize > 0 && !row.removed,
    )
    if (!type) throw new GgufError('unsupported', `Tensor ${name}: there is no type ${from.type}.`)
    const byteLength = bytesOf(entry, type)
    if (from.source.size !== byteLength) {
      const given = from.source.size ?? 'an unknown number of'
      throw new GgufError(
        'bad-shape',
        `Tensor ${name} needs ${counted(byteLength, 'byte')} of ${type.name}, not ${given}.`,
      )
    }
    return { type, source: from.source, offset: 0, byteLength, small: false, bigEndian: false }
  }
  const { file, part, info } = from
  const source = ifCut(part.source, info.offset + info.byteLength)
  const known = part.header.type(info.typeId)
  const small = (known?.smallBlockBytes ?? 0) > 0 && part.header.facts().smallBlocks
  const bigEndian = part.header.bigEndian
  if (known && known.blockSize > 0 && (small || (info.shape[0] ?? 1) % known.blockSize === 0))
    return { ...file.rowRange(info, {}), source, bigEndian }
  const type = known ?? { id: info.typeId, name: info.type, blockSize: 0, blockBytes: 0, removed: true }
  const byteLength = bytesUpToNext(from)
  return { type, source: part.source, offset: info.offset, byteLength, small: false, bigEndian }
}

/** Size of a tensor in blocks of a type. */
function bytesOf({ name, shape }: TensorEntry, type: TensorType): number {
  const rowLength = shape[0] ?? 1
  if (rowLength % type.blockSize !== 0) {
    throw new GgufError(
      'bad-shape',
      `Rows of ${counted(rowLength, 'element')} are no whole blocks of ${type.blockSize}: tensor ${name} cannot be ${type.name}.`,
    )
  }
  return (elements(shape) / type.blockSize) * type.blockBytes
}

function plan(
  entry: TensorEntry,
  types: ReadonlyMap<number, TensorType>,
  bigEndian: boolean,
  quant: QuantModule | undefined,
): Planned {
  const from = rangeOf(entry, types)
  const turn = from.bigEndian !== bigEndian
  const { name } = entry
  const fail = (reason: string): GgufError => new GgufError('unsupported', `Tensor ${name}: ${reason}.`)
  if (from.type.name === entry.type) {
    // If a type cannot be dequantized, the fields of its blocks are unknown.
    if (turn && (from.type.blockSize === 0 || !quant?.canDequantize(from.type.id)))
      throw fail(`the byte order of type ${entry.type} cannot be changed`)
    return { entry, from, type: undefined, typeId: from.type.id, byteLength: from.byteLength, turn }
  }
  const type = [...types.values()].find((row) => row.name === entry.type)
  if (!type || !quant?.canQuantize(type.id)) throw fail(`there is no quantizer of type ${entry.type}`)
  if (!entry.importance && quant.needsImportance(type.id))
    throw new GgufError('invalid-argument', `Tensor ${name} cannot become ${type.name} without importance.`)
  const columns = entry.shape[0] ?? 1
  const matrices = elements(entry.shape.slice(2))
  if (entry.importance && ![columns, columns * matrices].includes(entry.importance.count)) {
    const { count } = entry.importance
    throw new GgufError(
      'bad-shape',
      `Tensor ${name} has ${counted(columns, 'column')}, its importance ${counted(count, 'value')}.`,
    )
  }
  mustBeFloats(quant, from.type, name)
  return { entry, from, type, typeId: type.id, byteLength: bytesOf(entry, type), turn: bigEndian }
}

/** Builds the header in the edit module. */
async function writeHeader(
  { keys, version, bigEndian, hosting }: Layout,
  tensors: readonly Planned[],
  offsets: (i: number) => number,
): Promise<{
  header: Uint8Array<ArrayBuffer>
  offsets: Float64Array
  dataBytes: number
  alignment: number
}> {
  const edit = await editModule(hosting)
  const writer: HeaderWriter = new edit.HeaderWriter()
  const failure = (): GgufError => {
    const { code, message } = writer.failure()
    return new GgufError(code as GgufErrorCode, `The file cannot be written: ${message}.`)
  }
  const put = (place: number, bytes: Uint8Array): void => edit.HEAPU8.set(bytes, place >>> 0)
  try {
    const sources = new Map<Header, number>()
    const sourceOf = (header: Header): number => {
      const known = sources.get(header)
      if (known !== undefined) return known
      const bytes = header.bytes()
      put(writer.addSource(bytes.length), bytes)
      if (!writer.parseSource()) throw failure()
      sources.set(header, sources.size)
      return sources.size - 1
    }
    for (const { key, from } of keys) {
      if ('header' in from) {
        const source = sourceOf(from.header)
        if (key === from.key) writer.copyKey(source, from.index)
        else writer.copyKeyAs(source, from.index, key)
      } else {
        put(writer.addValue(from.bytes.length), from.bytes)
        writer.addKey(key, typeId(from.type), typeId(from.elementType), from.count)
      }
    }
    for (const [i, { entry, typeId: type, byteLength }] of tensors.entries()) {
      const { from, name, shape } = entry
      if (isFile(from) && from.info.name === name)
        writer.copyTensor(sourceOf(from.part.header), from.index, type, byteLength, offsets(i))
      else writer.addTensor(name, shape, type, byteLength, offsets(i))
    }
    if (!writer.write(version, bigEndian)) throw failure()
    const copied = ([pointer, length]: readonly [number, number], bytes: number): ArrayBuffer =>
      edit.HEAPU8.slice(pointer >>> 0, (pointer >>> 0) + length * bytes).buffer
    return {
      header: new Uint8Array(copied(writer.header(), 1)),
      offsets: new Float64Array(copied(writer.offsets(), 8)),
      dataBytes: writer.dataBytes(),
      alignment: writer.alignment(),
    }
  } finally {
    writer.delete()
  }
}

/** Collects consecutive parts. Adjacent copies from the same source become one. */
class Parts {
  readonly list: FilePart[] = []
  #size = 0

  bytes(bytes: Uint8Array<ArrayBuffer>): void {
    if (bytes.length > 0) this.#add({ kind: 'bytes', to: this.#size, length: bytes.length, bytes })
  }

  zerosUpTo(to: number): void {
    if (to > this.#size) this.#add({ kind: 'zeros', to: this.#size, length: to - this.#size })
  }

  copy(source: ByteSource, from: number, length: number): void {
    if (length === 0) return
    const gap = this.list.at(-1)?.kind === 'zeros' ? this.list.at(-1) : undefined
    const before = this.list.at(gap ? -2 : -1)
    if (
      before?.kind === 'copy' &&
      before.source === source &&
      before.from + before.length + (gap?.length ?? 0) === from
    ) {
      this.list.splice(gap ? -2 : -1)
      this.#size = before.to
      this.#add({ ...before, length: from + length - before.from })
    } else {
      this.#add({ kind: 'copy', to: this.#size, length, source, from })
    }
  }

  computed(
    tensor: string,
    length: number,
    chunks: (signal: AbortSignal | undefined) => AsyncIterable<Uint8Array<ArrayBuffer>>,
  ): void {
    if (length > 0) this.#add(computedPart({ to: this.#size, length, tensor, chunks }))
  }

  #add(part: FilePart): void {
    this.list.push(part)
    this.#size += part.length
  }
}

/** Whether the tensor data can be copied as one range: the same tensors at the same offsets. */
function keepsData(base: Part, planned: readonly Planned[]): boolean {
  return (
    base.header.container === 'gguf' &&
    base.source.size !== undefined &&
    planned.length === base.header.facts().tensorsSeen &&
    planned.every(
      ({ entry: { from }, turn, type }, i) =>
        isFile(from) && from.part === base && from.index === i && !turn && type === undefined,
    )
  )
}

async function planAll({ tensors, bigEndian, hosting, checked: looked }: Layout): Promise<{
  planned: Planned[]
  quant: QuantModule | undefined
}> {
  const types = tensorTypes(await inspectModule(hosting))
  const changes = tensors.some(
    ({ from, type }) =>
      (isFile(from) ? from.part.header.bigEndian : false) !== bigEndian ||
      (isFile(from) ? from.info.type : from.type) !== type,
  )
  const quant = changes || looked ? await quantModule(hosting) : undefined
  const planned = tensors.map((entry) => plan(entry, types, bigEndian, quant))
  // Readers tell the layouts apart by the tensors' offsets, for all tensors together.
  const old = planned.find(({ from, type }) => from.small && type === undefined)
  const today = planned.find(({ type }) => type && (types.get(type.id)?.smallBlockBytes ?? 0) > 0)
  if (old && today) {
    throw new GgufError(
      'unsupported',
      `Tensor ${old.entry.name} has super-blocks of 64, ${today.entry.name} would have 256: no file has both. Another type for one of them will do.`,
    )
  }
  return { planned, quant }
}

/** Size in bytes of each tensor in the written file. */
export async function tensorLengths(layout: Layout): Promise<number[]> {
  return (await planAll(layout)).planned.map(({ byteLength }) => byteLength)
}

export async function layOut(layout: Layout): Promise<WrittenFile> {
  const { bigEndian, base, untouched, name, checked: looked = false } = layout
  const parts = new Parts()
  if (base?.source.size !== undefined && untouched) {
    const header = base.header.bytes()
    parts.bytes(header)
    parts.copy(base.source, header.length, base.source.size - header.length)
    return new WrittenFile(parts.list, name)
  }
  const { planned, quant } = await planAll(layout)
  if (base && !looked && keepsData(base, planned)) {
    const { dataOffset, alignment: before } = base.header.facts()
    const relative = (i: number): number => planned[i]!.from.offset - dataOffset
    const { header, alignment } = await writeHeader(layout, planned, relative)
    if (alignment === before || planned.every((_, i) => relative(i) % alignment === 0)) {
      parts.bytes(header)
      parts.copy(base.source, dataOffset, Math.max(0, base.source.size! - dataOffset))
      return new WrittenFile(parts.list, name)
    }
  }
  const { header, offsets, dataBytes } = await writeHeader(layout, planned, () => -1)
  parts.bytes(header)
  for (const [i, { entry, from, type, byteLength, turn }] of planned.entries()) {
    parts.zerosUpTo(header.length + offsets[i]!)
    if (!turn && type === undefined && !(looked && from.type.blockSize > 0)) {
      parts.copy(from.source, from.offset, byteLength)
      continue
    }
    parts.computed(entry.name, byteLength, (signal) => {
      const { name, shape, importance } = entry
      if (type === undefined && !turn) return checked(quant!, from, { name, shape }, signal)
      if (type === undefined) return turned(quant!, from, signal)
      if (!importance && quant!.modernType(from.type.id) === type.id)
        return modernized(quant!, from, type, bigEndian, signal)
      return converted(quant!, from, { name, type, shape, bigEndian, importance }, signal)
    })
  }
  parts.zerosUpTo(header.length + dataBytes)
  return new WrittenFile(parts.list, name)
}
