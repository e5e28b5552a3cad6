// The parts of a file system's interface that the store uses, for the browser's private storage and for Node.

/** The used part of File. */
export interface StoredBytes {
  readonly size: number
  readonly lastModified: number
  slice(from: number, to: number): { arrayBuffer(): Promise<ArrayBuffer> }
  arrayBuffer(): Promise<ArrayBuffer>
  text(): Promise<string>
}

/** The used part of FileSystemFileHandle. Node's implementation writes whole files. */
export interface FolderFile {
  readonly kind: 'file'
  readonly name: string
  getFile(): Promise<StoredBytes>
  write?(bytes: Uint8Array): Promise<void>
}

/** The used part of FileSystemDirectoryHandle. */
export interface Folder {
  readonly kind: 'directory'
  readonly name: string
  getDirectoryHandle(name: string, options: { create: true }): Promise<Folder>
  getFileHandle(name: string, options?: { create: true }): Promise<FolderFile>
  removeEntry(name: string, options: { recursive: true }): Promise<void>
  keys(): AsyncIterable<string>
  values(): AsyncIterable<Folder | FolderFile>
}
