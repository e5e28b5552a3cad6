// Opens a file: chooses its source, and reads its header.
import { withCallbacks } from '../api/callbacks.js'
import { checkOptions } from '../api/checks.js'
import { kOpenChecks } from './open-checks.js'
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import { OpenFile } from './file.js'
import { isOpened, type Part } from './opened.js'
import { Header } from '../header/header.js'
import type { InspectModule } from '../inspect.js'
import { inspectModule } from '../runtime/module.js'
import { addressOf } from '../sources/addresses.js'
import { BlobSource, BytesSource, streamByReads } from '../sources/bytes.js'
import { CoalescedSource, type RemoteSource } from '../sources/coalesced.js'
import { HttpSource, type HttpOptions } from '../sources/http.js'
import type { Stream } from '../sparse/parallel-stream.js'
import type { SparsePreview } from '../sparse/preview.js'
import type { GgufFile, OpenOptions, OpenProgress } from '../api/file.js'
import type { ByteSource, RetryInfo, Source, StreamOptions } from '../api/source.js'

// Larger than any real header, to stop a server that never stops sending.
const kMaxHeaderBytes = 1 << 30
// Bytes of the header that are read before a sparse preview ends the stream.
const kHeadBytes = 1 << 15
// Names of files of a set, or of raw pieces of one file.
const kShard = /-\d+-of-\d+\.gguf$/i
const kPiece = /\.part\d+of\d+$|\.gguf-split-[a-z]$/i

/** The byte source for an argument of open(). Remote: the class that reads addresses. */
export function sourceOf(
  source: Source,
  options: OpenOptions,
  onRetry?: (retry: RetryInfo) => void,
  Remote: new (url: URL, options: HttpOptions) => RemoteSource = HttpSource,
): ByteSource {
  if (typeof source === 'string' || source instanceof URL) {
    return new CoalescedSource(new Remote(addressOf(source), { ...options, onRetry }))
  }
  if (typeof Blob !== 'undefined' && source instanceof Blob) return new BlobSource(source)
  if (source instanceof ArrayBuffer) return new BytesSource(new Uint8Array(source))
  if (ArrayBuffer.isView(source)) {
    return new BytesSource(new Uint8Array(source.buffer, source.byteOffset, source.byteLength))
  }
  if (typeof source === 'object' && source !== null && 'read' in source && !isOpened(source)) return source
  throw new GgufError(
    'invalid-argument',
    `open() takes an address, a Blob or File, bytes or a ByteSource, not ${typeof source}.`,
  )
}

/** Iterates over a stream of either kind. */
async function* pieces(
  source: ByteSource,
  offset: number,
  options: StreamOptions,
): AsyncGenerator<Uint8Array> {
  if (!source.stream) {
    if (source.size === undefined) {
      throw new GgufError('invalid-argument', 'A ByteSource needs a size or a stream function.')
    }
    yield* streamByReads(source as ByteSource & { size: number }, offset, options)
    return
  }
  const stream = source.stream(offset, options)
  if (Symbol.asyncIterator in stream) {
    yield* stream as AsyncIterable<Uint8Array>
    return
  }
  // Some browsers cannot iterate over a ReadableStream.
  const reader = (stream as ReadableStream<Uint8Array>).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Converts other kinds of sources; node.ts replaces it to support paths. */
export const paths = { resolve: (source: Source): Source => source }

/** Reads all bytes of a source into a copy. Error: 'bad-length' if there are more than `most`. */
export async function readWhole(
  source: ByteSource,
  most: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of pieces(source, 0, { signal })) {
    signal?.throwIfAborted()
    parts.push(part.slice()) // a source may use its memory again
    length += part.length
    if (length > most) throw new GgufError('bad-length', `The file is longer than ${most} bytes.`)
  }
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Progress over all shards, for the caller. */
class Progress {
  readonly #report: OpenOptions['onProgress']
  #onKeys: OpenOptions['onKeys']
  #keysSeen = 0
  #loaded = 0
  shardCount = 1

  constructor({ onProgress, onKeys }: OpenOptions) {
    this.#report = onProgress
    this.#onKeys = onKeys
  }

  /** Called once, when a piece contains no new key because a long array has begun. last: there are no more pieces. */
  tellKeys(header: Header, last: boolean): void {
    if (!this.#onKeys) return
    const { keysSeen } = header.facts()
    const grown = keysSeen > this.#keysSeen
    this.#keysSeen = keysSeen
    if (!last && (grown || keysSeen === 0)) return
    const tell = this.#onKeys
    this.#onKeys = undefined
    const names = header.keys()
    const scalars = header.keyEntries().filter(({ type }) => type !== 'array')
    tell(new Map(scalars.map((entry) => [names[entry.index]!, header.scalar(entry)])))
  }

  tell(part: { shard: number; source: ByteSource; header?: Header }, added: number, retry?: RetryInfo): void {
    this.#loaded += added
    if (!this.#report) return
    const facts = part.header?.facts()
    const progress: OpenProgress = {
      loaded: this.#loaded,
      fileSize: part.source.size,
      shard: part.shard,
      shardCount: this.shardCount,
      keysSeen: facts?.keysSeen ?? 0,
      keyCount: facts?.keyCount ?? 0,
      tensorsSeen: facts?.tensorsSeen ?? 0,
      tensorCount: facts?.tensorCount ?? 0,
      retry,
    }
    this.#report(progress)
  }
}

/** Adds the file's name to an error if there are several files. */
function naming({ name }: ByteSource, error: unknown): unknown {
  if (!(error instanceof GgufError) || !name || error.message.includes(name)) return error
  const { code, message, offset, status } = error
  return new GgufError(code, `${name}: ${message}`, { offset, status, cause: error })
}

const noHeader = (length: number): GgufError =>
  new GgufError(
    'bad-count',
    `The header is not whole after ${counted(length, 'byte')}: this is no GGUF file.`,
    {
      offset: length,
    },
  )

/** The same pieces. A loop that is left closes the stream unless it is kept. */
function kept(stream: AsyncGenerator<Uint8Array>, isKept: () => boolean): AsyncIterable<Uint8Array> {
  const close = async (): Promise<IteratorReturnResult<undefined>> => {
    if (!isKept()) await stream.return(undefined)
    return { done: true, value: undefined }
  }
  return { [Symbol.asyncIterator]: () => ({ next: () => stream.next(), return: close }) }
}

/** Reads until the header is complete, and no further piece; for a sparse preview only as much as it needs. */
async function readHeader(
  source: ByteSource,
  shard: number,
  module: Promise<InspectModule>,
  progress: Progress,
  { signal, wasmUrl, assets, preview = 'full' }: OpenOptions,
): Promise<Part> {
  let header: Header | undefined
  // Loaded while the first bytes are fetched.
  let loading = preview === 'full' ? undefined : import('../sparse/preview.js')
  loading?.catch(() => {})
  try {
    let needed = 1
    let attempt: SparsePreview | undefined
    let done = performance.now()
    do {
      let left = false
      const end = preview === 'sparse' && loading ? kHeadBytes : undefined
      const stream = pieces(source, header?.length ?? 0, { signal, end })
      for await (const piece of kept(stream, () => left)) {
        signal?.throwIfAborted()
        const now = performance.now()
        header ??= new Header(await module)
        signal?.throwIfAborted()
        needed = header.append(piece, source.size)
        progress.tell({ shard, source, header }, piece.length)
        progress.tellKeys(header, needed === 0 || header.length >= kHeadBytes)
        if (needed === 0) break
        if (header.length > kMaxHeaderBytes) throw noHeader(header.length)
        if (loading) {
          const from: Stream = (offset, signal) => pieces(source, offset, { signal })
          attempt ??= new (await loading).SparsePreview(source, preview, now - done, from)
        }
        if (loading && attempt?.addChunk(piece, now, now - done)) {
          left = attempt.isWorthwhile && header.length !== source.size
          if (left || attempt.isStreamingFinal) loading = undefined
          if (left) break
        }
        done = performance.now()
      }
      if (!left || !attempt || !header) break
      const onRead = progress.tell.bind(progress, { shard, source, header })
      const found = await attempt.run(header.module, stream, { signal, onRead })
      if (found) {
        header.close()
        return { source, header: found }
      }
      // Otherwise the stream continues where it stopped.
    } while (needed !== 0)
    header ??= new Header(await module)
    signal?.throwIfAborted()
    // There are no more bytes: the parser reports what is missing.
    if (needed !== 0) header.append(new Uint8Array(), header.length)
    return { source, header }
  } catch (error) {
    header?.close()
    signal?.throwIfAborted()
    if (!(error instanceof GgufError && error.code === 'legacy-container'))
      throw progress.shardCount > 1 ? naming(source, error) : error
    const { readLegacy } = await import('../header/legacy.js')
    return { source, header: await readLegacy(source, await module, signal, { wasmUrl, assets }) }
  }
}

/**
 * Opens a GGUF file. Resolves when its header is complete. Tensor data is read on demand.
 *
 * For a split model, pass any one of its files if the others are next to it (addresses, paths), or all of them as an
 * array. Rejects with a GgufError, or with options.signal.reason.
 */
export async function open(source: Source | readonly Source[], options: OpenOptions = {}): Promise<GgufFile> {
  checkOptions('open()', options, kOpenChecks)
  return await withCallbacks(
    options,
    (all) => openFile(source, all),
    (file) => file.close(),
  )
}

async function openFile(source: Source | readonly Source[], options: OpenOptions): Promise<GgufFile> {
  const { signal, cache, wasmUrl, assets } = options
  const hosting = { wasmUrl, assets }
  signal?.throwIfAborted()
  const progress = new Progress(options)
  // The module starts while other code and the first bytes are fetched.
  const module = inspectModule(options)
  module.catch(() => {})
  const Remote = cache ? (await import('../store/kept.js')).KeptSource : HttpSource
  let sources = (Array.isArray(source) ? (source as readonly Source[]) : [source as Source]).map(
    (one, shard) => {
      const onRetry = (retry: RetryInfo) => progress.tell({ shard, source: made }, 0, retry)
      const made: ByteSource = sourceOf(one, options, onRetry, Remote)
      return made
    },
  )
  if (sources.length === 0)
    throw new GgufError('invalid-argument', 'There is nothing to open: the list is empty.')
  const read = (one: ByteSource, shard: number) => readHeader(one, shard, module, progress, options)
  let first: Part | undefined
  try {
    const name = sources[0]!.name ?? ''
    if (kPiece.test(name)) sources = [await (await import('./pieces.js')).joinPieces(sources, options)]
    // Loaded while the first bytes are fetched.
    if (sources.length > 1 || kShard.test(name)) {
      progress.shardCount = Math.max(2, sources.length)
      import('./shards.js').catch(() => {})
    }
    first = await read(sources[0]!, 0)
    progress.shardCount = sources.length
    const { metadata } = new OpenFile([{ name, part: first }])
    if (sources.length === 1 && !(Number(metadata.get('split.count') ?? 0) > 1))
      return new OpenFile([{ name: first.source.name, part: first }], hosting)
    const { openShards, findingsOfSet } = await import('./shards.js')
    const onCount = (count: number): void => void (progress.shardCount = count)
    const shards = await openShards(first, { given: sources, read, options, onCount })
    return new OpenFile(shards, hosting, shards.length > 1 ? findingsOfSet : undefined)
  } catch (error) {
    first?.header.close()
    for (const one of sources) one.close?.()
    signal?.throwIfAborted()
    throw error
  }
}
