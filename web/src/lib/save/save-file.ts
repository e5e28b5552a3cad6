// Saves a new file without holding it in memory.
import type { WrittenFile } from 'ggufscope/edit'
import { canStream, streamDownload } from './download'
import { saveBlob } from './save'

/** Size limit in bytes for holding a file in memory. */
const inMemory = 64_000_000
/** Milliseconds until the download's address is revoked. Browsers may start downloads of large files late. */
const keepMs = 3_600_000

export interface SaveOptions {
  signal: AbortSignal
  onProgress: (progress: { written: number; size: number; tensor: string | undefined }) => void
}

/** A file that can be saved: a WrittenFile, or one that a worker computes. */
export interface Savable {
  readonly size: number
  /** The number of bytes that must be read or computed before a download. Slices of local files are not read. */
  readonly toRead: number
  stream(options: SaveOptions): ReadableStream<Uint8Array>
  blob(options: SaveOptions): Promise<Blob>
}

interface Picker {
  showSaveFilePicker?: (options: {
    suggestedName: string
    types: { description: string; accept: Record<string, string[]> }[]
  }) => Promise<FileSystemFileHandle>
  showDirectoryPicker?: (options: { mode: 'readwrite' }) => Promise<FileSystemDirectoryHandle>
}

/**
 * How a file is saved. download: the browser saves slices of a local file, which take no memory, or a small file. disk:
 * pieces are written as they arrive. stream: the service worker passes the pieces on to a download. none: the file is
 * large, and this browser can do neither.
 */
export type Way = 'download' | 'disk' | 'stream' | 'none'

export const bytesToRead = ({ parts }: Pick<WrittenFile, 'parts'>) =>
  parts.reduce((sum, part) => {
    const isRead = part.kind === 'computed' || (part.kind === 'copy' && !('slice' in part.source))
    return sum + (isRead ? part.length : 0)
  }, 0)

export const savableOf = (written: WrittenFile): Savable => ({
  size: written.size,
  toRead: bytesToRead(written),
  stream: (options) => written.stream(options),
  blob: (options) => written.blob(options),
})

/**
 * isLocal: the open file is on this computer. Chromium truncates an existing file when it is chosen as the target, which
 * could be the open file, so a download is preferred for local files.
 */
export function wayOf({ toRead }: Pick<Savable, 'toRead'>, isLocal: boolean): Way {
  if (toRead <= inMemory) return 'download'
  const ways: Way[] = []
  if ((window as Picker).showSaveFilePicker) ways.push('disk')
  if (canStream()) ways.push('stream')
  return (isLocal ? ways.at(-1) : ways[0]) ?? 'none'
}

export const canChooseFolder = () => (window as Picker).showDirectoryPicker !== undefined

/** The user's choice; undefined if the dialog was cancelled. */
async function chosen<T>(choice: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await choice
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined
    throw error
  }
}

/** Lets the user choose the target file. Must be called directly in a click handler. */
export function chooseTarget(name: string): Promise<FileSystemFileHandle | undefined> {
  const ending = /\.\w+$/.exec(name)?.[0] ?? '.gguf'
  return chosen(
    (window as Picker).showSaveFilePicker?.({
      suggestedName: name,
      types: [{ description: 'Model', accept: { 'application/octet-stream': [ending] } }],
    }),
  )
}

export const chooseFolder = () => chosen((window as Picker).showDirectoryPicker?.({ mode: 'readwrite' }))

/** Saves as a download. */
export async function download(
  file: Savable,
  name: string,
  way: 'download' | 'stream',
  options: SaveOptions,
) {
  if (way === 'stream') await streamDownload(file.stream(options), name, file.size, options.signal)
  else saveBlob(await file.blob(options), name, keepMs)
}

/** Writes the file. It replaces the old file only when it is complete; after an error, the old file stays. */
export async function writeTo(target: FileSystemFileHandle, file: Savable, options: SaveOptions) {
  const out = await target.createWritable()
  await file.stream(options).pipeTo(out, { signal: options.signal })
}
