import { GgufError } from '../api/errors.js'
import type { OpenFile } from '../file/file.js'
import { hasVocabulary } from '../header/metadata.js'
import { loadTextModule } from '../runtime/module.js'
import { open } from '../file/open.js'
import { addressOf } from '../sources/addresses.js'
import type { RemoteSource } from '../sources/coalesced.js'
import { HttpSource } from '../sources/http.js'
import type { ByteSource, Source } from '../api/types.js'
import { Client } from './client.js'
import { LoadedModel } from './model.js'
import { OnwardSource } from './onward-source.js'
import { kPrecisions, type Opened, type Sizes } from './protocol.js'
import type { LoadOptions, Model } from './types.js'

const kContext = 4096
const kBatch = 128
// A wasm memory ends at 4 GiB; the engine's own data and what loading needs take some of it.
const kMemoryLimit = 2 ** 32 - (64 << 20)
const kPiece = 4 << 20
// Requests under way together. One for each piece would cost browsers more than the bytes do, so each brings many, where
// the source can tell of them as they come; two pieces of a request are then on their way to the engine.
const kRequests = 3
// What is left of a request is shared among several only where one connection is seen to be slow: others gain nothing
// for what is soon there, and what a browser has received ahead of us would come twice.
const kWatchMs = 250
const kSlowBytesPerMs = 100e3
const kLeastShare = 16 << 20
const kFlowingPiece = 2 << 20
// What is between two tensors and nobody needs is fetched along.
const kGap = 64 << 10
// Rows that the engine packs together: pieces end between such groups.
const kGroupRows = 8
// The plan's numbers of a tensor: file, offset, rows, bytes of a row.
const kPlanColumns = 4

/** What is given by its address, kept as it is read. */
async function storedSources(
  given: Source | readonly Source[],
  options: LoadOptions,
): Promise<readonly Source[]> {
  const { StoredSource } = await import('../store/source.js')
  const all = Array.isArray(given) ? (given as readonly Source[]) : [given as Source]
  return all.map((one) =>
    typeof one === 'string' || one instanceof URL ? new StoredSource(one, options) : one,
  )
}

/** One address; of several files the requests for headers would stand in each other's way. */
function onwardSource(given: Source | readonly Source[], options: LoadOptions): ByteSource | undefined {
  const [one, ...others] = Array.isArray(given) ? (given as readonly Source[]) : [given as Source]
  const isAddress = others.length === 0 && (typeof one === 'string' || one instanceof URL)
  return isAddress ? new OnwardSource(new HttpSource(addressOf(one), options)) : undefined
}

/** Fetches what no tensor needed, so that the stored file is whole. */
async function finish(source: ByteSource | undefined, signal: AbortSignal | undefined): Promise<void> {
  const { StoredSource } = await import('../store/source.js')
  if (source instanceof StoredSource) await source.finish({ signal })
}

function gigabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}

/** A range of a file, and the whole rows of tensors that are in it. */
interface Piece {
  readonly file: number
  readonly offset: number
  bytes: number
  /** request of the plan, first row, offset in the piece, bytes: of each tensor */
  readonly parts: number[]
}

/** Neighbouring tensors come in one piece of about so many bytes of that file, large ones in several. */
function* piecesOf(plan: Float64Array, most: (file: number) => number): Generator<Piece> {
  let piece: Piece | undefined
  for (let at = 0; at < plan.length; at += kPlanColumns) {
    const [file, offset, rows, rowBytes] = [plan[at]!, plan[at + 1]!, plan[at + 2]!, plan[at + 3]!]
    for (let row = 0; row < rows;) {
      const begin = offset + row * rowBytes
      if (piece && (piece.file !== file || begin > piece.offset + piece.bytes + kGap)) {
        yield piece
        piece = undefined
      }
      const room = Math.floor((most(file) - (begin - (piece?.offset ?? begin))) / Math.max(1, rowBytes))
      let count = Math.min(rows - row, room)
      if (count < rows - row) count -= count % kGroupRows
      if (count < 1 && piece) {
        yield piece
        piece = undefined
        continue
      }
      count = Math.max(1, count)
      piece ??= { file, offset: begin, bytes: 0, parts: [] }
      piece.parts.push(at / kPlanColumns, row, begin - piece.offset, count * rowBytes)
      piece.bytes = Math.max(piece.bytes, begin - piece.offset + count * rowBytes)
      row += count
    }
  }
  if (piece) yield piece
}

/** A source that tells of a range as it comes: coalesced.ts. */
type Flow = NonNullable<RemoteSource['flow']>
function flowOf(source: ByteSource): Flow | undefined {
  return 'flow' in source ? (source.flow as Flow | undefined) : undefined
}

/** Pieces that one request brings, up to a gap. Of a source that does not flow, one. */
function runsOf(pieces: Iterable<Piece>, sources: readonly ByteSource[]): Piece[][] {
  const runs: Piece[][] = []
  for (const piece of pieces) {
    const source = sources[piece.file]!
    const before = runs.at(-1)?.at(-1)
    const gap = before?.file === piece.file ? piece.offset - (before.offset + before.bytes) : NaN
    // Without ranges a second request would begin at the file's first byte.
    if (flowOf(source) && gap >= 0 && (gap <= kGap || source.ranges === false)) runs.at(-1)!.push(piece)
    else runs.push([piece])
  }
  return runs
}

/** Takes from a run's end what is to come by other requests: so many, each with about as many bytes as the run keeps. */
function shareOf(run: Piece[], done: number, others: number): Piece[][] {
  const left = run.splice(done)
  const total = left.reduce((sum, { bytes }) => sum + bytes, 0)
  const shares: Piece[][] = Array.from({ length: others + 1 }, () => [])
  let before = 0
  for (const piece of left) {
    shares[Math.floor(((others + 1) * (before + piece.bytes / 2)) / total)]!.push(piece)
    before += piece.bytes
  }
  run.push(...shares.shift()!)
  return shares.filter(({ length }) => length > 0)
}

/** Fetches while what came before is packed: memory for loading is bounded by a few pieces. */
async function fill(
  client: Client,
  sources: readonly ByteSource[],
  plan: Float64Array,
  { signal, onProgress }: LoadOptions,
): Promise<void> {
  const tensorCount = plan.length / kPlanColumns
  const missing = Array.from(
    { length: tensorCount },
    (_, i) => plan[kPlanColumns * i + 2]! * plan[kPlanColumns * i + 3]!,
  )
  const total = missing.reduce((sum, bytes) => sum + bytes, 0)
  let loaded = 0
  let tensors = 0
  const failure = new AbortController()
  const stop = () => failure.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })

  /** Packs a piece, and gives its memory back. */
  const pack = async (bytes: Uint8Array<ArrayBuffer>, { parts }: Piece): Promise<ArrayBuffer> => {
    const rows = { bytes, parts: Float64Array.from(parts) }
    const returned = await client.call('rows', rows, { transfer: [bytes.buffer] })
    failure.signal.throwIfAborted()
    for (let i = 0; i < parts.length; i += 4) {
      loaded += parts[i + 3]!
      missing[parts[i]!]! -= parts[i + 3]!
      if (missing[parts[i]!] === 0) tensors++
    }
    onProgress?.({ phase: 'weights', loaded, total, tensors, tensorCount })
    return returned
  }

  const read = async (source: ByteSource, piece: Piece): Promise<void> => {
    const bytes = await source.read(piece.offset, piece.bytes, { signal: failure.signal })
    // A source in memory gives a part of it, which must not move away.
    const isShared = bytes.byteLength < bytes.buffer.byteLength || source.size === bytes.buffer.byteLength
    await pack((isShared ? bytes.slice() : bytes) as Uint8Array<ArrayBuffer>, piece)
  }

  /** Whether others should help with a run: its request is slow by itself, not for what packs, and much is left. */
  const helpers = (run: readonly Piece[], next: number, waitedMs: number, rate: number): number => {
    const isSlow = waitedMs >= kWatchMs && rate < kSlowBytesPerMs
    if (!isSlow || runs.length > 0 || sources[run[0]!.file]!.ranges === false) return 0
    const left = run.slice(next).reduce((sum, { bytes }) => sum + bytes, 0)
    return Math.min(kRequests - fetching, Math.floor(left / kLeastShare) - 1)
  }

  const flow = async (from: Flow, pieces: Piece[]): Promise<void> => {
    const last = pieces.at(-1)!
    let spare: ArrayBuffer | undefined
    let packed: Promise<ArrayBuffer | undefined> = Promise.resolve(undefined)
    let next = 0
    let bytes: Uint8Array<ArrayBuffer> | undefined
    let at = pieces[0]!.offset
    let waitedMs = 0
    let asked = performance.now()
    for await (let chunk of from(at, last.offset + last.bytes, { signal: failure.signal })) {
      waitedMs += performance.now() - asked
      while (chunk.length > 0 && next < pieces.length) {
        const piece = pieces[next]!
        const skipped = Math.min(chunk.length, Math.max(0, piece.offset - at))
        const wanted = chunk.subarray(skipped, skipped + piece.offset + piece.bytes - (at + skipped))
        chunk = chunk.subarray(skipped + wanted.length)
        at += skipped
        if (wanted.length === 0) break
        const room = spare && spare.byteLength >= piece.bytes ? spare : undefined
        bytes ??= new Uint8Array(
          room ?? new ArrayBuffer(Math.max(kFlowingPiece, piece.bytes)),
          0,
          piece.bytes,
        )
        bytes.set(wanted, at - piece.offset)
        at += wanted.length
        if (at < piece.offset + piece.bytes) continue
        const full = bytes
        bytes = undefined
        next++
        spare = await packed
        packed = pack(full, piece)
        packed.catch(() => {})
        const others = helpers(pieces, next, waitedMs, (at - pieces[0]!.offset) / waitedMs)
        if (others > 0) {
          runs.push(...shareOf(pieces, next, others))
          send()
        }
      }
      if (next === pieces.length) break
      asked = performance.now()
    }
    await packed
  }

  const runs = runsOf(
    piecesOf(plan, (file) => (flowOf(sources[file]!) ? kFlowingPiece : kPiece)),
    sources,
  )
  let fetching = 0
  const fetcher = async () => {
    fetching++
    try {
      for (let pieces = runs.shift(); pieces; pieces = runs.shift()) {
        const source = sources[pieces[0]!.file]!
        const from = flowOf(source)
        if (from) await flow(from, pieces)
        else await read(source, pieces[0]!)
      }
    } catch (error) {
      failure.abort(error)
      throw error
    } finally {
      fetching--
    }
  }
  const fetchers: Promise<void>[] = []
  /** As many requests as there may be, for what waits. */
  const send = (): void => {
    for (let more = Math.min(kRequests - fetching, runs.length); more > 0; more--) {
      const one = fetcher()
      one.catch(() => {})
      fetchers.push(one)
    }
  }
  send()
  try {
    for (const one of fetchers) await one // some come while others are awaited
  } finally {
    await Promise.allSettled(fetchers)
    for (const source of sources) if (source instanceof OnwardSource) source.leave()
    signal?.removeEventListener('abort', stop)
  }
}

async function make(file: OpenFile, client: Client, options: LoadOptions): Promise<LoadedModel> {
  const { signal, memoryLimit = kMemoryLimit } = options
  if (file.container !== 'gguf') {
    throw new GgufError(
      'legacy-container',
      `A ${file.container} container from before GGUF cannot be run: convert the file first.`,
    )
  }
  const parts = file.parts.map((part) => part!) // open() misses none without being told that it may
  const headers = parts.map(({ header, source }) => ({ bytes: header.bytes(), fileSize: source.size }))
  const opened: Opened = await client.call('open', headers, {
    signal,
    transfer: headers.map(({ bytes }) => bytes.buffer),
  })
  const trained = opened.facts[3]!
  const context = options.contextLength ?? Math.min(trained || kContext, kContext)
  if (!Number.isInteger(context) || context < 1 || context > 2 ** 24) {
    throw new GgufError('invalid-argument', `A context of ${context} tokens cannot be.`)
  }
  const { maxForks = 1, cacheType = 'f16', precision } = options
  if (!Number.isInteger(maxForks) || maxForks < 0 || maxForks > 63) {
    throw new GgufError('invalid-argument', `There can be 0 to 63 forks, not ${maxForks}.`)
  }
  if (!['f16', 'f32'].includes(cacheType) || (precision !== undefined && !kPrecisions.includes(precision))) {
    throw new GgufError('invalid-argument', `There is no cache ${cacheType} or precision ${precision}.`)
  }
  let sizes: Sizes = {
    context,
    batch: Math.min(kBatch, context),
    texts: maxForks + 1,
    halfCache: cacheType === 'f16',
    precision: precision ?? 'fast',
  }
  const sum = (parts: Float64Array) => parts.reduce((all, part) => all + part, 0)
  let memory = await client.call('memory', sizes, { signal })
  if (precision === undefined && sum(memory) > memoryLimit) {
    sizes = { ...sizes, precision: 'compact' }
    memory = await client.call('memory', sizes, { signal })
  }
  const [weights = 0, cache = 0, recurrent = 0, scratch = 0] = memory
  const total = sum(memory)
  if (total > memoryLimit) {
    throw new GgufError(
      'out-of-memory',
      `This model needs ${gigabytes(total)} (weights ${gigabytes(weights)}, context of ${context} tokens ${gigabytes(cache + recurrent)}), and ${gigabytes(memoryLimit)} can be had. Take a smaller quantization or a shorter context.`,
    )
  }
  await client.call('begin', sizes, { signal })
  const sources = parts.map(({ source }) => source)
  await Promise.all([
    // Before the first piece is there.
    client.call('vocabulary', undefined, { signal }),
    fill(client, sources, opened.plan, options),
  ])
  await client.call('start', sizes, { signal })
  return LoadedModel.of(file, client, opened, sizes, {
    weights,
    cache: cache + recurrent,
    scratch,
    total,
  })
}

/**
 * Loads a model into a worker of its own. What cannot run is refused before its weights are fetched, but for some that
 * follow the header at once: errors of code 'unsupported' (architecture, type), 'out-of-memory', and those of open(). Of a
 * split model any one of its files, or all.
 */
export async function load(given: Source | readonly Source[], options: LoadOptions = {}): Promise<Model> {
  const { signal, onProgress, threads, variant } = options
  signal?.throwIfAborted()
  if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1)) {
    throw new GgufError('invalid-argument', `${threads} threads cannot be.`)
  }
  const assets =
    options.assets === undefined
      ? undefined
      : new URL(options.assets, globalThis.location?.href ?? import.meta.url).href
  const client = await Client.start()
  let file: OpenFile | undefined
  try {
    // The engine is made while the header is read.
    const chosen = client.call('choose', { assets, threads, variant }, { signal })
    chosen.catch(() => {})
    const { onProgress: _, ...opening } = options
    const sources = options.cache
      ? await storedSources(given, options)
      : (onwardSource(given, options) ?? given)
    // What is run is read as a whole: a preview can be misled.
    file = (await open(sources, { ...opening, preview: 'full' })) as OpenFile
    const bytes = file.bytesRead
    onProgress?.({
      phase: 'header',
      loaded: bytes,
      total: bytes,
      tensors: 0,
      tensorCount: file.tensors.length,
    })
    // Its tokenizer's module travels while the engine is made.
    const text = hasVocabulary(file.metadata) ? loadTextModule(options.wasmUrl) : undefined
    text?.catch(() => {})
    await chosen
    const model = await make(file, client, options)
    await text
    if (options.cache) await Promise.all(file.parts.map((part) => finish(part?.source, signal)))
    onProgress?.({
      phase: 'ready',
      loaded: model.info.memory.weights,
      total: model.info.memory.weights,
      tensors: file.tensors.length,
      tensorCount: file.tensors.length,
    })
    return model
  } catch (error) {
    client.end()
    file?.close()
    signal?.throwIfAborted()
    throw error
  }
}
