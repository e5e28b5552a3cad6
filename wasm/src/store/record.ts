// The record of a stored file, info.json, and the division of the file into parts.

// An interruption loses at most one part.
const kMinPart = 1 << 18
const kMaxPart = 8 << 20
const kParts = 64

export interface StoredInfo {
  readonly url: string
  readonly name: string
  readonly size: number
  /** the server's ETag, or its Last-Modified */
  readonly validator: string | undefined
  readonly partBytes: number
  /** all parts are stored, and match the server's hash if it sends one */
  readonly complete: boolean
  /** All parts have checksums. Those of version 0.2 of this package have none. */
  readonly sealed?: boolean | undefined
}

/** The length of the parts of a file, except the last one. */
export const partBytesOf = (size: number): number =>
  Math.min(kMaxPart, Math.max(kMinPart, 2 ** Math.ceil(Math.log2(size / kParts))))

/** Whether the content of info.json is a record that this package may have written. */
export function isInfo(value: unknown): value is StoredInfo {
  const info = value as StoredInfo
  return (
    typeof info === 'object' &&
    info !== null &&
    typeof info.url === 'string' &&
    typeof info.name === 'string' &&
    (info.validator === undefined || typeof info.validator === 'string') &&
    typeof info.complete === 'boolean' &&
    Number.isSafeInteger(info.size) &&
    info.size >= 0 &&
    info.partBytes === partBytesOf(info.size)
  )
}

export function partCount({ size, partBytes }: StoredInfo): number {
  return Math.ceil(size / partBytes)
}

export function partLength(info: StoredInfo, part: number): number {
  return part < 0 ? 0 : Math.max(0, Math.min(info.partBytes, info.size - part * info.partBytes))
}

export function sumOf(info: StoredInfo, parts: ReadonlySet<number>): number {
  let sum = 0
  for (const part of parts) sum += partLength(info, part)
  return sum
}
