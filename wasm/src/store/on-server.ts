// Compares what is stored of a file with what the server has now.
import { GgufError } from '../api/errors.js'
import { HttpSource, isSameValidator, type HttpOptions } from '../sources/http.js'
import { eachInParallel } from '../sources/parallel.js'
import type { StoredFolder } from './folder.js'
import { partCount, partLength, type StoredInfo } from './record.js'

const kParallel = 4
const kHeaderBytes = 64 << 10
const kSampleBytes = 4 << 10
// A server that does not answer must not keep a stored file from opening.
const kTimeoutMs = 10_000

/**
 * Whether the stored parts have the bytes of the server's file, for servers that send no strong ETag. It reads the
 * header, one whole part (whole, -1: none), and a sample of every other one.
 */
export async function haveSameBytes(
  source: HttpSource,
  { folder, info, parts }: { folder: StoredFolder; info: StoredInfo; parts: ReadonlySet<number> },
  { whole, signal }: { whole: number; signal: AbortSignal | undefined },
): Promise<boolean> {
  let same = true
  await eachInParallel([...parts], kParallel, async (part) => {
    const length = partLength(info, part)
    const count = part === whole ? length : Math.min(length, part === 0 ? kHeaderBytes : kSampleBytes)
    const from = part === 0 ? 0 : (length - count) >> 1
    if (!same) return
    const stored = await folder.readPart(info, part, from, from + count)
    const sent = await source.read(part * info.partBytes + from, count, { signal })
    if (!stored?.every((byte, i) => byte === sent[i])) same = false
  })
  return same
}

/** Whether a file with this ETag or date certainly has the same bytes, as with a strong ETag only (RFC 9110, 8.8.1). */
export const isStrong = (validator: string | undefined): boolean => validator?.startsWith('"') === true

/** The headers of a conditional request. At another origin they would cost a preflight request. */
function conditional(url: URL, { headers }: HttpOptions, validator: string | undefined): Headers {
  const all = new Headers(headers)
  const here = globalThis.location?.origin
  if (validator !== undefined && (here === undefined || here === url.origin))
    all.set(validator.endsWith(' GMT') ? 'If-Modified-Since' : 'If-None-Match', validator)
  return all
}

/** same, changed, or the reason why it is not known. */
type OnServer =
  | { readonly state: 'same' | 'changed' }
  | { readonly state: 'unchecked'; readonly reason: string }

/**
 * Whether the server's file is still the complete stored one. Takes one request, or three if the server gave neither ETag
 * nor date; none is repeated.
 */
export async function stateOnServer(
  url: URL,
  stored: { folder: StoredFolder; info: StoredInfo },
  options: HttpOptions,
  signal: AbortSignal | undefined,
): Promise<OnServer> {
  const { info } = stored
  const timeout = Math.min(options.timeout ?? Infinity, kTimeoutMs)
  const headers = conditional(url, options, info.validator)
  const source = new HttpSource(url, { ...options, headers, retries: 0, timeout })
  try {
    let same = true
    if (info.validator === undefined) {
      const last = partCount(info) - 1
      const parts = new Set([0, last >> 1, last])
      same = await haveSameBytes(source, { ...stored, parts }, { whole: -1, signal })
    } else await source.read(0, Math.min(4, info.size), { signal })
    same &&= source.size === info.size && isSameValidator(source.validator, info.validator)
    if (same) return { state: 'same' }
    // The file came in ranges. What gives none may be another page, as where a network asks to sign in first.
    if (!source.ranges)
      return { state: 'unchecked', reason: `${url.host} gave no ranges of the file, as it did before.` }
    return { state: 'changed' }
  } catch (error) {
    signal?.throwIfAborted()
    if (!(error instanceof GgufError)) throw error
    if (error.status === 304) return { state: 'same' }
    // A shorter file, or one that a server replaced while it sent it.
    if (/^(out-of-range|file-changed|bad-range)$/.test(error.code)) return { state: 'changed' }
    return { state: 'unchecked', reason: error.message }
  }
}
