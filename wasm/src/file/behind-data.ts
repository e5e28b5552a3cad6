// Identifies bytes after the tensor data of a file: appended archives, concatenated files.
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import type { Finding } from '../api/findings.js'
import type { ByteSource, ReadOptions } from '../api/source.js'
import type { Header } from '../header/header.js'
import type { OpenedFile } from './opened.js'

/** The end of a file's data, including padding. */
export function dataEnd(header: Header): number {
  const { dataOffset, alignment } = header.facts()
  const reach = header
    .tensors(0)
    .reduce((max, { offset, byteLength }) => Math.max(max, offset + byteLength - dataOffset), 0)
  return dataOffset + Math.ceil(reach / alignment) * alignment
}

const kMagic = [0x47, 0x47, 0x55, 0x46]

/** Formats, recognized by bytes at an offset. */
const kKinds: readonly (readonly [at: number, bytes: readonly number[], what: string])[] = [
  [0, kMagic, 'another GGUF file begins there: files were concatenated, and readers see the first only'],
  [0, [0x50, 0x4b, 3, 4], 'a ZIP archive begins there'],
  [0, [0x50, 0x4b, 5, 6], 'an empty ZIP archive begins there'],
  [257, [0x75, 0x73, 0x74, 0x61, 0x72], 'a tar archive begins there'],
  [0, [0x1f, 0x8b], 'a gzip stream begins there'],
  [0, [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], 'a 7z archive begins there'],
  [0, [0xfd, 0x37, 0x7a, 0x58, 0x5a], 'an xz stream begins there'],
  [0, [0x28, 0xb5, 0x2f, 0xfd], 'a zstd stream begins there'],
]

async function head(source: ByteSource, at: number, options: ReadOptions): Promise<Uint8Array> {
  const { size } = source
  if (size === undefined || at >= size) return new Uint8Array()
  return await source.read(at, Math.min(512, size - at), options).catch((error: unknown) => {
    // For a stream, or a server without ranges, the format stays unknown.
    if (error instanceof GgufError && error.code === 'no-ranges') return new Uint8Array()
    throw error
  })
}

const startsWith = (bytes: Uint8Array, at: number, wanted: readonly number[]): boolean =>
  wanted.every((byte, i) => bytes[at + i] === byte)

/** True if a GGUF file begins at that offset. */
export async function isGguf(source: ByteSource, at: number): Promise<boolean> {
  return startsWith(await head(source, at, {}), 0, kMagic)
}

/** Identifies what follows the data of each file by its first bytes: appended archives, concatenated files. */
export async function findBehindData(file: OpenedFile, options: ReadOptions = {}): Promise<Finding[]> {
  const found = file.shardParts.map(async ({ part }, shard): Promise<Finding[]> => {
    if (!part || part.header.container !== 'gguf') return []
    const { header, source } = part
    const at = dataEnd(header)
    const bytes = await head(source, at, options)
    // The end of a tensor with an unknown type is unknown.
    if (
      bytes.length === 0 ||
      header.tensors(shard).some((one) => one.byteLength === 0 && one.elementCount > 0)
    )
      return []
    const kind = kKinds.find(([from, wanted]) => startsWith(bytes, from, wanted))
    const what = kind?.[2] ?? (bytes.every((byte) => byte === 0) ? 'zeros' : 'of no known kind')
    const message = `${counted(source.size! - at, 'byte follows', 'bytes follow')} the tensor data at byte ${at}: ${what}`
    return [{ level: 'note', code: 'trailing-data', message, offset: at, shard }]
  })
  return (await Promise.all(found)).flat()
}
