// What the store uses of a file system: a browser's private one, or Node's.

/** What is used of a File. */
export interface StoredBytes {
  readonly size: number
  readonly lastModified: number
  slice(from: number, to: number): { arrayBuffer(): Promise<ArrayBuffer> }
  arrayBuffer(): Promise<ArrayBuffer>
  text(): Promise<string>
}

/** What is used of a FileSystemFileHandle; those of Node write as a whole. */
export interface FolderFile {
  readonly kind: 'file'
  readonly name: string
  getFile(): Promise<StoredBytes>
  write?(bytes: Uint8Array): Promise<void>
}

/** What is used of a FileSystemDirectoryHandle. */
export interface Folder {
  readonly kind: 'directory'
  readonly name: string
  getDirectoryHandle(name: string, options: { create: true }): Promise<Folder>
  getFileHandle(name: string, options?: { create: true }): Promise<FolderFile>
  removeEntry(name: string, options: { recursive: true }): Promise<void>
  keys(): AsyncIterable<string>
  values(): AsyncIterable<Folder | FolderFile>
}
