// What panels take when files are dropped on the page.
interface Taker {
  /** media types of the files */
  types: RegExp
  /** names of further files, also in folders: those that have no media type */
  names?: RegExp
  /** shown while such files are dragged */
  hint: string
  take: (files: File[]) => void
}

/**
 * A panel takes dropped images, audio or texts while it is in the page. take() returns the function that ends this.
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

  /** Whether the panel takes files by their names. */
  fitsNames(files: readonly File[]): boolean {
    const { names } = this.taker ?? {}
    return names !== undefined && files.length > 0 && files.every(({ name }) => names.test(name))
  }

  get names(): RegExp | undefined {
    return this.taker?.names
  }

  get hint(): string {
    return this.taker?.hint ?? ''
  }

  give(files: File[]) {
    this.taker?.take(files)
  }
}
export const offered = new Offered()

const models = /\.gguf$/i

/**
 * Returns the dropped files, and of dropped folders the GGUF files. Shards are sorted by name. names: without GGUF files,
 * those of these names.
 */
export async function droppedFiles(data: DataTransfer, names?: RegExp): Promise<File[]> {
  // All entries are read before the first await, because the list is empty after the event.
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  if (!entries.some((entry) => entry.isDirectory)) return [...data.files]
  const all = (await Promise.all(entries.map((entry) => filesIn(entry, names)))).flat()
  const found = names ? all.filter(({ name }) => models.test(name)) : all
  return found.length > 0 ? found : all
}

/** Limits for nested folders, because a whole disk may be dropped by mistake. */
const deepest = 4

async function filesIn(entry: FileSystemEntry, names: RegExp | undefined, depth = 0): Promise<File[]> {
  if (entry.isFile) {
    if (depth > 0 && !models.test(entry.name) && !names?.test(entry.name)) return []
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
  return (await Promise.all(children.map((child) => filesIn(child, names, depth + 1)))).flat()
}
