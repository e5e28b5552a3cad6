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

/** A range of whole rows of one tensor. */
interface Portion {
  readonly file: number
  readonly request: number
  readonly firstRow: number
  readonly offset: number
  readonly bytes: number
}

function* portionsOf(plan: Float64Array): Generator<Portion> {
  for (let at = 0; at < plan.length; at += kPlanColumns) {
    const [file, offset, rows, rowBytes] = [plan[at]!, plan[at + 1]!, plan[at + 2]!, plan[at + 3]!]
    const most = Math.max(1, Math.floor(kPiece / Math.max(1, rowBytes)))
    for (let row = 0; row < rows; row += most) {
      const count = Math.min(most, rows - row)
      yield {
        file,
        request: at / kPlanColumns,
        firstRow: row,
        offset: offset + row * rowBytes,
        bytes: count * rowBytes,
      }
    }
  }
}

/** Fetches a few portions ahead of those that are packed: memory for loading is bounded by them. */
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
  const portions = portionsOf(plan)
  const fetcher = async () => {
    for (const { file, request, firstRow, offset, bytes } of portions) {
      const source = sources[file]!
      const read = await source.read(offset, bytes, { signal: failure.signal })
      // A source in memory gives a part of it, which must not move away.
      const piece = read.byteLength === read.buffer.byteLength ? read : read.slice()
      const own = source.size === read.buffer.byteLength ? piece.slice() : piece
      await client.call('rows', { request, firstRow, bytes: own }, { transfer: [own.buffer as ArrayBuffer] })
      failure.signal.throwIfAborted()
      loaded += bytes
      tensors = Math.max(tensors, request + 1)
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
  const { signal, threads, variant, memoryLimit = kMemoryLimit } = options
  if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1)) {
    throw new GgufError('invalid-argument', `${threads} threads cannot be.`)
  }
  if (file.container !== 'gguf') {
    throw new GgufError(
      'legacy-container',
      `A ${file.container} container from before GGUF cannot be run: convert the file first.`,
    )
  }
  const parts = file.parts.map((part) => part!) // open() misses none without being told that it may
  const headers = parts.map(({ header, source }) => ({ bytes: header.bytes(), fileSize: source.size }))
  const assets =
    options.assets === undefined
      ? undefined
      : new URL(options.assets, globalThis.location?.href ?? import.meta.url).href
  const opened: Opened = await client.call(
    'open',
    { headers, assets, threads, variant },
    { signal, transfer: headers.map(({ bytes }) => bytes.buffer) },
  )
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
  const { signal, onProgress } = options
  signal?.throwIfAborted()
  const { onProgress: _, ...opening } = options
  const sources = options.cache ? await storedSources(given, options) : given
  // What is run is read as a whole: a preview can be misled.
  const [opened, client] = await Promise.all([open(sources, { ...opening, preview: 'full' }), Client.start()])
  const file = opened as OpenFile
  try {
    const bytes = file.bytesRead
    onProgress?.({
      phase: 'header',
      loaded: bytes,
      total: bytes,
      tensors: 0,
      tensorCount: file.tensors.length,
    })
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
    file.close()
    signal?.throwIfAborted()
    throw error
  }
}
