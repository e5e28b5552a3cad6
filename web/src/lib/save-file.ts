// Saves a changed file without holding it in memory.
import type { WriteOptions, WrittenFile } from 'ggufscope/edit'
import { saveBlob } from './save'

/** Limit in bytes for a file from a server that is held in memory. */
const inMemory = 64_000_000
/** Milliseconds after which the download's address is revoked. Downloads of large files start late. */
const keepMs = 3_600_000

interface FilePicker {
  showSaveFilePicker?: (options: {
    suggestedName: string
    types: { description: string; accept: Record<string, string[]> }[]
  }) => Promise<FileSystemFileHandle>
}

/**
 * download: the browser saves slices of a local file, which take no memory, or a small file. disk: pieces are written as they
 * arrive. none: the file is large, comes from a server, and this browser cannot write to the disk piece by piece.
 */
export type Way = 'download' | 'disk' | 'none'

/** Bytes that have to be read for a download: of local files none. */
export const bytesToRead = ({ parts }: WrittenFile) =>
  parts.reduce((sum, part) => {
    const isRead = part.kind === 'computed' || (part.kind === 'copy' && !('slice' in part.source))
    return sum + (isRead ? part.length : 0)
  }, 0)

export function wayOf(written: WrittenFile): Way {
  if (bytesToRead(written) <= inMemory) return 'download'
  return (window as FilePicker).showSaveFilePicker ? 'disk' : 'none'
}

/**
 * The place on the disk, chosen by a person: right after a click. Chromium empties a file that is chosen there at once, so
 * this is for files that come from a server only.
 */
export async function chooseTarget(name: string): Promise<FileSystemFileHandle | undefined> {
  try {
    return await (window as FilePicker).showSaveFilePicker?.({
      suggestedName: name,
      types: [{ description: 'GGUF model', accept: { 'application/octet-stream': ['.gguf'] } }],
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined
    throw error
  }
}

export async function download(written: WrittenFile, name: string, options: WriteOptions) {
  saveBlob(await written.blob(options), name, keepMs)
}

/** Writes the file. It appears when it is complete; before that, and after a failure, the old file stays. */
export async function writeTo(target: FileSystemFileHandle, written: WrittenFile, options: WriteOptions) {
  const out = await target.createWritable()
  await written.stream(options).pipeTo(out, options.signal ? { signal: options.signal } : {})
}
