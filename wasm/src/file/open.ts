// Opens a file: chooses its source, and reads the headers of its shards.
import { withCallbacks } from '../api/callbacks.js'
import { checkOptions } from '../api/checks.js'
import { kOpenChecks } from './open-checks.js'
import { GgufError } from '../api/errors.js'
import { OpenFile } from './file.js'
import { counted } from '../api/counted.js'
import { Header } from '../header/header.js'
import type { InspectModule } from '../inspect.js'
import type { Stream } from '../sparse/parallel-stream.js'
import type { SparsePreview } from '../sparse/preview.js'
import { isOpened, type Part } from './opened.js'
import { inspectModule } from '../runtime/module.js'
import { addressOf } from '../sources/addresses.js'
import { BlobSource, BytesSource, streamByReads } from '../sources/bytes.js'
import { CoalescedSource, type RemoteSource } from '../sources/coalesced.js'
import { HttpSource, type HttpOptions } from '../sources/http.js'
import type { GgufFile, OpenOptions, OpenProgress } from '../api/file.js'
import type { ByteSource, RetryInfo, Source, StreamOptions } from '../api/source.js'

// Larger than any real header, to stop a server that never stops sending.
const kMaxHeaderBytes = 1 << 30
// Bytes of the header that are read before a sparse preview ends the stream.
const kHeadBytes = 1 << 15
// Names of files of a set, or of raw parts of one file.
const kShard = /-\d+-of-\d+\.gguf$/i
const kRawPart = /\.part\d+of\d+$|\.gguf-split-[a-z]$/i

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
async function* chunksOf(
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

/** Reads all bytes of a source into a copy. Error: 'bad-length' if there are more than `max`. */
export async function readWhole(
  source: ByteSource,
  max: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  const check = (bytes: number): void => {
    if (bytes > max) throw new GgufError('bad-length', `The file is longer than ${max} bytes.`)
  }
  check(source.size ?? 0)
  for await (const part of chunksOf(source, 0, { signal })) {
    signal?.throwIfAborted()
    parts.push(part.slice()) // a source may use its memory again
    length += part.length
    check(length)
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
class OpenReporter {
  readonly #onProgress: OpenOptions['onProgress']
  #onKeys: OpenOptions['onKeys']
  #keysSeen = 0
  #loaded = 0
  shardCount = 1

  constructor({ onProgress, onKeys }: OpenOptions) {
    this.#onProgress = onProgress
    this.#onKeys = onKeys
  }

  /** Called once, when a chunk contains no new key because a long array has started. last: there are no more chunks. */
  reportKeys(header: Header, last: boolean): void {
    if (!this.#onKeys) return
    const { keysSeen } = header.facts()
    const grown = keysSeen > this.#keysSeen
    this.#keysSeen = keysSeen
    if (!last && (grown || keysSeen === 0)) return
    const onKeys = this.#onKeys
    this.#onKeys = undefined
    const names = header.keys()
    const scalars = header.keyEntries().filter(({ type }) => type !== 'array')
    onKeys(new Map(scalars.map((entry) => [names[entry.index]!, header.scalar(entry)])))
  }

  report(
    part: { shard: number; source: ByteSource; header?: Header | undefined },
    added: number,
    retry?: RetryInfo,
  ): void {
    this.#loaded += added
    if (!this.#onProgress) return
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
    this.#onProgress(progress)
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

/** The same chunks. Leaving a loop over them closes the stream unless it is kept. */
function keptOpen(stream: AsyncGenerator<Uint8Array>, isKept: () => boolean): AsyncIterable<Uint8Array> {
  const close = async (): Promise<IteratorReturnResult<undefined>> => {
    if (!isKept()) await stream.return(undefined)
    return { done: true, value: undefined }
  }
  return { [Symbol.asyncIterator]: () => ({ next: () => stream.next(), return: close }) }
}

/**
 * streaming: chunks arrive from the header's end so far, and are parsed. searching: a sparse preview reads parts of the
 * header; if it finds nothing, streaming goes on. A Header: it is complete, and the last state.
 */
type State = 'streaming' | 'searching' | Header

/** Reads a header: each call does the work of a state and returns the next one. create: makes the header to parse. */
function headerSteps(
  source: ByteSource,
  create: () => Promise<Header>,
  { signal, preview = 'full' }: OpenOptions,
  report: (bytes: number, isLast?: boolean) => void,
): (state: State) => Promise<State> {
  let length = 0
  let stream: AsyncGenerator<Uint8Array>
  let sparse: SparsePreview | undefined
  // The preview's code, until it is decided whether to search. Loaded while the first bytes are fetched.
  let loading = preview === 'full' ? undefined : import('../sparse/preview.js')
  loading?.catch(() => {})
  const from: Stream = (offset, signal) => chunksOf(source, offset, { signal })
  return async (state) => {
    if (state === 'searching') {
      const header = await create()
      const found = await sparse!.run(header.module, stream, { signal, onRead: (bytes) => report(bytes) })
      if (found) header.close()
      return found ?? 'streaming'
    }
    const end = preview === 'sparse' && loading ? kHeadBytes : undefined
    let requestedAt = performance.now()
    stream = chunksOf(source, length, { signal, end })
    for await (const chunk of keptOpen(stream, () => state === 'searching')) {
      signal?.throwIfAborted()
      const now = performance.now()
      const waitedMs = now - requestedAt
      const header = await create()
      const isComplete = header.append(chunk, source.size) === 0
      length = header.length
      report(chunk.length, isComplete || length >= kHeadBytes)
      if (isComplete) return header
      if (length > kMaxHeaderBytes) throw noHeader(length)
      if (loading) {
        sparse ??= new (await loading).SparsePreview(source, preview, waitedMs, from)
        if (sparse.addChunk(chunk, now, waitedMs)) {
          const isBetter = sparse.isWorthwhile && length !== source.size
          if (isBetter || sparse.isFinal) loading = undefined
          if (isBetter) return (state = 'searching')
        }
      }
      requestedAt = performance.now()
    }
    // There are no more bytes: the parser reports what is missing.
    const header = await create()
    header.append(new Uint8Array(), header.length)
    return header
  }
}

/** Reads until the header is complete, and no further chunk; for a sparse preview only as much as it needs. */
async function readHeader(
  source: ByteSource,
  shard: number,
  module: Promise<InspectModule>,
  reporter: OpenReporter,
  options: OpenOptions,
): Promise<Part> {
  const { signal, wasmUrl, assets } = options
  let header: Header | undefined
  const create = async (): Promise<Header> => {
    header ??= new Header(await module)
    signal?.throwIfAborted()
    return header
  }
  const nextState = headerSteps(source, create, options, (bytes, isLast) => {
    reporter.report({ shard, source, header }, bytes)
    if (isLast !== undefined) reporter.reportKeys(header!, isLast)
  })
  try {
    let state: State = 'streaming'
    while (typeof state === 'string') state = await nextState(state)
    return { source, header: state }
  } catch (error) {
    header?.close()
    signal?.throwIfAborted()
    if (!(error instanceof GgufError && error.code === 'legacy-container'))
      throw reporter.shardCount > 1 ? naming(source, error) : error
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
  const reporter = new OpenReporter(options)
  // The module starts while other code and the first bytes are fetched.
  const module = inspectModule(options)
  module.catch(() => {})
  const Remote = cache ? (await import('../store/kept.js')).KeptSource : HttpSource
  let sources = (Array.isArray(source) ? (source as readonly Source[]) : [source as Source]).map(
    (one, shard) => {
      const onRetry = (retry: RetryInfo) => reporter.report({ shard, source: own }, 0, retry)
      const own: ByteSource = sourceOf(one, options, onRetry, Remote)
      return own
    },
  )
  if (sources.length === 0)
    throw new GgufError('invalid-argument', 'There is nothing to open: the list is empty.')
  const read = (one: ByteSource, shard: number) => readHeader(one, shard, module, reporter, options)
  let first: Part | undefined
  try {
    const name = sources[0]!.name ?? ''
    if (kRawPart.test(name)) sources = [await (await import('./raw-parts.js')).joinRawParts(sources, options)]
    // Loaded while the first bytes are fetched.
    if (sources.length > 1 || kShard.test(name)) {
      reporter.shardCount = Math.max(2, sources.length)
      import('./shards.js').catch(() => {})
    }
    first = await read(sources[0]!, 0)
    reporter.shardCount = sources.length
    const { metadata } = new OpenFile([{ name, part: first }])
    if (sources.length === 1 && !(Number(metadata.get('split.count') ?? 0) > 1))
      return new OpenFile([{ name: first.source.name, part: first }], hosting)
    const { openShards, findingsOfSet } = await import('./shards.js')
    const onCount = (count: number): void => void (reporter.shardCount = count)
    const shards = await openShards(first, { given: sources, read, options, onCount })
    return new OpenFile(shards, hosting, shards.length > 1 ? findingsOfSet : undefined)
  } catch (error) {
    first?.header.close()
    for (const one of sources) one.close?.()
    signal?.throwIfAborted()
    throw error
  }
}
