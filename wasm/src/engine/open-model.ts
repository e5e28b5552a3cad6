// Opens models in engines: starts a worker, plans the memory, and passes the weights to it.
import type { WasmName } from '../api/assets.js'
import { GgufError } from '../api/errors.js'
import type { OpenFile } from '../file/file.js'
import { absolute, assetFor, compile } from '../runtime/compile.js'
import { readAdapters } from './adapters.js'
import { Client } from './client.js'
import { isSpeech } from './file-kinds.js'
import { deviceMemory, kMemory32, kMemory64 } from './memory-limits.js'
import { whyNoMemory64 } from './memory64.js'
import type { MemoryBytes, ModelRole, PlannedModel, Products, Sizes } from './protocol.js'
import { startWorker } from './start-worker.js'
import type { DeviceKind, GpuAdapter, LoadOptions, Variant } from './types.js'
import { fetchWeights } from './weights.js'

const kContext = 4096
const kBatch = 128
// More tokens at once keep a graphics card busy. Its kernels compute up to eight at least.
const kGpuBatch = 512
const kMinGpuBatch = 8

// WebAssembly memory is limited to 4 GiB, with 64-bit addresses to 16 GiB. The engine's own data and loading take some of
// it.
const kLoading = 64 << 20
const kMemoryLimit = kMemory32 - kLoading
const kMemoryLimit64 = kMemory64 - kLoading

function gigabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}

export const totalOf = ({ weights, cache, recurrent, scratch }: MemoryBytes): number =>
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
export async function createEngine(
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

/** Options for an engine on a graphics card: its threads compute only what is before the layers of an encoder. */
export const gpuOptions = (options: LoadOptions, file: OpenFile): LoadOptions => ({
  ...options,
  threads: options.projector === undefined && !isSpeech(file) ? 1 : options.threads,
  variant: undefined,
})

export interface OpenedModel {
  readonly role: ModelRole
  readonly opened: PlannedModel
  readonly sizes: Sizes
  readonly memory: MemoryBytes
  /** The graphics card on which it runs; undefined: it runs on the CPU. */
  readonly adapter?: GpuAdapter
  /** there: why its encoders of images and of audio run on the CPU; empty: they do not, or there are none */
  readonly whyNoEncoder?: readonly string[]
  /** there: what products multiply, if not floats */
  readonly products?: Products
}

// open() throws for missing ones unless allowed.
export const partsOf = (file: OpenFile, projector: OpenFile | undefined) =>
  [...file.parts, ...(projector?.parts ?? [])].map((part) => part!)

/** Passes a model's headers to the engine, which plans what it reads of the file. */
async function planModel(
  file: OpenFile,
  client: Client,
  { signal }: LoadOptions,
  { role, projector }: { role: ModelRole; projector?: OpenFile | undefined },
): Promise<PlannedModel> {
  const parts = partsOf(file, projector)
  const kind: 'gguf' | 'legacy' = file.container === 'gguf' ? 'gguf' : 'legacy'
  const headers = parts.map(({ header, source }) => ({
    bytes: header.bytes(),
    fileSize: source.size,
    speech: isSpeech(file) ? kind : undefined,
  }))
  return await client.call(
    'openModel',
    { role, headers, withProjector: projector !== undefined },
    { signal, transfer: headers.map(({ bytes }) => bytes.buffer) },
  )
}

/** Opens a file's model in the engine. A draft model uses the sizes of its target model. */
export async function openModel(
  file: OpenFile,
  client: Client,
  options: LoadOptions,
  { projector, main }: { projector?: OpenFile | undefined; main?: OpenedModel | undefined },
): Promise<OpenedModel> {
  const role = main ? 'draft' : 'main'
  const opened = await planModel(file, client, options, { role, projector })
  const room = limitOf(options, opened.variant) - (main ? totalOf(main.memory) : 0)
  const sizes = main?.sizes ?? sizesOf(opened, options)
  return { role, opened, ...(await fitMemory(client, role, sizes, room, options)) }
}

/**
 * Opens a file's model on a graphics card. onlyTokens: it will hardly compute prompts. Encoders of a projector without a
 * plan run on the CPU. Errors: 'unsupported' with the reason for a model that has no plan.
 */
export async function openOnGpu(
  file: OpenFile,
  client: Client,
  options: LoadOptions,
  projector: OpenFile | undefined,
  onlyTokens = false,
): Promise<OpenedModel> {
  const { signal, allowFallbackAdapter: allowFallback = false, memoryLimit = Infinity } = options
  const role = 'main'
  const opened = await planModel(file, client, options, { role, projector })
  const sizes: Sizes = { ...sizesOf(opened, options), precision: 'exact' }
  const call = {
    sizes: { ...sizes, batch: Math.max(kMinGpuBatch, Math.min(kGpuBatch, sizes.context)) },
    allowFallback,
    onlyTokens,
    adapters: await readAdapters(options.adapters ?? [], signal),
  }
  const { memory, adapter, whyNoEncoder } = await client.call('planDevice', call, { signal })
  if (totalOf(memory) > memoryLimit)
    throw new GgufError(
      'out-of-memory',
      `This model needs ${gigabytes(totalOf(memory))} on the graphics card, and memoryLimit is ${gigabytes(memoryLimit)}.`,
    )
  const main = { role, opened, sizes: call.sizes, memory, adapter, whyNoEncoder } as const
  if (isSpeech(file) || (options.precision ?? 'exact') === 'exact') return main
  return await withProducts(main, client, { tokens: 'integers', prompts: 'integers' })
}

/** The model on a graphics card with other products. Before its weights are loaded, only these are compiled. */
export async function withProducts(
  main: OpenedModel,
  client: Client,
  products: Products,
): Promise<OpenedModel> {
  await client.call('useProducts', products)
  return { ...main, products }
}

/** Loads the weights of a planned model. */
export async function loadWeights(
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

/** An engine, replaced by one with 64-bit memory if the model needs it, or by one on the CPU if no card can run it. */
export interface EngineSlot {
  client: Client
  device: DeviceKind
  /** why that device */
  reason: string
  readonly options: LoadOptions
}

export function connectWorker(options: LoadOptions, device: DeviceKind): Client {
  const { workerUrl } = options
  const script = device === 'cpu' ? 'engine-worker.js' : 'engine-gpu-worker.js'
  const beside = device === 'cpu' || !workerUrl ? workerUrl : new URL(script, absolute(workerUrl))
  const choice = { workerUrl: beside ?? assetFor(script, options), device }
  return new Client((onAnswer, broke) => startWorker(choice, onAnswer, broke))
}

/** Plans a model, with 64-bit memory if it needs more than 4 GiB. */
export async function openModelInAnyMemory(
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
  slot.client = connectWorker(options, 'cpu')
  await createEngine(slot.client, options, 'memory64')
  return await openModel(file, slot.client, options, { projector })
}
