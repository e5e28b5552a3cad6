// Contents that the server can serve: bytes in memory, files on disk, and virtual files whose bytes are computed on
// demand.
import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'

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

/** A file's content; undefined if the file does not exist. */
export async function fileContent(path: string): Promise<Content | undefined> {
  const info = await stat(path).catch(() => undefined)
  if (!info?.isFile()) return undefined
  const handle = await open(path)
  return {
    size: info.size,
    etag: `"${info.size.toString(16)}-${Math.trunc(info.mtimeMs).toString(16)}"`,
    lastModified: new Date(info.mtimeMs),
    type: contentType(path),
    async read(offset, length) {
      const bytes = new Uint8Array(length)
      const { bytesRead } = await handle.read(bytes, 0, length, offset)
      return bytes.subarray(0, bytesRead)
    },
    close: () => handle.close(),
  }
}

/** The byte of a virtual file at an offset after its header. Tests check the bytes that they received with it. */
export function sparseByte(offset: number): number {
  const word = Math.floor(offset / 4)
  let h = Math.imul(
    (word % 0x80000000) ^ Math.imul(Math.floor(word / 0x80000000) + 1, 0x9e3779b1),
    0x85ebca6b,
  )
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35)
  return (h >>> (8 * (offset % 4))) & 0xff
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
      for (let i = head.length; i < length; i++) bytes[i] = sparseByte(offset + i)
      return bytes
    },
  }
}
