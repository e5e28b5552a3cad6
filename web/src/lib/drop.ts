/**
 * The dropped files, including those in folders. From folders only GGUF files are taken; shards are sorted by
 * name.
 */
export async function droppedFiles(data: DataTransfer): Promise<File[]> {
  // The list is empty after the event: everything is taken from it before the first await.
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  if (!entries.some((entry) => entry.isDirectory)) return [...data.files]
  const all = await Promise.all(entries.map((entry) => filesIn(entry, false)))
  return all.flat()
}

/** Limits for nested folders: a folder dropped by mistake may be a whole disk. */
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
  // A reader returns up to a hundred entries at a time, and none at the end.
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
