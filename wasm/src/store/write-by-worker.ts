// Safari before version 26 can write files of the private file system only in workers, by another kind of
// handle.

/** Exists in Safari's workers only; missing in the types of pages. */
interface SyncHandle {
  truncate(size: number): void
  write(bytes: Uint8Array): number
  flush(): void
  close(): void
}
type WithSyncHandle = FileSystemFileHandle & { createSyncAccessHandle?(): Promise<SyncHandle> }

async function write(file: WithSyncHandle, bytes: Uint8Array): Promise<void> {
  const handle = await file.createSyncAccessHandle!()
  try {
    handle.truncate(0)
    if (handle.write(bytes) !== bytes.length)
      throw new DOMException('There is no room for the file.', 'QuotaExceededError')
    handle.flush()
  } finally {
    handle.close()
  }
}

// Runs the function above in a separate worker, from a blob: address, which a content policy must allow in worker-src.
const script = (): string =>
  `const write = ${String(write)}
onmessage = ({ data: [file, bytes] }) =>
  write(file, bytes).then(() => postMessage({}), ({ name, message }) => postMessage({ name, message }))`

/** Writes the complete file. */
export async function writeByWorker(file: FileSystemFileHandle, bytes: Uint8Array): Promise<void> {
  // Workers can use the handles directly.
  if (typeof (file as WithSyncHandle).createSyncAccessHandle === 'function') return write(file, bytes)
  const url = URL.createObjectURL(new Blob([script()], { type: 'text/javascript' }))
  const worker = new Worker(url)
  try {
    await new Promise<void>((resolve, reject) => {
      worker.onerror = (event) =>
        reject(new Error(event.message || 'a worker that writes could not be started'))
      worker.onmessage = ({ data }: MessageEvent<{ name?: string; message?: string }>) => {
        if (data.name === undefined) resolve()
        else reject(new DOMException(data.message, data.name))
      }
      worker.postMessage([file, bytes])
    })
  } finally {
    worker.terminate()
    URL.revokeObjectURL(url)
  }
}
