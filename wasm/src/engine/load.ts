// Loads a model: chooses the variant and threads, opens the files, and passes the weights to the worker.
import { withCallbacks } from '../api/callbacks.js'
import type { WasmName } from '../api/assets.js'
import type { GgufFile } from '../api/file.js'
import { GgufError } from '../api/errors.js'
import type { OpenFile } from '../file/file.js'
import { isOpened } from '../file/opened.js'
import { hasVocabulary } from '../header/metadata.js'
import { loadTextModule } from '../runtime/module.js'
import { mayNeedKnownFormats } from '../text/chat-template.js'
import { loadKnownFormats } from '../text/load-known-formats.js'
import { kOpenChecks } from '../file/open-checks.js'
import { open } from '../file/open.js'
import { absolute, compile, assetFor } from '../runtime/compile.js'
import { addressOf } from '../sources/addresses.js'
import { HttpSource } from '../sources/http.js'
import { canPause } from '../sources/http-body.js'
import type { ByteSource, Source } from '../api/source.js'
import { Client } from './client.js'
import { deviceMemory, kMemory32, kMemory64 } from './memory-limits.js'
import { whyNoMemory64 } from './memory64.js'
import { infoOf, TextModel } from './model.js'
import { ContinuedSource } from './continued-source.js'
import { checkLoad } from './options.js'
import type { MemoryBytes, ModelRole, PlannedModel, Sizes } from './protocol.js'
import type { LoadedModel, LoadOptions, Model, Variant } from './types.js'
import { fetchWeights } from './weights.js'
import { WhisperModel } from './whisper-model.js'

const kContext = 4096
const kBatch = 128
// WebAssembly memory is limited to 4 GiB, with 64-bit addresses to 16 GiB. The engine's own data and loading take some of
// it.
const kLoading = 64 << 20
const kMemoryLimit = kMemory32 - kLoading
const kMemoryLimit64 = kMemory64 - kLoading

/** A source that caches an address while it is read. */
async function storedSources(
  from: Source | readonly Source[],
  options: LoadOptions,
): Promise<Source | readonly Source[]> {
  const { canKeep } = await import('../store/folder.js')
  // As in open(), nothing is cached if there is no storage.
  if (!canKeep()) return continuedSource(from, options) ?? from
  const { StoredSource } = await import('../store/source.js')
  const all = Array.isArray(from) ? (from as readonly Source[]) : [from as Source]
  const { fetch, headers, retries, timeout, onCache } = options
  return all.map((one) =>
    typeof one === 'string' || one instanceof URL
      ? new StoredSource(one, { fetch, headers, retries, timeout, onCache, revalidate: true })
      : one,
  )
}

/**
 * A source for one address. With several files, the requests for headers would delay each other. Where a transfer
 * cannot be paused, the file would arrive in memory while the engine is created.
 */
function continuedSource(from: Source | readonly Source[], options: LoadOptions): ByteSource | undefined {
  const [one, ...others] = Array.isArray(from) ? (from as readonly Source[]) : [from as Source]
  const isAddress = others.length === 0 && canPause() && (typeof one === 'string' || one instanceof URL)
  return isAddress ? new ContinuedSource(new HttpSource(addressOf(one), options)) : undefined
}

/** Fetches the bytes that no tensor needs, so that the stored file is complete. */
async function completeStoredFile(
  source: ByteSource | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { StoredSource } = await import('../store/source.js')
  if (source instanceof StoredSource) await source.finish({ signal })
}

function gigabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}

const totalOf = ({ weights, cache, recurrent, scratch }: MemoryBytes): number =>
  weights + cache + recurrent + scratch

/** Completes the options with the model's defaults. */
function sizesOf({ facts }: PlannedModel, options: LoadOptions): Sizes {
  const context = options.contextLength ?? Math.min(facts.trainedContextLength || kContext, kContext)
  const { maxForks = 1, cacheType = 'f16', precision = 'fast' } = options
  const { cacheTypeK: cacheKeys = cacheType, cacheTypeV: cacheValues = cacheType } = options
  const { sparseAttention = true } = options
  const batch = Math.min(kBatch, context)
  return { context, batch, sequences: maxForks + 1, cacheKeys, cacheValues, sparseAttention, precision }
}

/** Infinity: the device does not say. */
const deviceBytes = (): number => deviceMemory() ?? Infinity
const isSmallDevice = (): boolean => deviceBytes() < kMemoryLimit

/** The largest total for a model in a variant of the engine. */
function limitOf({ variant, memoryLimit }: LoadOptions, used: Variant): number {
  // A tab that takes more than a small device has is closed without an error.
  if (memoryLimit === undefined && isSmallDevice()) return deviceBytes()
  if (used === 'memory64') return memoryLimit ?? kMemoryLimit64
  // Beyond 4 GiB, another variant is chosen, unless this one was requested.
  return variant === undefined
    ? Math.min(memoryLimit ?? kMemoryLimit, kMemoryLimit)
    : (memoryLimit ?? kMemoryLimit)
}

/** Uses the compact precision if the fast one does not fit into 4 GiB and none was requested. */
async function fitMemory(
  client: Client,
  role: ModelRole,
  requested: Sizes,
  memoryLimit: number,
  { signal, precision }: LoadOptions,
): Promise<{ sizes: Sizes; memory: MemoryBytes }> {
  let sizes = requested
  let memory = await client.call('estimateMemory', { role, sizes }, { signal })
  if (precision === undefined && totalOf(memory) > Math.min(memoryLimit, kMemoryLimit)) {
    sizes = { ...sizes, precision: 'compact' }
    memory = await client.call('estimateMemory', { role, sizes }, { signal })
  }
  const total = totalOf(memory)
  if (total > memoryLimit) {
    const { weights, cache, recurrent } = memory
    const limited =
      memoryLimit === deviceBytes() ? ' This is what the device says it has; memoryLimit allows more.' : ''
    throw new GgufError(
      'out-of-memory',
      `This model needs ${gigabytes(total)} (weights ${gigabytes(weights)}, context of ${sizes.context} tokens ${gigabytes(cache + recurrent)}), and ${gigabytes(memoryLimit)} can be had. Take a smaller quantization or a shorter context.${limited}`,
    )
  }
  return { sizes, memory }
}

const kEngines = [
  'engine-simd.wasm',
  'engine-relaxed.wasm',
  'engine-simd-threads.wasm',
  'engine-relaxed-threads.wasm',
] as const satisfies readonly WasmName[]
const kEngines64 = ['engine-memory64.wasm'] as const satisfies readonly WasmName[]

/** Creates the engine. Modules that only this page can read are read here. */
async function createEngine(
  client: Client,
  options: LoadOptions,
  variant: Variant | undefined,
): Promise<void> {
  const { signal, threads } = options
  const names = variant === 'memory64' ? kEngines64 : kEngines
  const named = names.map(async (name) => {
    const from = await assetFor(name, options)
    if (from instanceof Response) return [name, await compile(from)] as const
    const isUrl = typeof from === 'string' || from instanceof URL
    return [name, isUrl ? absolute(from).href : from] as const
  })
  const assets = (await Promise.all(named)).filter(([, from]) => from !== undefined)
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated
  await client.call(
    'createEngine',
    { assets: Object.fromEntries(assets), isolated, threads, variant },
    { signal },
  )
}

/** The address of the projector beside a model on a hub. */
async function projectorBeside(
  from: Source | readonly Source[] | GgufFile,
  { signal, fetch, headers }: LoadOptions,
): Promise<string | undefined> {
  const first: unknown = Array.isArray(from) ? from[0] : from
  if (typeof first !== 'string' && !(first instanceof URL)) return undefined
  const { findProjector } = await import('../hub/index.js')
  const token = /^Bearer (.+)$/.exec(new Headers(headers).get('Authorization') ?? '')?.[1]
  const projector = await findProjector(absolute(first).href, { signal, fetch, token })
  return projector?.files[0]?.url
}

/** Opens a model's mmproj file while it is used. */
async function withProjector<T>(
  model: Source | readonly Source[] | GgufFile,
  options: LoadOptions,
  use: (projector: OpenFile | undefined) => Promise<T>,
): Promise<T> {
  const { projector, signal, fetch, headers, cache } = options
  const from = projector === 'auto' ? await projectorBeside(model, options) : projector
  if (from === undefined) return await use(undefined)
  const ours = !isOpened(from)
  const sources = ours && cache ? await storedSources(from as Source, options) : from
  const file = (
    ours ? await open(sources as Source, { signal, fetch, headers, preview: 'full' }) : from
  ) as OpenFile
  try {
    await file.completeHeader({ signal })
    const { mustBeLoadable } = await import('../file/damage.js')
    if (file.container === 'gguf') mustBeLoadable(file)
    const used = await use(file)
    if (ours && cache) await Promise.all(file.parts.map((part) => completeStoredFile(part?.source, signal)))
    return used
  } finally {
    if (ours) file.close()
  }
}

const isSpeech = (file: OpenFile): boolean => file.metadata.get('general.architecture') === 'whisper'

function checkRunnable(file: OpenFile, { projector, draft, adapters }: LoadOptions): void {
  const speech = isSpeech(file)
  if (file.metadata.get('general.architecture') === 'parakeet')
    throw new GgufError(
      'unsupported',
      'A Parakeet model cannot be run: its decoder is a transducer, which this engine does not have. It can be opened and converted.',
    )
  if (file.container !== 'gguf' && !speech) {
    throw new GgufError(
      'legacy-container',
      `A ${file.container} container from before GGUF cannot be run: convert the file first.`,
    )
  }
  if (file.tensors.length === 0) {
    const { kind } = file.summary()
    throw new GgufError(
      'unsupported',
      `This file has no weights (${kind === 'vocabulary' ? 'a vocabulary alone' : kind}): it can be opened, not run.`,
    )
  }
  if (speech && projector !== undefined)
    throw new GgufError('unsupported', 'A Whisper model does not take a projector.')
  if (speech && draft !== undefined)
    throw new GgufError('unsupported', 'A Whisper model does not take a draft model.')
  if (speech && adapters !== undefined && adapters.length > 0)
    throw new GgufError('unsupported', 'A Whisper model does not take adapters.')
}

interface OpenedModel {
  readonly role: ModelRole
  readonly opened: PlannedModel
  readonly sizes: Sizes
  readonly memory: MemoryBytes
}

// open() throws for missing ones unless allowed.
const partsOf = (file: OpenFile, projector: OpenFile | undefined) =>
  [...file.parts, ...(projector?.parts ?? [])].map((part) => part!)

/** Opens a file's model in the engine. A draft model uses the sizes of its target model. */
async function openModel(
  file: OpenFile,
  client: Client,
  options: LoadOptions,
  { projector, main }: { projector?: OpenFile | undefined; main?: OpenedModel | undefined },
): Promise<OpenedModel> {
  const { signal } = options
  const role = main ? 'draft' : 'main'
  const parts = partsOf(file, projector)
  const kind: 'gguf' | 'legacy' = file.container === 'gguf' ? 'gguf' : 'legacy'
  const headers = parts.map(({ header, source }) => ({
    bytes: header.bytes(),
    fileSize: source.size,
    speech: isSpeech(file) ? kind : undefined,
  }))
  const opened: PlannedModel = await client.call(
    'openModel',
    { role, headers, withProjector: projector !== undefined },
    { signal, transfer: headers.map(({ bytes }) => bytes.buffer) },
  )
  const room = limitOf(options, opened.variant) - (main ? totalOf(main.memory) : 0)
  const sizes = main?.sizes ?? sizesOf(opened, options)
  return { role, opened, ...(await fitMemory(client, role, sizes, room, options)) }
}

/** Loads the weights of a planned model. */
async function loadWeights(
  { role, opened, sizes }: OpenedModel,
  client: Client,
  options: LoadOptions,
  parts: ReturnType<typeof partsOf>,
): Promise<void> {
  const { signal } = options
  const sources = parts.map(({ source }) => source)
  await Promise.all([
    // Before memory grows for the weights: what the vocabulary leaves free is then used by what is small.
    client.call('readVocabulary', { role }, { signal }),
    client.call('allocateWeights', { role, sizes }, { signal }),
    fetchWeights(client, role, sources, opened, options),
  ])
  await client.call('startSession', { role, sizes }, { signal })
}

/** An engine, replaced by one with 64-bit memory if the model needs it. */
interface EngineSlot {
  client: Client
  readonly options: LoadOptions
  readonly ownsFile: boolean
}

const connectWorker = (options: LoadOptions): Client =>
  new Client(options.workerUrl ?? assetFor('engine-worker.js', options))

/** Plans a model, with 64-bit memory if it needs more than 4 GiB. */
async function openModelInAnyMemory(
  file: OpenFile,
  projector: OpenFile | undefined,
  slot: EngineSlot,
): Promise<OpenedModel> {
  const { options } = slot
  try {
    return await openModel(file, slot.client, options, { projector })
  } catch (error) {
    const isTooLarge = error instanceof GgufError && error.code === 'out-of-memory'
    const { variant, memoryLimit = kMemoryLimit64 } = options
    const isSmall = options.memoryLimit === undefined && isSmallDevice()
    if (!isTooLarge || variant !== undefined || isSmall || memoryLimit <= kMemoryLimit) throw error
    const missing = isSpeech(file) ? 'Whisper models cannot run in 64-bit memory.' : whyNoMemory64()
    if (missing) throw new GgufError('out-of-memory', `${error.message} ${missing}`, { cause: error })
  }
  slot.client.end()
  slot.client = connectWorker(options)
  await createEngine(slot.client, options, 'memory64')
  return await openModel(file, slot.client, options, { projector })
}

/** Loads the draft model after the model itself. */
async function loadDraftModel(
  from: NonNullable<LoadOptions['draft']>,
  client: Client,
  options: LoadOptions,
  main: OpenedModel,
): Promise<MemoryBytes> {
  const { signal, fetch } = options
  const isOpen = isOpened(from)
  const file = (
    isOpen ? from : await open(from as Source | readonly Source[], { signal, fetch, preview: 'full' })
  ) as OpenFile
  try {
    if (isOpen) await file.completeHeader({ signal })
    const { mustBeLoadable } = await import('../file/damage.js')
    if (file.container === 'gguf') mustBeLoadable(file)
    checkRunnable(file, {})
    if (isSpeech(file)) throw new GgufError('unsupported', 'A Whisper model cannot be a draft model.')
    const quiet = { ...options, onProgress: undefined }
    const planned = await openModel(file, client, quiet, { main })
    await loadWeights(planned, client, quiet, partsOf(file, undefined))
    return planned.memory
  } finally {
    if (!isOpen) file.close()
  }
}

async function createModel(
  file: OpenFile,
  projector: OpenFile | undefined,
  slot: EngineSlot,
): Promise<LoadedModel> {
  const main = await openModelInAnyMemory(file, projector, slot)
  const { client, options, ownsFile } = slot
  await loadWeights(main, client, options, partsOf(file, projector))
  const { opened, sizes } = main
  const { draft } = options
  const all = [main.memory]
  if (draft !== undefined) all.push(await loadDraftModel(draft, client, options, main))
  const sum = (of: (memory: MemoryBytes) => number) => all.reduce((total, memory) => total + of(memory), 0)
  const used = {
    weights: sum(({ weights }) => weights),
    cache: sum(({ cache, recurrent }) => cache + recurrent),
    scratch: sum(({ scratch }) => scratch),
    total: sum(totalOf),
  }
  const info = infoOf(file, opened, sizes, used, projector)
  if (isSpeech(file)) return new WhisperModel(file, info, client, ownsFile)
  const drafted = draft !== undefined
  return TextModel.of(file, client, opened, sizes, info, { ownsFile, drafted })
}

/** The model's file with its complete header. Running a model requires it, because a preview can be wrong. */
async function openWhole(
  from: Source | readonly Source[] | GgufFile,
  options: LoadOptions,
): Promise<OpenFile> {
  if (isOpened(from)) {
    const file = from as OpenFile
    await file.completeHeader({ signal: options.signal })
    return file
  }
  const opening = Object.entries(options).filter(
    ([name]) => Object.hasOwn(kOpenChecks, name) && name !== 'onProgress' && name !== 'cache',
  )
  const addresses = from as Source | readonly Source[]
  const sources = options.cache
    ? await storedSources(addresses, options)
    : (continuedSource(addresses, options) ?? addresses)
  return (await open(sources, { ...Object.fromEntries(opening), preview: 'full' })) as OpenFile
}

/**
 * Loads a model into a separate worker. source: as in open() (for a split model any one of its files, or all of
 * them), or a file that open() returned, which stays open when the model is closed. A model that cannot run is
 * refused before its weights are fetched, except for those that directly follow the header. Errors: 'unsupported'
 * (architecture, type), 'out-of-memory', and those of open().
 *
 * The file decides what is returned: a Whisper model is a SpeechModel, any other file a Model. TypeScript cannot see
 * the file, so the type argument says which one is expected: `load<SpeechModel>(source)` for Whisper, and
 * `load<LoadedModel>(source)` if it may be either, which `'transcribe' in model` tells apart.
 */
export async function load<Loaded extends LoadedModel = Model>(
  from: Source | readonly Source[] | GgufFile,
  options: LoadOptions = {},
): Promise<Loaded> {
  checkLoad(options)
  const model = await withCallbacks(
    options,
    (all) => loadModel(from, all),
    (loaded) => loaded.close(),
  )
  return model as Loaded
}

async function loadModel(
  from: Source | readonly Source[] | GgufFile,
  options: LoadOptions,
): Promise<LoadedModel> {
  const { signal, onProgress } = options
  signal?.throwIfAborted()
  const slot: EngineSlot = { client: connectWorker(options), options, ownsFile: !isOpened(from) }
  let file: OpenFile | undefined
  try {
    // The engine is created while the header is read.
    const created = createEngine(slot.client, options, options.variant)
    created.catch(() => {})
    file = await openWhole(from, options)
    const opened = file
    const { mustBeLoadable } = await import('../file/damage.js')
    if (file.container === 'gguf') mustBeLoadable(file)
    const bytes = file.bytesRead
    onProgress?.({
      phase: 'header',
      loaded: bytes,
      total: bytes,
      tensors: 0,
      tensorCount: file.tensors.length,
    })
    // The tokenizer's module is fetched while the engine is created.
    const text = hasVocabulary(file.metadata)
      ? Promise.all([
          loadTextModule(options),
          mayNeedKnownFormats(file.metadata) ? loadKnownFormats() : undefined,
        ])
      : undefined
    text?.catch(() => {})
    await created
    checkRunnable(file, options)
    const model = await withProjector(from, options, (projector) => createModel(opened, projector, slot))
    await text
    if (options.adapters && 'setAdapters' in model) await model.setAdapters(options.adapters, { signal })
    if (options.cache && !isOpened(from))
      await Promise.all(file.parts.map((part) => completeStoredFile(part?.source, signal)))
    onProgress?.({
      phase: 'ready',
      loaded: model.info.memory.weights,
      total: model.info.memory.weights,
      tensors: file.tensors.length,
      tensorCount: file.tensors.length,
    })
    return model
  } catch (error) {
    slot.client.end()
    if (!isOpened(from)) file?.close()
    signal?.throwIfAborted()
    throw error
  }
}
