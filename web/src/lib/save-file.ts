// Saves a changed file without holding it in memory.
import type { WriteOptions, WrittenFile } from 'ggufscope/edit'
import { saveBlob } from './save'

/** Size limit in bytes for holding a remote file in memory. */
const inMemory = 64_000_000
/** Milliseconds until the download's address is revoked. Browsers may start downloads of large files late. */
const keepMs = 3_600_000

interface FilePicker {
  showSaveFilePicker?: (options: {
    suggestedName: string
    types: { description: string; accept: Record<string, string[]> }[]
  }) => Promise<FileSystemFileHandle>
}

/**
 * How a file is saved. download: the browser saves slices of a local file, which take no memory, or a small file. disk:
 * pieces are written as they arrive. none: the file is large and remote, and this browser cannot write to the disk in
 * pieces.
 */
export type Way = 'download' | 'disk' | 'none'

/** The number of bytes that must be fetched before a download. Slices of local files are not read. */
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
 * Lets the user choose the target file. Must be called directly in a click handler. Chromium truncates an existing file
 * when it is chosen, so this is only used for remote files: the target could otherwise be the open local file.
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

/** Writes the file. It replaces the old file only when it is complete; after an error, the old file stays. */
export async function writeTo(target: FileSystemFileHandle, written: WrittenFile, options: WriteOptions) {
  const out = await target.createWritable()
  await written.stream(options).pipeTo(out, options.signal ? { signal: options.signal } : {})
}
