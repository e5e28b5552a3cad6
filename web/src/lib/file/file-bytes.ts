// Reads bytes of the open file around an offset, from a local file or a server.
import type { Finding, GgufFile } from 'ggufscope'
import type { FindingSubject } from 'ggufscope/edit'
import type { Opened } from './opened'
import { t } from '../language/text'

const before = 16
const shown = 96

export interface Excerpt {
  readonly from: number
  readonly bytes: Uint8Array
}

/** The source of a shard; undefined if it does not support ranges. */
function sourceOf({ source }: Opened, shard: number): Blob | string | undefined {
  const one: unknown = Array.isArray(source) ? source[shard] : shard === 0 ? source : undefined
  return one instanceof Blob || typeof one === 'string' ? one : undefined
}

/** A finding that has a place in the file. */
export type PlacedFinding = Finding & { readonly offset: number }

export const canRead = (opened: Opened, { shard }: Finding) => sourceOf(opened, shard) !== undefined

/** Reads a few lines of 16 bytes. Throws the browser's errors, or an Error if the response is not the range. */
export async function excerptAt(
  opened: Opened,
  { offset, shard }: PlacedFinding,
  signal: AbortSignal,
): Promise<Excerpt> {
  const source = sourceOf(opened, shard)
  const from = Math.max(0, Math.floor(offset / 16) * 16 - before)
  if (source instanceof Blob)
    return { from, bytes: new Uint8Array(await source.slice(from, from + shown).arrayBuffer()) }
  const headers = { ...opened.headers, Range: `bytes=${from}-${from + shown - 1}` }
  const response = await fetch(source ?? '', { headers, signal })
  if (response.status !== 206) {
    await response.body?.cancel()
    throw new Error(
      t('The server did not send the bytes asked for (status {status}).', {
        status: String(response.status),
      }),
    )
  }
  return { from, bytes: new Uint8Array(await response.arrayBuffer()) }
}

const widths: Record<string, number> = { u8: 1, i8: 1, bool: 1, u16: 2, i16: 2, u64: 8, i64: 8, f64: 8 }

/** The number of bytes of a finding's subject, if known: a key, a value, or one byte. */
export function fieldLength(
  file: GgufFile,
  { offset }: PlacedFinding,
  { key, tensor }: FindingSubject,
): number {
  const bytesIn = (text: string) => new TextEncoder().encode(text).length
  // A tensor info begins with the length of its name.
  if (tensor !== undefined && offset < file.dataOffset) return (file.version === 1 ? 4 : 8) + bytesIn(tensor)
  if (key === undefined) return 1
  const at = file.metadata.offset(key)
  if (at === undefined || offset < at) return bytesIn(key)
  const value = file.metadata.get(key)
  if (typeof value === 'string' && offset === at) return Math.max(1, bytesIn(value))
  const type = typeof value === 'object' ? value.type : file.metadata.type(key)
  return widths[type ?? ''] ?? (type === 'string' ? 1 : 4)
}
