// The interface of an opened file for other parts of the package.
import type { Check } from '../api/checks.js'
import type { AssetOptions } from '../api/assets.js'
import type { GgufFile } from '../api/file.js'
import type { ByteSource } from '../api/source.js'
import type { ReadRowsOptions, TensorInfo } from '../api/tensors.js'
import type { Header, TypeRow } from '../header/header.js'

export const kMaxFindings = 20

/** Formats a name from the file for a message: quoted, shortened, and without unprintable characters. */
export function printable(name: string): string {
  const short = name.slice(0, 60).replace(/[^\x20-\x7e]/g, '?')
  return `'${short}${name.length > 60 ? '...' : ''}'`
}

/** One physical file: its bytes and its parsed header. */
export interface Part {
  readonly source: ByteSource
  readonly header: Header
}

/** A place in a split model. part is undefined if the file is missing. */
export interface ShardPart {
  readonly name: string | undefined
  readonly part: Part | undefined
}

/** The byte range of whole rows of a tensor. */
export interface RowRange {
  readonly tensor: TensorInfo
  readonly type: TypeRow
  readonly source: ByteSource
  readonly offset: number
  readonly byteLength: number
  readonly rowLength: number
  /** super-blocks of 64 elements */
  readonly small: boolean
}

export interface OpenedFile extends GgufFile {
  /** The address of inspect.wasm; the other modules are next to it. */
  readonly hosting: AssetOptions | undefined
  /** The header of the first part. */
  readonly header: Header
  /** All physical files that exist. */
  readonly parts: readonly (Part | undefined)[]
  /** The same, with the names of missing files. */
  readonly shardParts: readonly ShardPart[]
  /** The geometry of a tensor's type. Throws if the type's layout is unknown. */
  tensorType(tensor: TensorInfo): TypeRow
  /** Errors: not-found, unsupported, invalid-argument, bad-shape, missing-shard. */
  rowRange(which: string | TensorInfo, options: ReadRowsOptions): RowRange
}

const opened = new WeakSet<GgufFile>()

/** Called by the class of opened files. */
export function addOpened(file: OpenedFile): void {
  opened.add(file)
}

/** A check: the value is a file that open() returned. */
export const openedFile: Check = (value) => (isOpened(value) ? undefined : 'a file that open() returned')

/** True if open() of this package created the object. */
export function isOpened(file: unknown): file is OpenedFile {
  return opened.has(file as GgufFile)
}
