import { kHttpChecks } from '../sources/http-checks.js'
import { checkOptions } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import { eachInParallel } from '../sources/parallel.js'
import { addressOf, siblingOf } from '../sources/addresses.js'
import { checkRange, streamByReads } from '../sources/bytes.js'
import { HttpSource, type CountedReadOptions, type HttpOptions } from '../sources/http.js'
import type { ByteSource, ReadOptions } from '../api/source.js'
import { partCount, partLength, room, StoredFolder, sumOf, type StoredInfo } from './folder.js'
import { Sha256 } from './sha256.js'

// An interruption loses at most one part.
const kMinPart = 1 << 18
const kMaxPart = 8 << 20
const kParts = 64
const kParallel = 4
// Between two reports of progress: 20 a second.
const kReportMs = 50
const kSha256 = /^(?:W\/)?"?([0-9a-f]{64})"?$/

interface Open {
  readonly folder: StoredFolder
  info: StoredInfo
  /** the stored parts */
  readonly parts: Set<number>
}

/** A part in transfer, shared by all readers that wait for it; aborted when the last of them leaves. */
interface Transfer {
  readonly bytes: Promise<Uint8Array>
  readonly control: AbortController
  /** told of bytes as they arrive */
  readonly listeners: Set<NonNullable<CountedReadOptions['onBytes']>>
  waiting: number
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(bytes < 1e10 ? 2 : 1)} GB`
}

/** Reports the bytes of a download: stored ones, and those of parts that are on the way. */
class DownloadProgress {
  readonly #size: number
  readonly #report: ((stored: number, size: number) => void) | undefined
  /** bytes by part */
  readonly #onTheWay = new Map<number, number>()
  #last = -1
  #at = -Infinity

  constructor(size: number, report: ((stored: number, size: number) => void) | undefined) {
    this.#size = size
    this.#report = report
  }

  arrived(part: number, count: number, stored: number): void {
    this.#onTheWay.set(part, (this.#onTheWay.get(part) ?? 0) + count)
    if (performance.now() - this.#at >= kReportMs) this.tell(stored)
  }

  stored(part: number, stored: number): void {
    this.#onTheWay.delete(part)
    this.tell(stored)
  }

  tell(stored: number): void {
    const all = [...this.#onTheWay.values()].reduce((sum, count) => sum + count, stored)
    const bytes = Math.min(all, this.#size)
    if (bytes <= this.#last) return
    this.#last = bytes
    this.#at = performance.now()
    this.#report?.(bytes, this.#size)
  }
}

/**
 * A file behind an address that is stored in the browser while it is read. Stored parts are not fetched
 * again, even after the page was closed. A complete file opens without a network. If the file changed on the
 * server, storing starts again.
 */
export class StoredSource implements ByteSource {
  readonly #url: URL
  readonly #options: HttpOptions
  readonly #network: HttpSource
  readonly #transfers = new Map<number, Transfer>()
  #opening: Promise<Open> | undefined
  #opened: Open | undefined

  constructor(address: string | URL, options: HttpOptions = {}) {
    checkOptions('StoredSource', options, kHttpChecks)
    this.#url = addressOf(address)
    this.#options = options
    this.#network = new HttpSource(this.#url, options)
  }

  get size(): number | undefined {
    return this.#opened?.info.size
  }

  get name(): string {
    return this.#network.name
  }

  /** bytes of the file that are stored */
  get bytesStored(): number {
    return this.#opened ? sumOf(this.#opened.info, this.#opened.parts) : 0
  }

  sibling(name: string): StoredSource {
    return new StoredSource(siblingOf(this.#url, name), this.#options)
  }

  async *stream(offset: number, options: ReadOptions): AsyncGenerator<Uint8Array> {
    await this.#open(options)
    yield* streamByReads(this as ByteSource & { size: number }, offset, options)
  }

  async read(offset: number, length: number, options: CountedReadOptions): Promise<Uint8Array> {
    const open = await this.#open(options)
    const { partBytes, size } = open.info
    checkRange(offset, length, size)
    const bytes = new Uint8Array(length)
    const parts: number[] = []
    for (let part = Math.floor(offset / partBytes); part * partBytes < offset + length; part++)
      parts.push(part)
    await Promise.all(
      parts.map(async (part) => {
        const begin = Math.max(offset, part * partBytes)
        const end = Math.min(offset + length, (part + 1) * partBytes)
        const from = begin - part * partBytes
        bytes.set(await this.#slice(open, part, from, from + end - begin, options), begin - offset)
      }),
    )
    return bytes
  }

  /** Fetches the missing parts. onProgress: bytes stored, and the total. */
  async finish(options: ReadOptions, onProgress?: (stored: number, size: number) => void): Promise<void> {
    const open = await this.#open(options)
    const { info, parts } = open
    const progress = new DownloadProgress(info.size, onProgress)
    progress.tell(this.bytesStored)
    const missing = Array.from({ length: partCount(info) }, (_, part) => part).filter(
      (part) => !parts.has(part),
    )
    await eachInParallel(missing, kParallel, async (part) => {
      const onBytes = (_: number, count: number) => progress.arrived(part, count, this.bytesStored)
      await this.#slice(open, part, 0, 0, { ...options, onBytes })
      progress.stored(part, this.bytesStored)
    })
    await this.#check(open)
  }

  async #open({ signal }: ReadOptions): Promise<Open> {
    signal?.throwIfAborted()
    this.#opening ??= this.#begin(signal).catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return await this.#opening
  }

  async #begin(signal: AbortSignal | undefined): Promise<Open> {
    const folder = await StoredFolder.open(this.#url.href)
    const before = await folder.info()
    const parts = before ? await folder.parts(before) : new Set<number>()
    if (before?.complete && parts.size === partCount(before))
      return (this.#opened = { folder, info: before, parts })

    // The server shows whether this is still the file of the stored parts.
    await this.#network.read(0, 4, { signal })
    const { size, validator } = this.#network
    if (size === undefined || !this.#network.ranges) {
      throw new GgufError(
        'unsupported',
        `${this.#url.host} gives no ranges of ${this.name}, or does not tell its size: it cannot be kept in parts. Load it without cache.`,
      )
    }
    const isSame = before?.size === size && before.validator === validator
    if (!isSame) {
      await folder.clear()
      parts.clear()
    }
    const partBytes = Math.min(kMaxPart, Math.max(kMinPart, 2 ** Math.ceil(Math.log2(size / kParts))))
    const info =
      before && isSame
        ? before
        : { url: this.#url.href, name: this.name, size, validator, partBytes, complete: false }
    await this.#makeRoom(size - sumOf(info, parts))
    if (!isSame) await folder.setInfo(info)
    return (this.#opened = { folder, info, parts })
  }

  async #makeRoom(bytes: number): Promise<void> {
    const free = await room()
    if (bytes > free) {
      throw new GgufError(
        'quota',
        `${this.name} takes ${gigabytes(bytes)} more, and there is room for ${gigabytes(Math.max(0, free))}: remove stored models or free space on the disk.`,
      )
    }
    // Without persistence, the browser may delete the file when the disk is full. The result is not awaited, because
    // the browser may refuse, and Firefox asks the user first.
    void globalThis.navigator?.storage?.persist?.().catch(() => false)
  }

  /** Bytes [from, to) of a part; a missing part is fetched and stored first. */
  async #slice(
    open: Open,
    part: number,
    from: number,
    to: number,
    { signal, onBytes }: CountedReadOptions,
  ): Promise<Uint8Array> {
    signal?.throwIfAborted()
    if (open.parts.has(part)) {
      if (from === to) return new Uint8Array()
      const blob = (await open.folder.part(part)).slice(from, to)
      return new Uint8Array(await blob.arrayBuffer())
    }
    let transfer = this.#transfers.get(part)
    if (!transfer) {
      const control = new AbortController()
      const listeners: Transfer['listeners'] = new Set()
      const tell = (offset: number, count: number) => listeners.forEach((listener) => listener(offset, count))
      const bytes = this.#fetch(open, part, { signal: control.signal, onBytes: tell }).finally(() =>
        this.#transfers.delete(part),
      )
      bytes.catch(() => {})
      transfer = { bytes, control, listeners, waiting: 0 }
      this.#transfers.set(part, transfer)
    }
    const { bytes, control, listeners } = transfer
    transfer.waiting++
    if (onBytes) listeners.add(onBytes)
    let stop = () => {}
    try {
      const aborted = new Promise<never>((_, reject) => {
        stop = () => reject(signal!.reason)
        signal?.addEventListener('abort', stop, { once: true })
      })
      return (await Promise.race([bytes, aborted])).subarray(from, to)
    } finally {
      signal?.removeEventListener('abort', stop)
      if (onBytes) listeners.delete(onBytes)
      if (--transfer.waiting === 0) control.abort()
    }
  }

  async #fetch(open: Open, part: number, options: CountedReadOptions): Promise<Uint8Array> {
    const { folder, info, parts } = open
    const bytes = await this.#network.read(part * info.partBytes, partLength(info, part), options)
    if (this.#network.size !== info.size || this.#network.validator !== info.validator) {
      throw new GgufError('file-changed', `${this.name} was replaced while it was read. Load it again.`)
    }
    await folder.setPart(part, bytes, info.name)
    parts.add(part)
    return bytes
  }

  /** Called when all parts are stored. Checks their hash, if the server's tag is a hash. */
  async #check(open: Open): Promise<void> {
    const { folder, info } = open
    if (info.complete) return
    const expected = kSha256.exec(info.validator ?? '')?.[1]
    if (expected !== undefined) {
      const hash = new Sha256()
      for (let part = 0; part < partCount(info); part++) {
        hash.update(new Uint8Array(await (await folder.part(part)).arrayBuffer()))
      }
      if (hash.hex() !== expected) {
        await folder.clear()
        this.#opening = undefined
        throw new GgufError(
          'bad-hash',
          `The received bytes of ${this.name} do not match the server's hash. They were removed: load the file again.`,
        )
      }
    }
    open.info = { ...info, complete: true }
    await folder.setInfo(open.info)
  }
}
