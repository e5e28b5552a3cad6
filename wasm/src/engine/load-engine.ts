// Loads an engine: chooses the device, opens the files, and passes the weights to the worker.
import type { GgufFile } from '../api/file.js'
import { GgufError, messageOf, quoted } from '../api/errors.js'
import type { Source } from '../api/source.js'
import { open } from '../file/open.js'
import type { OpenFile } from '../file/file.js'
import { isOpened } from '../file/opened.js'
import { hasVocabulary } from '../header/metadata.js'
import { isNode } from '../runtime/node-module.js'
import { loadTextModule } from '../runtime/module.js'
import { mayNeedKnownFormats } from '../text/chat-template.js'
import { loadKnownFormats } from '../text/load-known-formats.js'
import { restoreAdapters } from './adapters.js'
import type { Client } from './client.js'
import { kindError } from './companions.js'
import { EngineError, reasonToMove } from './engine-error.js'
import { isSpeech, speaksAlone, whyNeverRun } from './file-kinds.js'
import { usableAdapter } from './gpu-adapter.js'
import { completeStoredFile, openWhole, withProjector } from './load-sources.js'
import type { ModelFacts } from './model.js'
import { infoOf } from './model-info.js'
import { ModelEngine, type Move, type StartedEngine } from './model-engine.js'
import {
  connectWorker,
  createEngine,
  gpuOptions,
  loadWeights,
  openModel,
  openModelInAnyMemory,
  openOnGpu,
  partsOf,
  totalOf,
  withProducts,
  type EngineSlot,
  type OpenedModel,
} from './open-model.js'
import type { MemoryBytes } from './protocol.js'
import type { LoadOptions, ModelInfo } from './types.js'

function checkRunnable(file: OpenFile, { projector, draft, adapters }: LoadOptions): void {
  const speech = isSpeech(file)
  const why = whyNeverRun(file)
  if (why !== undefined) throw new GgufError('unsupported', why)
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
  if (
    speaksAlone(file) &&
    [projector, draft, adapters?.[0]].some((one) => one !== undefined && one !== 'auto')
  )
    throw new GgufError(
      'unsupported',
      'A model that speaks by itself takes neither a projector nor a draft model nor adapters.',
    )
  if (speech && projector !== undefined)
    throw new GgufError('unsupported', 'A Whisper model does not take a projector.')
  if (speech && draft !== undefined)
    throw new GgufError('unsupported', 'A Whisper model does not take a draft model.')
  if (speech && adapters !== undefined && adapters.length > 0)
    throw new GgufError('unsupported', 'A Whisper model does not take adapters.')
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
    if (file.container === 'gguf') await mustBeLoadable(file)
    const error = kindError(file, 'model', 'unsupported')
    if (error) throw error
    checkRunnable(file, {})
    if (isSpeech(file)) throw new GgufError('unsupported', 'A Whisper model cannot be a draft model.')
    if (speaksAlone(file))
      throw new GgufError('unsupported', 'A model that speaks by itself cannot be a draft model.')
    const planned = await openModel(file, client, options, { main })
    await loadWeights(planned, client, options, partsOf(file, undefined))
    return planned.memory
  } finally {
    if (!isOpen) file.close()
  }
}

/** Why these options need the CPU; undefined: a graphics card may run the model. */
function whyOnlyCpu(file: OpenFile, { device, draft, adapters }: LoadOptions): string | undefined {
  if (speaksAlone(file)) return 'Models that speak by themselves run only on the CPU.'
  if (draft !== undefined) return 'A model with a draft model runs only on the CPU.'
  // There they make floats of the weights, whose time is not measured.
  if (adapters !== undefined && adapters.length > 0 && device === 'auto')
    return 'A model with adapters runs on a graphics card only if that is requested.'
  return undefined
}

/** Whether a page may use a graphics card; in Node, the worker says so. Errors: those of usableAdapter(). */
async function askForAdapter({ allowFallbackAdapter = false }: LoadOptions): Promise<void> {
  if (isNode()) return
  const { gpu } = (globalThis.navigator ?? {}) as Partial<Navigator>
  await usableAdapter(gpu, allowFallbackAdapter).catch((error: unknown) => {
    throw error instanceof EngineError ? new GgufError('no-device', error.message) : error
  })
}

/** Connects to an engine for the requested device, or for the CPU if there is no graphics card. */
async function connectDevice(options: LoadOptions): Promise<EngineSlot> {
  const { device = 'cpu' } = options
  const onCpu = (reason: string): EngineSlot => {
    return { client: connectWorker(options, 'cpu'), device: 'cpu', reason, options }
  }
  if (device === 'cpu') return onCpu(options.device ? 'Requested.' : 'The default.')
  try {
    await askForAdapter(options)
  } catch (error) {
    if (device === 'gpu' || !(error instanceof GgufError)) throw error
    return onCpu(error.message)
  }
  const reason = device === 'gpu' ? 'Requested.' : 'A graphics card can run this model.'
  return { client: connectWorker(options, 'gpu'), device: 'gpu', reason, options }
}

/** Replaces an engine on a graphics card by one on the CPU. */
async function changeToCpu(slot: EngineSlot, reason: string): Promise<void> {
  slot.client.end()
  slot.client = connectWorker(slot.options, 'cpu')
  slot.device = 'cpu'
  slot.reason = reason
  await createEngine(slot.client, slot.options, slot.options.variant)
}

/** What the CPU encodes for a model on a graphics card. */
function whatIsEncodedHere({ whyNoEncoder: [images, audio] = [] }: OpenedModel): string {
  return [
    images ? ` Images are encoded on the CPU: ${quoted(images)}.` : '',
    audio ? ` Audio is encoded on the CPU: ${quoted(audio)}.` : '',
  ].join('')
}

/** Errors of a card while weights are loaded. Others are of what is read, and would be the same on the CPU. */
const kCardErrors: readonly string[] = ['device-lost', 'out-of-memory', 'crashed']

/** Opens a model and loads its weights: on the graphics card if the slot is for one and it can run there. */
async function loadMain(
  file: OpenFile,
  projector: OpenFile | undefined,
  slot: EngineSlot,
): Promise<OpenedModel> {
  const { options } = slot
  const parts = partsOf(file, projector)
  if (slot.device === 'gpu') {
    let isReading = false
    try {
      const reason = whyOnlyCpu(file, options)
      if (reason !== undefined) throw new GgufError('unsupported', reason)
      let main = await openOnGpu(file, slot.client, options, projector)
      if (options.device === 'auto') {
        const { fasterDevice } = await import('./device-trial.js')
        const { device, reason: measured, products } = await fasterDevice(file, main.adapter!, options)
        if (device === 'cpu') throw new GgufError('unsupported', measured)
        slot.reason = measured
        if (products) main = await withProducts(main, slot.client, products)
      }
      isReading = true
      if (projector === undefined) {
        await loadWeights(main, slot.client, options, parts)
      } else {
        slot.reason += whatIsEncodedHere(main)
        // Only weights that the card does not have are in the engine's memory.
        const sizes = { ...main.sizes, precision: options.precision ?? 'fast' }
        await loadWeights({ ...main, sizes }, slot.client, options, parts)
      }
      return main
    } catch (error) {
      if (options.device !== 'auto' || !(error instanceof GgufError) || options.signal?.aborted) throw error
      if (isReading && !kCardErrors.includes(error.code)) throw error
      await changeToCpu(slot, reasonToMove(error))
    }
  }
  const main = await openModelInAnyMemory(file, projector, slot)
  await loadWeights(main, slot.client, options, parts)
  return main
}

/** The public information about a model, and the memory of its draft model. */
function describe(
  file: OpenFile,
  { opened, sizes, adapter, memory, products }: OpenedModel,
  { device, reason: deviceReason }: EngineSlot,
  others: { projector?: OpenFile | undefined; draft?: MemoryBytes | undefined },
): ModelInfo {
  const all = others.draft ? [memory, others.draft] : [memory]
  const sum = (of: (memory: MemoryBytes) => number) => all.reduce((total, one) => total + of(one), 0)
  const used = {
    weights: sum(({ weights }) => weights),
    cache: sum(({ cache, recurrent }) => cache + recurrent),
    scratch: sum(({ scratch }) => scratch),
    total: sum(totalOf),
  }
  const isFast = Object.values(products ?? {}).some((factors) => factors !== 'floats')
  const precision = isFast ? 'fast' : sizes.precision
  return infoOf(
    file,
    opened,
    { ...sizes, precision },
    {
      memory: used,
      projector: others.projector,
      device,
      deviceReason,
      adapter,
    },
  )
}

/** Loads a model again, on the CPU, after its graphics card failed. */
async function loadOnCpu(
  file: OpenFile,
  projector: OpenFile | undefined,
  loaded: EngineSlot,
  reason: string,
): Promise<StartedEngine> {
  const options = { ...loaded.options, signal: undefined, onProgress: undefined }
  const slot: EngineSlot = { ...loaded, options }
  try {
    await changeToCpu(slot, reason)
    const main = await loadMain(file, projector, slot)
    if (options.adapters) await restoreAdapters(slot.client, options.adapters, main.sizes.sequences)
    return { client: slot.client, info: describe(file, main, slot, { projector }) }
  } catch (error) {
    slot.client.end()
    throw error
  }
}

/** A loaded engine, and its file, which the engine's owner closes. */
export interface LoadedEngine {
  readonly file: OpenFile
  readonly engine: ModelEngine
  readonly facts: ModelFacts
}

async function startEngine(
  from: Source | readonly Source[] | GgufFile,
  file: OpenFile,
  projector: OpenFile | undefined,
  slot: EngineSlot,
): Promise<LoadedEngine> {
  const main = await loadMain(file, projector, slot)
  const { client, options } = slot
  const { draft } = options
  const drafting = draft === undefined ? undefined : await loadDraftModel(draft, client, options, main)
  const info = describe(file, main, slot, { projector, draft: drafting })
  const move: Move | undefined =
    slot.device === 'gpu'
      ? {
          // The projector is closed after loading, if it is not the caller's.
          toCpu: (reason) => withProjector(from, options, (again) => loadOnCpu(file, again, slot, reason)),
          media: projector !== undefined,
          always: options.device === 'auto',
          onDevice: options.onDevice,
        }
      : undefined
  const { defaults } = main.opened
  const facts = { defaults, sequences: main.sizes.sequences, drafted: draft !== undefined }
  return { file, engine: new ModelEngine({ client, info }, move), facts }
}

/** Loads a model's engine. Returns what `use` makes of it; if that fails, the engine ends. */
export async function loadEngine<T>(
  from: Source | readonly Source[] | GgufFile,
  options: LoadOptions,
  use: (loaded: LoadedEngine) => T | Promise<T>,
): Promise<T> {
  const { signal, onProgress } = options
  signal?.throwIfAborted()
  const slot = await connectDevice(options)
  let file: OpenFile | undefined
  try {
    // The engine is created while the header is read, unless its threads depend on it.
    const { client } = slot
    const opening = openWhole(from, options)
    const created =
      slot.device === 'cpu'
        ? createEngine(client, options, options.variant)
        : opening.then((opened) => createEngine(client, gpuOptions(options, opened), undefined))
    created.catch(() => {})
    file = await opening
    const opened = file
    const { mustBeLoadable } = await import('../file/damage.js')
    if (file.container === 'gguf') await mustBeLoadable(file)
    const bytes = file.bytesRead
    const tensorCount = file.tensors.length
    onProgress?.({ phase: 'header', of: 'model', loaded: bytes, total: bytes, tensors: 0, tensorCount })
    // The tokenizer's module is fetched while the engine is created.
    const text = hasVocabulary(file.metadata)
      ? Promise.all([
          loadTextModule(options),
          mayNeedKnownFormats(file.metadata) ? loadKnownFormats() : undefined,
        ])
      : undefined
    text?.catch(() => {})
    await created.catch(async (error: unknown) => {
      if (slot.device === 'cpu' || options.device === 'gpu' || signal?.aborted) throw error
      await changeToCpu(slot, messageOf(error))
    })
    checkRunnable(file, options)
    const alone = speaksAlone(file) ? { ...options, projector: undefined } : options
    const loaded = await withProjector(from, alone, (projector) => startEngine(from, opened, projector, slot))
    await text
    const used = await use(loaded)
    if (options.cache && !isOpened(from))
      await Promise.all(file.parts.map((part) => completeStoredFile(part?.source, signal)))
    const { weights } = loaded.engine.info.memory
    onProgress?.({
      phase: 'ready',
      of: 'model',
      loaded: weights,
      total: weights,
      tensors: tensorCount,
      tensorCount,
    })
    return used
  } catch (error) {
    slot.client.end()
    if (!isOpened(from)) file?.close()
    signal?.throwIfAborted()
    throw error
  }
}
