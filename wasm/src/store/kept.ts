// Stores the bytes that are read from a remote file in the browser's private file system, or in Node's cache folder.
// The next preview of the file takes one request, which checks that the file has not changed. Checksums show bytes that
// changed on the disk.
import { siblingOf } from '../sources/addresses.js'
import { HttpSource, type HttpOptions } from '../sources/http.js'
import type { ByteSource, ReadOptions, StreamOptions } from '../api/source.js'
import { folderName, privateFolder, readJson, removeAll, writeWhole } from './folder.js'
import { kSealBytes, sealed, unsealed } from './seal.js'
import type { Folder, StoredBytes } from './types.js'

const kRoot = 'ggufscope-previews'
const kInfo = 'info.json'
// Limit for all files together; the least recently used are removed first.
const kMaxBytes = 128 << 20
// Limit for one file: a header, and some rows of its tensors.
const kMaxOfOne = 32 << 20
const kMaxRuns = 256
// A transfer is ended early if at least this many of the following bytes are stored.
const kWorth = 256 << 10
const kChunkBytes = 4 << 20
const kRun = /^(\d+)-(\d+)$/

/** A range of the file, and its location in storage: its bytes and their checksum. */
interface Run {
  readonly offset: number
  readonly end: number
  readonly file: StoredBytes
  /** The checksum was right. */
  isChecked: boolean
}

interface Info {
  readonly size: number
  readonly validator: string
  /** The stored bytes have checksums. Those of version 0.2 of this package have none. */
  readonly sealed: true
}

function lengthOf(runs: readonly Pick<Run, 'offset' | 'end'>[]): number {
  return runs.reduce((sum, { offset, end }) => sum + end - offset, 0)
}

/** Of the runs that contain the offset, the one with the largest end. */
function longestAt(runs: readonly Run[], at: number): Run | undefined {
  return runs.filter((run) => run.offset <= at && at < run.end).sort((a, b) => b.end - a.end)[0]
}

/** The end of the contiguous stored bytes from the offset on. */
function keptEnd(runs: readonly Run[], at: number): number {
  for (let run = longestAt(runs, at); run; run = longestAt(runs, at)) at = run.end
  return at
}

async function runsIn(folder: Folder): Promise<Run[]> {
  const runs: Run[] = []
  for await (const handle of folder.values()) {
    const match = kRun.exec(handle.name)
    if (!match || handle.kind !== 'file') continue
    const [offset, end] = [Number(match[1]), Number(match[2])]
    const file = await handle.getFile()
    if (file.size === end - offset + kSealBytes) runs.push({ offset, end, file, isChecked: false })
  }
  return runs
}

/** Removes the least recently used folders, except the one in use, until the rest is within the limit. */
async function tidy(inUse: string): Promise<void> {
  const root = await privateFolder(kRoot)
  const all: { name: string; seen: number; bytes: number }[] = []
  for await (const handle of root.values()) {
    if (handle.kind !== 'directory') continue
    const folder = handle
    const runs = await runsIn(folder)
    const seen = (await readJson(folder, kInfo))?.time ?? 0
    all.push({ name: handle.name, seen, bytes: lengthOf(runs) })
  }
  let bytes = all.reduce((sum, one) => sum + one.bytes, 0)
  for (const one of all.sort((a, b) => a.seen - b.seen)) {
    if (bytes <= kMaxBytes) break
    if (one.name === inUse) continue
    await root.removeEntry(one.name, { recursive: true })
    bytes -= one.bytes
  }
}

/** Removes what open() stored with the option cache. */
export async function removePreviews(): Promise<void> {
  await removeAll(await privateFolder(kRoot))
}

/**
 * A file behind an address, whose bytes are stored when they are read. They are not fetched again after the
 * server's first response has shown by its entity tag that the file is the same. Without a tag, or if storage
 * fails, it is a plain HttpSource.
 */
export class KeptSource implements ByteSource {
  readonly #url: URL
  readonly #options: HttpOptions
  readonly #network: HttpSource
  #folder: Folder | undefined
  #info: Info | undefined
  #runs: Run[] = []
  #opening: Promise<void> | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(url: URL, options: HttpOptions = {}) {
    this.#url = url
    this.#options = options
    this.#network = new HttpSource(url, options)
  }

  get size(): number | undefined {
    return this.#network.size
  }

  get name(): string {
    return this.#network.name
  }

  get ranges(): boolean {
    return this.#network.ranges
  }

  get parallel(): number {
    return this.#network.parallel
  }

  sibling(name: string): KeptSource {
    return new KeptSource(siblingOf(this.#url, name), this.#options)
  }

  async read(offset: number, length: number, options: ReadOptions): Promise<Uint8Array> {
    const kept = await this.#keptBytes(offset, length)
    if (kept) return kept
    const bytes = await this.#network.read(offset, length, options)
    this.#keep(offset, [bytes])
    return bytes
  }

  async *stream(offset: number, options: StreamOptions): AsyncGenerator<Uint8Array> {
    const chunks: Uint8Array[] = []
    let at = offset
    let keptTo = 0
    let runs: readonly Run[] = []
    try {
      for await (const chunk of this.#network.stream(offset, options)) {
        chunks.push(chunk)
        at += chunk.length
        // The first response decides whether the stored bytes may be used. Storage must not delay the
        // measurement of the link.
        if (chunks.length === 1) void this.#kept().then((kept) => (runs = kept))
        yield chunk
        // Ending a transfer costs another round trip later.
        keptTo = keptEnd(runs, at)
        if (keptTo - at >= kWorth) break
      }
    } finally {
      this.#keep(offset, chunks)
    }
    if (keptTo <= at) return
    const end = options.end ?? this.size!
    while (at < Math.min(end, keptTo)) {
      const chunk = await this.#keptBytes(at, Math.min(end, keptTo, at + kChunkBytes) - at)
      if (!chunk) break
      at += chunk.length
      yield chunk
    }
    if (at < end) yield* this.stream(at, options)
  }

  /** The stored bytes that may be used; none before the server has identified the file. */
  async #kept(): Promise<readonly Run[]> {
    const { validator, size } = this.#network
    if (validator === undefined || size === undefined) return []
    this.#opening ??= this.#open({ validator, size, sealed: true }).catch(() => {})
    await this.#opening
    return this.#runs
  }

  async #open(info: Info): Promise<void> {
    const name = await folderName(this.#url.href)
    const folder = await (await privateFolder(kRoot)).getDirectoryHandle(name, { create: true })
    const before = (await readJson(folder, kInfo))?.value as Partial<Info> | null | undefined
    const isSame = before?.validator === info.validator && before.size === info.size && before.sealed === true
    if (isSame) this.#runs = await runsIn(folder)
    else await removeAll(folder)
    this.#info = info
    // Writing also updates the time of the last use.
    await writeWhole(folder, kInfo, new TextEncoder().encode(JSON.stringify(info)))
    this.#folder = folder
    this.#write(() => tidy(name))
  }

  async #bytesOf(run: Run, offset: number, end: number): Promise<Uint8Array | undefined> {
    const [from, to] = [offset - run.offset, end - run.offset]
    try {
      if (run.isChecked) return new Uint8Array(await run.file.slice(from, to).arrayBuffer())
      const bytes = await unsealed(new Uint8Array(await run.file.arrayBuffer()), this.#info!, run.offset)
      run.isChecked = bytes !== undefined
      if (bytes) return bytes.subarray(from, to)
    } catch {
      // Another page has removed it.
    }
    this.#runs = this.#runs.filter((one) => one !== run)
    return undefined
  }

  /** Reads a range from adjacent or overlapping runs; undefined if a part of it is missing. */
  async #keptBytes(offset: number, length: number): Promise<Uint8Array | undefined> {
    const runs = await this.#kept()
    if (keptEnd(runs, offset) < offset + length) return undefined
    const bytes = new Uint8Array(length)
    for (let at = offset; at < offset + length;) {
      const run = longestAt(runs, at)
      const chunk = run && (await this.#bytesOf(run, at, Math.min(run.end, offset + length)))
      if (!chunk) return undefined
      bytes.set(chunk, at - offset)
      at += chunk.length
    }
    return bytes
  }

  #keep(offset: number, chunks: readonly Uint8Array[]): void {
    const end = chunks.reduce((sum, { length }) => sum + length, offset)
    if (end - offset > kMaxOfOne) return
    this.#write(async () => {
      const runs = await this.#kept()
      const isThere = runs.some((run) => run.offset <= offset && end <= run.end)
      const isMuch = lengthOf([...runs, { offset, end }]) > kMaxOfOne || runs.length >= kMaxRuns
      if (!this.#folder || end === offset || isThere || isMuch) return
      const bytes = new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer())
      const name = `${offset}-${end}`
      await writeWhole(this.#folder, name, await sealed(bytes, this.#info!, offset))
      const file = await (await this.#folder.getFileHandle(name)).getFile()
      this.#runs.push({ offset, end, file, isChecked: true })
    })
  }

  /** Writes run one after another. Nothing waits for them; if storage fails, less is stored. */
  #write(task: () => Promise<void>): void {
    this.#writing = this.#writing.then(task).catch(() => {})
  }
}
