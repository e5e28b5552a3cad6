import { GgufError } from '../errors.js'
import type { OpenFile } from '../file.js'
import { hasVocabulary } from '../metadata.js'
import { loadTextModule } from '../module.js'
import { open } from '../open.js'
import type { ByteSource, Source } from '../types.js'
import { Client } from './client.js'
import { LoadedModel } from './model.js'
import type { Opened, Sizes } from './protocol.js'
import type { LoadOptions, Model } from './types.js'

const kContext = 4096
const kBatch = 128
// A wasm memory ends at 4 GiB; the engine's own data and what loading needs take some of it.
const kMemoryLimit = 2 ** 32 - (64 << 20)
const kPiece = 4 << 20
const kPiecesAhead = 3
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

/** Neighbouring tensors come in one piece, large ones in several. */
function* piecesOf(plan: Float64Array): Generator<Piece> {
  let piece: Piece | undefined
  for (let at = 0; at < plan.length; at += kPlanColumns) {
    const [file, offset, rows, rowBytes] = [plan[at]!, plan[at + 1]!, plan[at + 2]!, plan[at + 3]!]
    for (let row = 0; row < rows;) {
      const begin = offset + row * rowBytes
      if (piece && (piece.file !== file || begin > piece.offset + piece.bytes + kGap)) {
        yield piece
        piece = undefined
      }
      const room = Math.floor((kPiece - (begin - (piece?.offset ?? begin))) / Math.max(1, rowBytes))
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

/** Fetches a few pieces ahead of the one that is packed: memory for loading is bounded by them. */
async function fill(
  client: Client,
  sources: readonly ByteSource[],
  plan: Float64Array,
  { signal, onProgress }: LoadOptions,
): Promise<void> {
  const tensorCount = plan.length / kPlanColumns
  let total = 0
  for (let at = 0; at < plan.length; at += kPlanColumns) total += plan[at + 2]! * plan[at + 3]!
  let loaded = 0
  let tensors = 0
  const failure = new AbortController()
  const stop = () => failure.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  const pieces = piecesOf(plan)
  const fetcher = async () => {
    for (const { file, offset, bytes, parts } of pieces) {
      const source = sources[file]!
      const read = await source.read(offset, bytes, { signal: failure.signal })
      // A source in memory gives a part of it, which must not move away.
      const isShared = read.byteLength < read.buffer.byteLength || source.size === read.buffer.byteLength
      const own = isShared ? read.slice() : read
      const rows = { bytes: own, parts: Float64Array.from(parts) }
      await client.call('rows', rows, { transfer: [own.buffer as ArrayBuffer] })
      failure.signal.throwIfAborted()
      for (let i = 0; i < parts.length; i += 4) {
        tensors = Math.max(tensors, parts[i]! + 1)
        loaded += parts[i + 3]!
      }
      onProgress?.({ phase: 'weights', loaded, total, tensors, tensorCount })
    }
  }
  const fetchers = Array.from({ length: kPiecesAhead }, async () => {
    try {
      await fetcher()
    } catch (error) {
      failure.abort(error)
      throw error
    }
  })
  try {
    await Promise.all(fetchers)
  } finally {
    await Promise.allSettled(fetchers)
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
  const { maxForks = 1, cacheType = 'f16', precision = 'fast' } = options
  if (!Number.isInteger(maxForks) || maxForks < 0 || maxForks > 63) {
    throw new GgufError('invalid-argument', `There can be 0 to 63 forks, not ${maxForks}.`)
  }
  if (!['f16', 'f32'].includes(cacheType) || !['fast', 'exact'].includes(precision)) {
    throw new GgufError('invalid-argument', `There is no cache ${cacheType} or precision ${precision}.`)
  }
  const sizes: Sizes = {
    context,
    batch: Math.min(kBatch, context),
    texts: maxForks + 1,
    halfCache: cacheType === 'f16',
    exact: precision === 'exact',
  }
  const [weights = 0, cache = 0, recurrent = 0, scratch = 0] = await client.call('memory', sizes, { signal })
  const total = weights + cache + recurrent + scratch
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
    // Its tokenizer's module travels beside the weights.
    hasVocabulary(file.metadata) ? loadTextModule(options.wasmUrl) : undefined,
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
 * Loads a model into a worker of its own. What cannot run is refused before its weights are fetched: errors of code
 * 'unsupported' (architecture, type), 'out-of-memory', and those of open(). Of a split model any one of its files, or all.
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
    const sources = options.cache ? await storedSources(given, options) : given
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
    await chosen
    const model = await make(file, client, options)
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
