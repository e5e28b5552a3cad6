interface Taker {
  /** media types of the files */
  types: RegExp
  /** shown while such files are dragged */
  hint: string
  take: (files: File[]) => void
}

/**
 * A panel takes dropped images or audio while it is in the page. take() returns the function that ends this.
 */
class Offered {
  private taker: Taker | undefined

  take(taker: Taker): () => void {
    this.taker = taker
    return () => {
      if (this.taker === taker) this.taker = undefined
    }
  }

  /** Whether the panel takes the dragged items. */
  fits({ items }: DataTransfer): boolean {
    const { types } = this.taker ?? {}
    return types !== undefined && items.length > 0 && [...items].every(({ type }) => types.test(type))
  }

  get hint(): string {
    return this.taker?.hint ?? ''
  }

  give(files: File[]) {
    this.taker?.take(files)
  }
}
export const offered = new Offered()

/** Returns the dropped files, and the GGUF files in dropped folders. Shards are sorted by name. */
export async function droppedFiles(data: DataTransfer): Promise<File[]> {
  // All entries are read before the first await, because the list is empty after the event.
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  if (!entries.some((entry) => entry.isDirectory)) return [...data.files]
  const all = await Promise.all(entries.map((entry) => filesIn(entry, false)))
  return all.flat()
}

/** Limits for nested folders, because a whole disk may be dropped by mistake. */
const deepest = 4

async function filesIn(entry: FileSystemEntry, inside: boolean, depth = 0): Promise<File[]> {
  if (entry.isFile) {
    if (inside && !/\.gguf$/i.test(entry.name)) return []
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    )
    return [file]
  }
  if (depth >= deepest) return []
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const children: FileSystemEntry[] = []
  // A reader returns up to a hundred entries at a time. An empty list is the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) break
    children.push(...some)
  }
  children.sort((a, b) => (a.name < b.name ? -1 : 1))
  return (await Promise.all(children.map((child) => filesIn(child, true, depth + 1)))).flat()
}
