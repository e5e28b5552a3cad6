// Writes tensors as NumPy's .npy or as safetensors. Data of types that these formats have are copied; all others are
// converted to 32-bit floats.
import { checkArgument, checkOptions, kReadChecks, listOf, text } from '../api/checks.js'
import { GgufError } from '../api/errors.js'

import { mustHaveRows } from '../file/damage.js'
import { printable, type OpenedFile } from '../file/opened.js'
import { quantModule } from '../runtime/module.js'
import type { GgufFile } from '../api/file.js'
import type { ReadOptions } from '../api/source.js'
import type { TensorInfo } from '../api/tensors.js'
import { mustBeFloats, type BlockRange } from '../tensors/values.js'
import { openFile } from './open-file.js'
import { floated, turned } from './transform.js'
import type { FilePart, SafetensorsOptions } from '../api/edit.js'
import { computedPart, WrittenFile } from './written-file.js'

// NumPy has no BF16. '|' stands for types without a byte order.
const kNumpy: Readonly<Record<string, string>> = {
  F32: 'f4',
  F16: 'f2',
  F64: 'f8',
  I8: 'i1',
  I16: 'i2',
  I32: 'i4',
  I64: 'i8',
}
// safetensors dtypes with the same names as ggml's types, and their sizes in bytes
const kSafetensors: Readonly<Record<string, number>> = {
  F32: 4,
  F16: 2,
  BF16: 2,
  F64: 8,
  I8: 1,
  I16: 2,
  I32: 4,
  I64: 8,
}

const encoder = new TextEncoder()

type Body =
  | { readonly kind: 'copy'; readonly range: BlockRange }
  | {
      readonly kind: 'turned' | 'floats'
      readonly range: BlockRange
      readonly name: string
      readonly length: number
    }

/** Makes the part of the file that holds a tensor, at offset `to`. */
async function partOf(file: OpenedFile, body: Body, to: number): Promise<FilePart[]> {
  const { range } = body
  if (range.byteLength === 0) return []
  if (body.kind === 'copy')
    return [{ kind: 'copy', to, length: range.byteLength, source: range.source, from: range.offset }]
  const quant = await quantModule(file.hosting)
  mustBeFloats(quant, range.type, body.name)
  const chunks = (signal: AbortSignal | undefined): AsyncIterable<Uint8Array<ArrayBuffer>> =>
    body.kind === 'floats' ? floated(quant, range, signal) : turned(quant, range, signal)
  return [computedPart({ to, length: body.length, tensor: body.name, chunks })]
}

function rangeOf(file: OpenedFile, tensor: TensorInfo): BlockRange {
  mustHaveRows(file, tensor)
  return { ...file.rowRange(tensor, {}), bigEndian: file.endianness === 'big' }
}

function floatBody(range: BlockRange, { name, elementCount }: TensorInfo): Body {
  return { kind: 'floats', range, name, length: 4 * elementCount }
}

/**
 * The shape in the order of NumPy and PyTorch: the slowest dimension first. Tensors that ComfyUI-GGUF stored as rows of
 * 256 elements get their original shape.
 */
function slowestFirst(file: OpenedFile, { name, shape, elementCount }: TensorInfo): number[] {
  const original = file.metadata.get(`comfy.gguf.orig_shape.${name}`)
  if (typeof original === 'object' && original.type === 'i32' && original.length <= 8) {
    const extents = original.slice().map(Number)
    if (extents.every((n) => n > 0) && extents.reduce((a, b) => a * b, 1) === elementCount) return extents
  }
  return shape.toReversed()
}

/**
 * One tensor as a .npy file. Plain numbers are copied, in either byte order; all other types are converted to float32.
 */
export async function toNpy(file: GgufFile, name: string, options: ReadOptions = {}): Promise<WrittenFile> {
  checkOptions('toNpy()', options, kReadChecks)
  checkArgument('toNpy()', 'tensor', name, text)
  const { signal } = options
  signal?.throwIfAborted()
  const source = openFile(file)
  const tensor = source.tensor(name)
  if (!tensor) throw new GgufError('not-found', `There is no tensor "${name}" in this file.`)
  const range = rangeOf(source, tensor)
  const plain = kNumpy[tensor.type]
  const order = tensor.type === 'I8' ? '|' : plain && range.bigEndian ? '>' : '<'
  const shape = slowestFirst(source, tensor)
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`
  const description = `{'descr': '${order}${plain ?? 'f4'}', 'fortran_order': False, 'shape': ${tuple}, }`
  const size = Math.ceil((10 + description.length + 1) / 64) * 64
  const header = new Uint8Array(size).fill(0x20)
  header.set([0x93, ...encoder.encode('NUMPY'), 1, 0, (size - 10) & 0xff, (size - 10) >> 8])
  header.set(encoder.encode(description), 10)
  header[size - 1] = 0x0a
  const body: Body = plain ? { kind: 'copy', range } : floatBody(range, tensor)
  const parts = await partOf(source, body, size)
  return new WrittenFile([{ kind: 'bytes', to: 0, length: size, bytes: header }, ...parts])
}

/** The named tensors in the order of the .safetensors file. Error: 'duplicate' if two have the same name. */
function tensorsFor(source: OpenedFile, names: readonly string[]): TensorInfo[] {
  const seen = new Set<string>()
  const tensors = names.map((name) => {
    const tensor = source.tensor(name)
    if (!tensor) throw new GgufError('not-found', `There is no tensor "${name}" in this file.`)
    if (name === '__metadata__')
      throw new GgufError('unsupported', 'A tensor of the name __metadata__ has no place in safetensors.')
    if (seen.has(name))
      throw new GgufError(
        'duplicate',
        `safetensors holds a name once: there are two tensors of the name ${printable(name)}.`,
      )
    seen.add(name)
    return tensor
  })
  // The widest types first: each tensor is then aligned to its element size, as zero-copy readers require.
  const width = ({ type }: TensorInfo): number => kSafetensors[type] ?? 4
  return tensors.sort((a, b) => width(b) - width(a))
}

/** The header: the length of the JSON text in 8 bytes, then the text, padded with spaces to a multiple of 8 bytes. */
function safetensorsHeader(entries: readonly [string, unknown][]): Uint8Array<ArrayBuffer> {
  const json = encoder.encode(JSON.stringify(Object.fromEntries(entries)))
  const size = 8 + Math.ceil(json.length / 8) * 8
  const header = new Uint8Array(size).fill(0x20)
  new DataView(header.buffer).setBigUint64(0, BigInt(size - 8), true)
  header.set(json, 8)
  return header
}

/**
 * Tensors as a .safetensors file, quantized ones as float32. Strings and numbers of the metadata become its metadata.
 */
export async function toSafetensors(file: GgufFile, options: SafetensorsOptions = {}): Promise<WrittenFile> {
  checkOptions('toSafetensors()', options, {
    ...kReadChecks,
    tensors: listOf(text, 'an array of names'),
  })
  const { tensors: chosen, signal } = options
  signal?.throwIfAborted()
  const source = openFile(file)
  const tensors = tensorsFor(source, chosen ?? source.tensors.map(({ name }) => name))
  const metadata = [...source.metadata].flatMap(([key, value]): [string, string][] =>
    typeof value === 'object' ? [] : [[key, String(value)]],
  )
  const entries: [string, unknown][] = [['__metadata__', Object.fromEntries([...metadata, ['format', 'pt']])]]
  const bodies: Body[] = []
  let end = 0
  for (const tensor of tensors) {
    const range = rangeOf(source, tensor)
    const plain = tensor.type in kSafetensors
    const length = plain ? range.byteLength : 4 * tensor.elementCount
    const kind = range.bigEndian && tensor.type !== 'I8' ? 'turned' : 'copy'
    bodies.push(
      plain
        ? kind === 'copy'
          ? { kind, range }
          : { kind, range, name: tensor.name, length }
        : floatBody(range, tensor),
    )
    const dtype = plain ? tensor.type : 'F32'
    entries.push([
      tensor.name,
      { dtype, shape: slowestFirst(source, tensor), data_offsets: [end, end + length] },
    ])
    end += length
  }
  const header = safetensorsHeader(entries)
  const parts: FilePart[] = [{ kind: 'bytes', to: 0, length: header.length, bytes: header }]
  let to = header.length
  for (const body of bodies) {
    const made = await partOf(source, body, to)
    parts.push(...made)
    to += made[0]?.length ?? 0
  }
  return new WrittenFile(parts)
}
