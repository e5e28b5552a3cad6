// A remote file whose bytes are stored while they are read.
import { kHttpChecks } from '../sources/http-checks.js'
import { callback, checkOptions, flag } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import { eachInParallel } from '../sources/parallel.js'
import { untilAbort } from '../runtime/until-abort.js'
import { addressOf, siblingOf } from '../sources/addresses.js'
import { checkRange, streamByReads } from '../sources/bytes.js'
import { HttpSource, isSameValidator, type CountedReadOptions, type HttpOptions } from '../sources/http.js'
import type { ByteSource, CacheReport, CrossOriginState, ReadOptions } from '../api/source.js'
import { alone } from './alone.js'
import { room, StoredFolder } from './folder.js'
import { haveSameBytes, isStrong, stateOnServer } from './on-server.js'
import { partBytesOf, partCount, partLength, sumOf, type StoredInfo } from './record.js'
import { Sha256 } from './sha256.js'

const kParallel = 4
// Between two reports of progress: 20 a second.
const kReportMs = 50
const kSha256 = /^(?:W\/)?"?([0-9a-f]{64})"?$/

export interface StoredOptions extends HttpOptions {
  /**
   * Ask the server once whether a complete stored file is still its file; without a network it is used as it is.
   * Default: false, no request.
   */
  revalidate?: boolean | undefined
  /**
   * Experimental: takes the file from Cross-Origin Storage, if a browser or an extension has that, another site has put
   * it there, and the server names its SHA-256 (x-linked-etag or ETag); puts it there when it is complete: for all sites,
   * or with `headers` for those of this one only. Default: false.
   */
  crossOriginStorage?: boolean | undefined
  /** Called when the file was compared with the server's, and with each answer of Cross-Origin Storage. */
  onCache?: ((report: CacheReport) => void) | undefined
}

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
 * again, even after the page was closed, unless their checksums are wrong. A complete file opens without a network. If
 * the file changed on the server, storing starts again.
 */
export class StoredSource implements ByteSource {
  readonly #url: URL
  readonly #options: StoredOptions
  readonly #http: HttpOptions
  readonly #network: HttpSource
  readonly #transfers = new Map<number, Transfer>()
  #opening: Promise<Open> | undefined
  #opened: Open | undefined
  /** the file in Cross-Origin Storage */
  #shared: Promise<Blob | undefined> | undefined
  #state: CacheReport['state'] = 'new'
  /** a hub's tag of the file itself, which may differ from the tag of the server that has it */
  #linkedTag: string | null = null

  constructor(address: string | URL, options: StoredOptions = {}) {
    checkOptions('StoredSource', options, {
      ...kHttpChecks,
      revalidate: flag,
      crossOriginStorage: flag,
      onCache: callback,
    })
    const { revalidate: _, onCache: __, crossOriginStorage: ___, ...http } = options
    this.#url = addressOf(address)
    this.#options = options
    this.#http = options.crossOriginStorage ? { ...http, fetch: this.#watched(http.fetch) } : http
    this.#network = new HttpSource(this.#url, this.#http)
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
    await this.#check(open, options)
  }

  async #open({ signal }: ReadOptions): Promise<Open> {
    signal?.throwIfAborted()
    this.#opening ??= alone(this.#url.href, signal, () => this.#begin(signal)).catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return await this.#opening
  }

  async #begin(signal: AbortSignal | undefined): Promise<Open> {
    const folder = await StoredFolder.open(this.#url.href)
    const info = await folder.info()
    const parts = info ? await folder.parts(info) : new Set<number>()
    const before = info && { folder, info, parts }
    if (before?.info.complete && parts.size === partCount(before.info)) {
      if (await this.#isUsable(before, signal)) return (this.#opened = before)
    } else if (before && (await this.#isSame(before, signal))) {
      if (parts.size > 0) this.#tell('same')
      await this.#makeRoom(before.info.size - sumOf(before.info, parts))
      return (this.#opened = before)
    } else {
      this.#tell(parts.size > 0 ? 'changed' : 'new')
    }
    return (this.#opened = await this.#startAnew(folder, signal))
  }

  #tell(state: CacheReport['state'], reason?: string): void {
    this.#state = state
    this.#options.onCache?.({ url: this.#url.href, name: this.name, state, reason })
  }

  /** A fetch that looks for the hub's tag. */
  #watched(use: HttpOptions['fetch'] = globalThis.fetch): typeof globalThis.fetch {
    return async (...request) => {
      const response = await use(...request)
      this.#linkedTag ??= response.headers.get('x-linked-etag')
      return response
    }
  }

  /** The hash by which sites share the file; undefined: it is not known, or nothing is to be shared. */
  #sharedHash({ validator }: StoredInfo): string | undefined {
    if (!this.#options.crossOriginStorage) return undefined
    return kSha256.exec(this.#linkedTag ?? '')?.[1] ?? kSha256.exec(validator ?? '')?.[1]
  }

  #tellShared(crossOrigin: CrossOriginState): void {
    const file = { url: this.#url.href, name: this.name, state: this.#state }
    this.#options.onCache?.({ ...file, crossOrigin })
  }

  /** The file in Cross-Origin Storage, with the right bytes. It is asked for once. */
  async #findShared(info: StoredInfo): Promise<Blob | undefined> {
    const hash = this.#sharedHash(info)
    if (hash === undefined) return undefined
    const { readShared } = await import('./cross-origin.js')
    const { state, file } = await readShared(hash, info.size)
    this.#tellShared(state)
    return file
  }

  /** Puts a complete file into Cross-Origin Storage, unless it came from there. */
  async #share(open: Open, signal: AbortSignal | undefined): Promise<void> {
    const hash = this.#sharedHash(open.info)
    if (hash === undefined || (await this.#shared)) return
    const { writeShared } = await import('./cross-origin.js')
    const withAll = this.#options.headers === undefined
    this.#tellShared(await writeShared(hash, this.#wholeParts(open, signal), withAll))
    signal?.throwIfAborted()
  }

  async *#wholeParts(open: Open, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    for (let part = 0; part < partCount(open.info); part++)
      yield await this.#slice(open, part, 0, partLength(open.info, part), { signal })
  }

  /** Whether a complete stored file may be used without another request. */
  async #isUsable(before: Open, signal: AbortSignal | undefined): Promise<boolean> {
    if (!this.#options.revalidate) return true
    const found = await stateOnServer(this.#url, before, this.#http, signal)
    this.#tell(found.state, found.state === 'unchecked' ? found.reason : undefined)
    return found.state !== 'changed'
  }

  /** Asks the server for its version of the file. */
  async #sizeOnServer(signal: AbortSignal | undefined): Promise<number> {
    if (this.#network.size === undefined) await this.#network.read(0, 4, { signal })
    const { size } = this.#network
    if (size === undefined || !this.#network.ranges) {
      throw new GgufError(
        'unsupported',
        `${this.#url.host} gives no ranges of ${this.name}, or does not tell its size: it cannot be kept in parts. Load it without cache.`,
      )
    }
    return size
  }

  /** Whether the server's file is that of the stored parts. */
  async #isSame(before: Open, signal: AbortSignal | undefined): Promise<boolean> {
    const { info, parts } = before
    const size = await this.#sizeOnServer(signal)
    const { validator } = this.#network
    if (size !== info.size || !isSameValidator(validator, info.validator)) return false
    if (isStrong(validator) || parts.size === 0) return true
    const whole = validator === undefined ? Math.max(...parts) : -1
    return await haveSameBytes(this.#network, before, { whole, signal })
  }

  async #startAnew(folder: StoredFolder, signal: AbortSignal | undefined): Promise<Open> {
    const size = await this.#sizeOnServer(signal)
    const { validator } = this.#network
    await folder.clear()
    await this.#makeRoom(size)
    const partBytes = partBytesOf(size)
    const version = { url: this.#url.href, name: this.name, size, validator }
    const info = { ...version, partBytes, complete: false, sealed: true }
    await folder.setInfo(info)
    return { folder, info, parts: new Set() }
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
    const isDamaged = open.parts.has(part)
    if (isDamaged) {
      if (from === to) return new Uint8Array()
      const bytes = await open.folder.readPart(open.info, part, from, to)
      signal?.throwIfAborted()
      if (bytes) return bytes
      open.parts.delete(part)
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
    try {
      return (await untilAbort(bytes, signal)).subarray(from, to)
    } catch (error) {
      if (!isDamaged || !(error instanceof GgufError)) throw error
      const offset = part * open.info.partBytes
      throw new GgufError(
        error.code,
        `The stored bytes of ${this.name} are damaged at byte ${offset}, and could not be fetched again: ${error.message}`,
        { cause: error, offset },
      )
    } finally {
      if (onBytes) listeners.delete(onBytes)
      if (--transfer.waiting === 0) control.abort()
    }
  }

  /** Tabs that download the same file fetch each part once: the others wait, and read what is stored. */
  async #fetch(open: Open, part: number, options: CountedReadOptions): Promise<Uint8Array> {
    return await alone(`${this.#url.href} ${part}`, options.signal, async () => {
      const { folder, info, parts } = open
      const stored = await folder.readPart(info, part, 0, partLength(info, part))
      if (!stored) return await this.#fetchAlone(open, part, options)
      parts.add(part)
      return stored
    })
  }

  async #fetchAlone(open: Open, part: number, options: CountedReadOptions): Promise<Uint8Array> {
    const { folder, info, parts } = open
    const shared = await (this.#shared ??= this.#findShared(info))
    if (shared) {
      const at = part * info.partBytes
      const piece = shared.slice(at, at + partLength(info, part))
      const bytes = new Uint8Array(await piece.arrayBuffer())
      await folder.setPart(info, part, bytes)
      parts.add(part)
      return bytes
    }
    const bytes = await this.#network.read(part * info.partBytes, partLength(info, part), options)
    if (this.#network.size !== info.size || !isSameValidator(this.#network.validator, info.validator)) {
      throw new GgufError('file-changed', `${this.name} was replaced while it was read. Load it again.`)
    }
    await folder.setPart(info, part, bytes)
    parts.add(part)
    return bytes
  }

  /** Called when all parts are stored. Checks that all are of one version: by the server's hash if its tag is one. */
  async #check(open: Open, { signal }: ReadOptions): Promise<void> {
    const { folder, info, parts } = open
    if (info.complete) return
    const expected = kSha256.exec(info.validator ?? '')?.[1]
    if (expected !== undefined && (await this.#hash(open, signal)) !== expected)
      await this.#drop(
        folder,
        'bad-hash',
        `The received bytes of ${this.name} do not match the server's hash. They were removed: load the file again.`,
      )
    const whole = info.validator === undefined ? 0 : -1
    if (
      !isStrong(info.validator) &&
      !(await haveSameBytes(this.#network, { folder, info, parts }, { whole, signal }))
    )
      await this.#drop(
        folder,
        'file-changed',
        `${this.name} was replaced while it was read. What was stored was removed: load the file again.`,
      )
    open.info = { ...info, complete: true }
    await folder.setInfo(open.info)
    await this.#share(open, signal)
  }

  async #hash(open: Open, signal: AbortSignal | undefined): Promise<string> {
    const hash = new Sha256()
    for await (const bytes of this.#wholeParts(open, signal)) hash.update(bytes)
    return hash.hex()
  }

  async #drop(folder: StoredFolder, code: 'bad-hash' | 'file-changed', message: string): Promise<never> {
    await folder.clear()
    this.#opening = undefined
    throw new GgufError(code, message)
  }
}
