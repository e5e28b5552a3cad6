// Whether the graphics card or the CPU answers faster: times tokens of a few of the model's layers on both, and remembers
// the times of an adapter and a shape. The layers' weights are zeros, because times do not depend on their values: so
// nothing of the file is read.
import { GgufError, messageOf } from '../api/errors.js'
import type { ByteSource } from '../api/source.js'
import type { OpenFile } from '../file/file.js'
import { folderName, privateFolder, readJson, writeWhole } from '../store/folder.js'
import type { Client } from './client.js'
import {
  connectWorker,
  createEngine,
  loadWeights,
  openModel,
  openOnGpu,
  partsOf,
  type OpenedModel,
} from './open-model.js'
import type { GenerateCall, PlannedModel } from './protocol.js'
import type { DeviceKind, GpuAdapter, LoadOptions } from './types.js'

const kFolder = 'device-times'
/** Of all layers that are timed. */
const kTimedBytes = 256 << 20
const kMinTimedLayers = 3
/** Tokens of a run, after which the fastest of some runs counts: the others were disturbed. */
const kTokens = 8
const kRuns = 3
/** The card must take less than this fraction of the CPU's time: smaller differences are noise. */
const kGain = 0.95

/** Milliseconds of a token of the whole model, on each device. */
export interface DeviceTimes {
  readonly cpu: number
  readonly gpu: number
}

/** What was decided, and why. */
export interface Verdict {
  readonly device: DeviceKind
  readonly reason: string
}

const layerOf = (name: string): number => Number(/^blk\.(\d+)\./.exec(name)?.[1] ?? NaN)

/** The numbers of layers to time: all, or two numbers from which the time of all follows. */
function depthsOf(file: OpenFile): number[] {
  const bytes: number[] = []
  for (const { name, byteLength } of file.tensors) {
    const layer = layerOf(name)
    if (layer >= 0) bytes[layer] = (bytes[layer] ?? 0) + byteLength
  }
  const layers = bytes.length
  let fits = 0
  for (let sum = 0; fits < layers && sum + bytes[fits]! <= kTimedBytes; fits++) sum += bytes[fits]!
  const max = Math.max(fits, kMinTimedLayers)
  return max >= layers ? [layers] : [1, max]
}

/** The file with its first layers only, and zeros as weights. */
function cutFile(file: OpenFile, layers: number): Pick<OpenFile, 'container' | 'metadata' | 'parts'> {
  const key = `${String(file.metadata.get('general.architecture'))}.block_count`
  const at = file.metadata.offset(key)
  const more = Number(file.metadata.get(`${key.replace('.block_count', '')}.nextn_predict_layers`) ?? 0)
  const parts = file.parts.map((part, i) => {
    const { header, source } = part!
    const zeros: ByteSource = {
      size: source.size,
      read: (_offset, length) => Promise.resolve(new Uint8Array(length)),
    }
    const bytes = (): Uint8Array<ArrayBuffer> => {
      const copy = header.bytes()
      if (i === 0 && at !== undefined) new DataView(copy.buffer).setUint32(at, layers + more, true)
      return copy
    }
    return { ...part!, source: zeros, header: { bytes } }
  })
  return { container: file.container, metadata: file.metadata, parts: parts as unknown as OpenFile['parts'] }
}

/** Greedy sampling without anything that changes logits. */
function greedyCall({ defaults }: PlannedModel, maxTokens: number): GenerateCall {
  const none = { repeatPenalty: 1, frequencyPenalty: 0, presencePenalty: 0, dryMultiplier: 0 }
  return {
    sequence: 0,
    tokens: new Int32Array(1),
    options: {
      sampler: { ...defaults, ...none, temperature: 0, mirostat: 0, xtcProbability: 0 },
      seed: 0,
      logprobs: 0,
      lookup: 0,
      draft: 0,
      keep: 0,
      ignoreEnd: true,
      contextShift: false,
    },
    stop: [],
    bias: new Float64Array(),
    grammar: '',
    triggers: [],
    shown: new Int32Array(),
    ablated: new Int32Array(),
    maxTokens,
    answered: new Int32Array(),
  }
}

/** Milliseconds of a token; of a text if the model does not generate. */
async function timeTokens(
  client: Client,
  { opened }: OpenedModel,
  signal: LoadOptions['signal'],
): Promise<number> {
  const text = { sequence: 0, tokens: new Int32Array(kTokens), pooling: 'none' as const }
  const run = async (): Promise<number> => {
    const startedAt = performance.now()
    if (opened.facts.encoder) {
      await client.call('embed', text, { signal })
      return (performance.now() - startedAt) / kTokens
    }
    const { generateMs, tokens } = await client.call('generate', greedyCall(opened, kTokens), { signal })
    return generateMs / (tokens - 1)
  }
  const times: number[] = []
  // The first run compiles.
  for (let i = 0; i <= kRuns; i++) times.push(await run())
  return Math.min(...times.slice(1))
}

/** Times a token of some layers on a device. */
async function timeOn(
  device: DeviceKind,
  file: OpenFile,
  layers: number,
  { signal, ...others }: LoadOptions,
): Promise<number> {
  const options: LoadOptions = { ...others, signal, onProgress: undefined, contextLength: 128, maxForks: 0 }
  const client = connectWorker(options, device)
  try {
    await createEngine(
      client,
      device === 'gpu' ? { ...options, threads: 1, variant: undefined } : options,
      options.variant,
    )
    const cut = cutFile(file, layers) as OpenFile
    const opened =
      device === 'gpu'
        ? await openOnGpu(cut, client, options, undefined, true)
        : await openModel(cut, client, options, {})
    await loadWeights(opened, client, options, partsOf(cut, undefined))
    return await timeTokens(client, opened, signal)
  } finally {
    client.end()
  }
}

/** The time of all layers, from that of each number of layers. */
function ofAll(depths: readonly number[], times: readonly number[], layers: number): number {
  const [first, last] = [times[0]!, times.at(-1)!]
  if (depths.length === 1) return last
  const each = Math.max(0, last - first) / (depths[1]! - depths[0]!)
  return last + each * (layers - depths[1]!)
}

/** What a card and a model have in common with those of the same times. */
function nameOf(file: OpenFile, adapter: GpuAdapter, { threads, precision }: LoadOptions): string {
  const { vendor, architecture, description } = adapter
  const shape = file.tensors.map(({ name, type, shape: sizes }) => [name, type, ...sizes])
  return JSON.stringify([vendor, architecture, description, threads, precision, shape])
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value < Infinity

function isTimes(value: unknown): value is DeviceTimes {
  const { cpu, gpu } = (value ?? {}) as Partial<DeviceTimes>
  return isTime(cpu) && isTime(gpu)
}

/** Where times are remembered; nowhere if nothing can be stored here. */
async function remembered(
  name: string,
): Promise<{ times?: DeviceTimes; keep(times: DeviceTimes): Promise<void> }> {
  try {
    const folder = await privateFolder(kFolder)
    const file = `${await folderName(name)}.json`
    const value = (await readJson(folder, file))?.value
    return {
      ...(isTimes(value) ? { times: value } : {}),
      keep: (times) =>
        writeWhole(folder, file, new TextEncoder().encode(JSON.stringify(times))).catch(() => undefined),
    }
  } catch {
    return { keep: () => Promise.resolve() }
  }
}

async function timesOf(file: OpenFile, options: LoadOptions): Promise<DeviceTimes> {
  const depths = depthsOf(file)
  const layers = Number(file.metadata.get(`${String(file.metadata.get('general.architecture'))}.block_count`))
  const on = async (device: DeviceKind): Promise<number> => {
    const times: number[] = []
    for (const depth of depths) times.push(await timeOn(device, file, depth, options))
    return ofAll(depths, times, layers)
  }
  return { cpu: await on('cpu'), gpu: await on('gpu') }
}

const text = (ms: number): string => `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`

/** Decides for device 'auto', after the model was planned on the adapter. */
export async function fasterDevice(
  file: OpenFile,
  adapter: GpuAdapter,
  options: LoadOptions,
): Promise<Verdict> {
  const known = await remembered(nameOf(file, adapter, options))
  let times = known.times
  try {
    times ??= await timesOf(file, options)
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!(error instanceof GgufError)) throw error
    // What cannot be timed on the CPU has no memory there.
    const isLarge = error.code === 'out-of-memory'
    return {
      device: isLarge ? 'gpu' : 'cpu',
      reason: `The devices could not be compared: ${messageOf(error)}`,
    }
  }
  if (!known.times) await known.keep(times)
  const [gpu, cpu] = [text(times.gpu), text(times.cpu)]
  if (times.gpu < kGain * times.cpu)
    return {
      device: 'gpu',
      reason: `The graphics card is faster here: a token takes ${gpu} on the graphics card and ${cpu} on the CPU.`,
    }
  return {
    device: 'cpu',
    reason: `The CPU is faster here: a token takes ${gpu} on the graphics card and ${cpu} on the CPU.`,
  }
}
