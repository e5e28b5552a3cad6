// Contents that the server can serve: bytes in memory, files on disk, and virtual files whose bytes are computed on
// demand.
import { createHash } from 'node:crypto'
import { open, readFile, stat } from 'node:fs/promises'

export interface Content {
  size: number
  etag: string
  lastModified: Date
  type: string
  /** Returns exactly length bytes from offset. The caller must ensure that offset + length <= size. */
  read(offset: number, length: number): Uint8Array | Promise<Uint8Array>
  close?(): Promise<void>
}

const kEpoch = new Date('2026-01-02T03:04:05Z')

const kTypes: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript',
  mjs: 'text/javascript',
  css: 'text/css',
  json: 'application/json',
  svg: 'image/svg+xml',
  png: 'image/png',
  txt: 'text/plain; charset=utf-8',
  wasm: 'application/wasm',
}

export function contentType(path: string): string {
  return kTypes[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
}

export function bytesContent(bytes: Uint8Array, type = 'application/octet-stream'): Content {
  return {
    size: bytes.length,
    etag: `"${createHash('sha1').update(bytes).digest('hex').slice(0, 16)}"`,
    lastModified: kEpoch,
    type,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  }
}

/** Pages request the same scripts again and again. */
const kKeptBytes = 4e6
const kept = new Map<string, Content>()

/** A file's content; undefined if the file does not exist. Small files are kept in memory until they change. */
export async function fileContent(path: string): Promise<Content | undefined> {
  const info = await stat(path).catch(() => undefined)
  if (!info?.isFile()) return undefined
  const etag = `"${info.size.toString(16)}-${Math.trunc(info.mtimeMs).toString(16)}"`
  const lastModified = new Date(info.mtimeMs)
  const type = contentType(path)
  if (info.size <= kKeptBytes) {
    const known = kept.get(path)
    if (known?.etag === etag) return known
    const content = { ...bytesContent(await readFile(path), type), etag, lastModified }
    kept.set(path, content)
    return content
  }
  const handle = await open(path)
  return {
    size: info.size,
    etag,
    lastModified,
    type,
    async read(offset, length) {
      const bytes = new Uint8Array(length)
      const { bytesRead } = await handle.read(bytes, 0, length, offset)
      return bytes.subarray(0, bytesRead)
    },
    close: () => handle.close(),
  }
}

/** Four bytes of a virtual file, little-endian; word: their offset / 4. */
function sparseWord(word: number): number {
  const h = Math.imul(
    (word % 0x80000000) ^ Math.imul(Math.floor(word / 0x80000000) + 1, 0x9e3779b1),
    0x85ebca6b,
  )
  return Math.imul(h ^ (h >>> 15), 0xc2b2ae35)
}

/** The byte of a virtual file at an offset after its header. Tests check the bytes that they received with it. */
export function sparseByte(offset: number): number {
  return (sparseWord(Math.floor(offset / 4)) >>> (8 * (offset % 4))) & 0xff
}

/** A virtual file of any size: a header, then bytes that are a function of their offset. */
export function sparseContent(header: Uint8Array, size: number): Content {
  return {
    ...bytesContent(header),
    size,
    read(offset, length) {
      const bytes = new Uint8Array(length)
      const head = header.subarray(Math.min(offset, header.length), Math.min(offset + length, header.length))
      bytes.set(head)
      for (let i = head.length; i < length;) {
        const at = offset + i
        const word = sparseWord(Math.floor(at / 4))
        for (let byte = at % 4; byte < 4 && i < length; byte++) bytes[i++] = word >>> (8 * byte)
      }
      return bytes
    },
  }
}
