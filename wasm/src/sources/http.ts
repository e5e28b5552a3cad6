// A file on a server as a source: ranges, retries, redirects.
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import type { ByteSource, ReadOptions, RetryInfo, StreamOptions } from '../api/source.js'
import { decoded, siblingOf } from './addresses.js'
import { checkRange } from './bytes.js'
import { canPause, IdleTimeout, readBody, unpausedBytes } from './http-body.js'
import { connectionLost, noCors, refusal, TransientError, unreachable } from './http-errors.js'
import { parallelRequests } from './parallel-requests.js'
import type { Overlap } from './overlap.js'
import { isNode } from '../runtime/node-module.js'
import { wait } from './wait.js'

export interface HttpOptions {
  fetch?: typeof globalThis.fetch | undefined
  headers?: HeadersInit | undefined
  retries?: number | undefined
  timeout?: number | undefined
  onRetry?: ((retry: RetryInfo) => void) | undefined
}

// Reads up to this length do not allocate a buffer for reuse.
const kShortRead = 1 << 17
const kRetries = 4
const kFirstDelayMs = 250
// If a server asks for a longer delay, the request fails.
const kMaxDelayMs = 30_000
const kTimeoutMs = 30_000
// Limit of failures, even if each attempt makes progress, so that a transfer that fails repeatedly ends.
const kMaxFailures = 40
// If a server ignores ranges, up to this many bytes are read and discarded to reach the requested ones.
const kMaxSkipped = 64 << 20
const kMaxRedirects = 20
const kMaxBlindBuffer = 16 << 20

function isForeign(url: URL): boolean {
  const here = globalThis.location?.origin
  return here !== undefined && url.origin !== here && /^https?:$/.test(url.protocol)
}

/** Whether two ETags or dates are equal, or both missing. That one of them is weak does not count. */
export const isSameValidator = (a: string | null | undefined, b: string | null | undefined): boolean =>
  (a ?? '').replace(/^W\//, '') === (b ?? '').replace(/^W\//, '')

/** One response and its body. */
interface Answer {
  body: AsyncGenerator<Uint8Array>
  /** the offset after its last byte, if known */
  end: number | undefined
}

/** Options of reads that report the bytes while they arrive. */
export interface CountedReadOptions extends ReadOptions {
  /** Called with the offset in the file and the number of bytes, also for bytes around those that were asked for. */
  onBytes?: ((offset: number, count: number) => void) | undefined
}

/**
 * A file at an http(s) address. It uses ranges if the server supports them, otherwise one transfer of the whole file.
 * After a transient failure it waits and continues at the byte where the transfer stopped.
 */
export class HttpSource implements ByteSource {
  readonly #url: URL
  readonly #options: HttpOptions
  // The target of redirects. It is requested directly, until that fails.
  #target: URL
  #size: number | undefined
  #ranges = true
  #rangesFailed = 0
  #etag: string | null = null
  #modified: string | null = null
  #answered = false
  // Whether a request without an end becomes several, because the browser would receive more than is read.
  #divides = !canPause()

  constructor(url: URL, options: HttpOptions = {}) {
    this.#url = url
    this.#target = url
    this.#options = options
  }

  get size(): number | undefined {
    return this.#size
  }

  get name(): string {
    // Messages name a folder, or the host, rather than nothing.
    return decoded(this.#url.pathname.split('/').findLast(Boolean) ?? this.#url.host)
  }

  sibling(name: string): HttpSource {
    return new HttpSource(siblingOf(this.#url, name), this.#options)
  }

  /** Identifies the version of the file at this address. */
  get validator(): string | undefined {
    return this.#etag ?? this.#modified ?? undefined
  }

  get ranges(): boolean {
    return this.#ranges
  }

  get parallel(): number {
    return parallelRequests(this.#target.href)
  }

  async *stream(offset: number, { signal, end }: StreamOptions): AsyncGenerator<Uint8Array> {
    yield* this.#transfer(offset, end, signal, false)
  }

  /**
   * The bytes [offset, end) with one request, or everything from the offset on, in chunks that are valid until the
   * next one is requested.
   */
  async *flow(offset: number, end: number | undefined, { signal }: ReadOptions): AsyncGenerator<Uint8Array> {
    if (end !== undefined) checkRange(offset, end - offset, this.#size)
    let at = offset
    for await (const chunk of this.#transfer(offset, end, signal, true)) {
      at += chunk.length
      yield chunk
    }
    if (end !== undefined && at < end) checkRange(offset, end - offset, at)
  }

  async read(offset: number, length: number, { signal, onBytes }: CountedReadOptions): Promise<Uint8Array> {
    checkRange(offset, length, this.#size)
    if (length === 0) return new Uint8Array()
    // A length without a confirmed size must not cause a large allocation.
    let bytes = new Uint8Array(this.#size === undefined ? Math.min(length, kMaxBlindBuffer) : length)
    let filled = 0
    for await (const chunk of this.#transfer(offset, offset + length, signal, length > kShortRead)) {
      if (filled + chunk.length > bytes.length) {
        const grown = new Uint8Array(Math.min(length, Math.max(2 * bytes.length, filled + chunk.length)))
        grown.set(bytes)
        bytes = grown
      }
      bytes.set(chunk, filled)
      filled += chunk.length
      onBytes?.(offset + filled - chunk.length, chunk.length)
    }
    if (filled < length) checkRange(offset, length, offset + filled)
    return bytes
  }

  /**
   * The bytes [offset, end), or fewer if the file ends before. reused: chunks are in one buffer and are valid until
   * the next one is requested.
   */
  async *#transfer(
    offset: number,
    end: number | undefined,
    signal: AbortSignal | undefined,
    reused: boolean,
  ): AsyncGenerator<Uint8Array> {
    let at = offset
    let failures = 0
    let failed = 0
    let overlap: Overlap | undefined
    for (;;) {
      try {
        const before = at
        const answer = await this.#ask(at - (overlap?.length ?? 0), end, signal, reused)
        for await (const chunk of answer.body) {
          failures = 0
          const fresh = overlap ? overlap.check(chunk) : chunk
          if (!fresh) throw this.#changed()
          if (fresh.length === 0) continue
          const bytes = end === undefined ? fresh : fresh.subarray(0, end - at)
          at += bytes.length
          if (this.validator === undefined) {
            overlap ??= new (await import('./overlap.js')).Overlap()
            overlap.keep(bytes)
          }
          yield bytes
          if (at === end) return
        }
        // If no length was announced, the file ends where the response ends.
        const last = Math.min(end ?? Infinity, this.#size ?? Infinity)
        if (answer.end === undefined || at >= last) return
        // A server may send less than requested. The rest is requested next.
        if (answer.end !== at || at === before) throw connectionLost(this.#target.host, at, undefined)
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof TransientError)) throw error
        overlap?.rewind()
        failures++
        failed++
        if (failures > (this.#options.retries ?? kRetries) || failed >= kMaxFailures) throw error.error
        const backOff = kFirstDelayMs * 2 ** (failures - 1) * (0.75 + Math.random() / 2)
        const delayMs = Math.round(error.delayMs ?? backOff)
        if (delayMs > kMaxDelayMs) throw error.error
        this.#options.onRetry?.({
          attempt: failed,
          delayMs,
          code: error.error.code,
          reason: error.error.message,
        })
        await wait(delayMs, signal)
      }
    }
  }

  /** The end of one request for everything from an offset on. They grow, so that a long header takes few of them. */
  #partEnd(at: number): number | undefined {
    const bytes = Math.min(Math.max(at, unpausedBytes()), 8 << 20)
    return this.#divides && this.#ranges ? Math.min(at + bytes, this.#size ?? Infinity) : undefined
  }

  /** Sends one request. Throws for an unusable response; the error is a TransientError if another attempt may help. */
  async #ask(
    at: number,
    end: number | undefined,
    signal: AbortSignal | undefined,
    reused: boolean,
  ): Promise<Answer> {
    signal?.throwIfAborted()
    if (!this.#ranges && at > kMaxSkipped) throw this.#noRanges(at)
    const controller = new AbortController()
    const idle = new IdleTimeout(controller, signal, this.#options.timeout ?? kTimeoutMs)
    try {
      const [response, ranged, moved] = await this.#fetch(at, end ?? this.#partEnd(at), controller.signal)
      idle.restart()
      const answer = await this.#accept(response, ranged, at, end)
      if (answer && moved) this.#target = moved
      if (answer === undefined) {
        idle.done()
        controller.abort()
        return await this.#ask(at, end, signal, reused)
      }
      const foreign = this.#options.fetch !== undefined
      return {
        end: answer.end,
        body: readBody(response, { skip: answer.skip, at, reused, foreign, idle, host: this.#target.host }),
      }
    } catch (error) {
      idle.done()
      controller.abort()
      signal?.throwIfAborted()
      if (idle.timedOut) throw connectionLost(this.#target.host, at, idle.timeoutError())
      throw error
    }
  }

  /** The response, whether a range was requested, and the target of redirects that were followed here. */
  async #fetch(
    at: number,
    end: number | undefined,
    signal: AbortSignal,
    ranged = this.#ranges,
    target = this.#target,
    hops = 0,
  ): Promise<[Response, boolean, URL | undefined]> {
    const headers = new Headers(target.origin === this.#url.origin ? this.#options.headers : undefined)
    // At another origin, fetch() removes Authorization, but not the caller's other headers.
    const others = [...headers.keys()].filter((name) => name !== 'authorization')
    if (ranged) {
      headers.set('Range', `bytes=${at}-${end === undefined ? '' : end - 1}`)
      // At another origin it would cost a preflight request. The validators of the response are compared anyway.
      const validator = this.#etag?.startsWith('"') ? this.#etag : null
      if (validator !== null && !isForeign(target)) headers.set('If-Range', validator)
    }
    const fetch = this.#options.fetch ?? globalThis.fetch
    // Node ends with an error that nobody can catch if such a request is aborted.
    const own = isNode() && target.protocol === 'blob:' ? null : signal
    const init: RequestInit = { headers, signal: own, cache: 'no-store' }
    let response: Response
    try {
      response = await fetch(target.href, others.length > 0 ? { ...init, redirect: 'manual' } : init)
      if (response.type === 'opaqueredirect') {
        // Browsers hide the target of a redirect, so headers that they would pass on are not sent.
        for (const name of others) headers.delete(name)
        response = await fetch(target.href, init)
      }
    } catch (cause) {
      if (signal.aborted) throw cause
      if (target !== this.#url && hops === 0) {
        this.#target = this.#url
        return await this.#fetch(at, end, signal, ranged)
      }
      // fetch() fails in the same way if the server is unreachable and if it does not allow this page (CORS). This
      // finds out which. Range may be the header that the server, or the browser on its behalf, does not allow.
      const foreign = isForeign(this.#url) && at <= kMaxSkipped
      if (foreign && ranged && (await this.#isThere(signal))) {
        if (++this.#rangesFailed >= 2) this.#ranges = false
        return await this.#fetch(at, end, signal, false)
      }
      if (this.#answered) throw connectionLost(this.#target.host, at, cause)
      if (foreign && !ranged) throw noCors(this.#url.host, cause)
      throw unreachable(this.#url.host, cause)
    }
    const to =
      others.length > 0 && Math.floor(response.status / 100) === 3 && response.headers.get('location')
    if (!to) return [response, ranged, hops > 0 ? target : undefined]
    void response.body?.cancel().catch(() => {})
    if (hops >= kMaxRedirects || !URL.canParse(to, target.href))
      throw unreachable(this.#url.host, new Error('too many redirects, or one to no address'))
    return await this.#fetch(at, end, signal, ranged, new URL(to, target), hops + 1)
  }

  async #isThere(signal: AbortSignal): Promise<boolean> {
    const fetch = this.#options.fetch ?? globalThis.fetch
    const probe: RequestInit = { method: 'HEAD', mode: 'no-cors', cache: 'no-store', signal }
    const answer = await fetch(this.#url.href, probe).catch(() => undefined)
    return answer !== undefined
  }

  #changed(status?: number): GgufError {
    return new GgufError(
      'file-changed',
      `${this.name} on ${this.#target.host} was replaced while it was read. Open it again.`,
      { status },
    )
  }

  #noRanges(at: number): GgufError {
    return new GgufError(
      'no-ranges',
      `${this.#target.host} ignores byte ranges: to reach byte ${at}, everything before would have to be downloaded. Download the file and open it from your disk.`,
      { offset: at },
    )
  }

  /**
   * Compares a response with what is known about the file. Returns undefined if the request must be repeated in
   * another way.
   */
  async #accept(
    response: Response,
    ranged: boolean,
    at: number,
    end: number | undefined,
  ): Promise<{ skip: number; end: number | undefined } | undefined> {
    let { status } = response
    const encoded = !['', 'identity'].includes(response.headers.get('content-encoding') ?? '')
    if (status !== 200 && status !== 206) return await this.#refused(response, at)

    const etag = response.headers.get('etag')
    const modified = response.headers.get('last-modified')
    const sent = response.headers.get('content-length')
    const length = sent === null || encoded ? undefined : Number(sent)
    let total: number | undefined
    let last: number | undefined
    const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(response.headers.get('content-range') ?? '')
    // Without Content-Range, more bytes than were asked for are the whole file.
    if (!range && length! > end! - at) status = 200
    if (status === 206) {
      if (encoded && this.#ranges) return this.#withoutRanges()
      const first = range ? Number(range[1]) : at
      const parts = /^multipart\//i.test(response.headers.get('content-type') ?? '')
      if (first !== at || encoded || parts) {
        throw new GgufError(
          'bad-range',
          first === at
            ? `${this.#target.host} sent the range at byte ${at} compressed or in several parts, and neither can be read. Download the file and open it from your disk.`
            : `${this.#target.host} was asked for byte ${at} and sent byte ${first}. Download the file and open it from your disk.`,
          { status, offset: at },
        )
      }
      // CORS may hide Content-Range, and its total may be "*". Then an open range ends at the end of the file.
      if (range && range[3] !== '*') total = Number(range[3])
      else if (end === undefined && this.#divides) return this.#undivided()
      else if (!range && end === undefined && length !== undefined) total = at + length
      last = length !== undefined ? at + length : range ? Number(range[2]) + 1 : undefined
    } else {
      if (ranged) this.#ranges = false
      // Another origin may hide that its response is compressed. Then this is the length of the compressed bytes.
      if (!isForeign(this.#target) || response.headers.has('content-encoding')) total = length
    }

    // The dates count if one of the responses has no tag.
    const both = this.#etag !== null && etag !== null ? [this.#etag, etag] : [this.#modified, modified]
    const [before, now] = both.includes(null) ? [this.validator, etag ?? modified] : both
    // A weak tag may stay the same. Then the dates count, too.
    const isWeak = /^W/.test((this.#etag ?? '') && (etag ?? ''))
    const changed =
      (this.#answered && !isSameValidator(before, now)) ||
      (isWeak && this.#modified !== null && modified !== null && this.#modified !== modified) ||
      (this.#size !== undefined && total !== undefined && total !== this.#size)
    if (changed) throw this.#changed(status)
    this.#etag ??= etag
    this.#modified ??= modified
    this.#size ??= total
    this.#answered = true
    if (response.redirected && response.url) this.#target = new URL(response.url)

    if (status === 200) {
      if (at > kMaxSkipped) throw this.#noRanges(at)
      return { skip: at, end: total }
    }
    return { skip: 0, end: last }
  }

  /** Requests the whole file again, because a server that compresses partial responses counts the compressed bytes. */
  #withoutRanges(): undefined {
    this.#ranges = false
  }

  /** Requests everything from an offset on again, because a part does not tell where the file ends. */
  #undivided(): undefined {
    this.#divides = false
  }

  async #refused(response: Response, at: number): Promise<{ skip: number; end: number } | undefined> {
    const { status } = response
    const host = this.#target.host
    if (status === 416 && this.#ranges) {
      const total = /^bytes \*\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1]
      if (total !== undefined && Number(total) <= at) {
        if (this.#size !== undefined && this.#size !== Number(total)) {
          throw this.#changed(status)
        }
        if (at === 0) {
          this.#size = 0
          return { skip: Infinity, end: 0 } // the body is a text about the error
        }
        throw new GgufError(
          'bad-range',
          `${host} has only ${counted(Number(total), 'byte')} of ${this.name}: there is no byte ${at}.`,
          { status, offset: at },
        )
      }
      return this.#withoutRanges()
    }
    void response.body?.cancel().catch(() => {})
    // The signed address of a redirect may have expired, so the original address is requested again.
    if (this.#target !== this.#url && status >= 400 && status < 429) {
      this.#target = this.#url
      return undefined
    }
    throw refusal(response, { host, name: this.name })
  }
}
