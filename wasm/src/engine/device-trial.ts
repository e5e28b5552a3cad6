// Whether the graphics card or the CPU answers faster: times a few of the model's layers on both, and remembers the times
// of an adapter and a shape. The layers' weights are zeros, because times do not depend on their values: so nothing of
// the file is read.
import { GgufError, messageOf } from '../api/errors.js'
import type { ByteSource } from '../api/source.js'
import type { OpenFile } from '../file/file.js'
import { folderName, privateFolder, readJson, writeWhole } from '../store/folder.js'
import { cutHeader, type Stack } from './cut-file.js'
import {
  connectWorker,
  createEngine,
  gpuOptions,
  loadWeights,
  openModel,
  openOnGpu,
  partsOf,
} from './open-model.js'
import type { Factors, Products } from './protocol.js'
import { timedModel, type TimedModel } from './timed-model.js'
import type { DeviceKind, GpuAdapter, LoadOptions } from './types.js'

const kFolder = 'device-times'
/** The card must take less than this fraction of the CPU's time, and a product of what is more exact: smaller differences are noise. */
const kGain = 0.95

/** Milliseconds of what is compared, of the whole model, on each device. */
interface DeviceTimes {
  readonly cpu: number
  readonly gpu: number
  /** on the card: of a token in floats and in integers, and of a prompt in floats, in integers and perhaps in halves */
  readonly products?: readonly number[]
}

/** What was decided, and why. */
export interface Verdict {
  readonly device: DeviceKind
  readonly reason: string
  /** on the card: what products multiply, if the precision was not requested */
  readonly products?: Products
}

/** The file with its first layers only, and zeros as weights. */
async function cutFile(file: OpenFile, model: TimedModel, depths: readonly number[]): Promise<OpenFile> {
  const { header, size } = await cutHeader(file, model, depths)
  const source: ByteSource = { size, read: (_offset, length) => Promise.resolve(new Uint8Array(length)) }
  const part = { header: { bytes: () => header.slice() }, source }
  return { container: 'gguf', metadata: file.metadata, parts: [part] } as unknown as OpenFile
}

interface Timed {
  readonly model: TimedModel
  readonly time: TimedModel['time']
}

/** Times some layers on a device. */
async function timeOn(
  device: DeviceKind,
  file: OpenFile,
  { model, time, depths }: Timed & { depths: readonly number[] },
  { signal, ...others }: LoadOptions,
): Promise<readonly number[]> {
  const small = { onProgress: undefined, projector: undefined, contextLength: 128, maxForks: 0 }
  const asked: LoadOptions = { ...others, signal, ...small }
  const onGpu = device === 'gpu'
  const options = onGpu ? gpuOptions(asked, file) : asked
  const client = connectWorker(options, device)
  try {
    await createEngine(client, options, options.variant)
    const cut = await cutFile(file, model, depths)
    const opened = onGpu
      ? await openOnGpu(cut, client, options, undefined, true)
      : await openModel(cut, client, options, {})
    await loadWeights(opened, client, options, partsOf(cut, undefined))
    return await time(client, opened.opened, signal)
  } finally {
    client.end()
  }
}

/** The time of all layers, from those of two numbers of layers. */
function ofAll({ layers, depths: [few, more] }: Stack, first: number, last: number): number {
  if (more === layers) return last
  return last + (Math.max(0, last - first) / (more - few)) * (layers - more)
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
  const { cpu, gpu, products = [0, 0, 0, 0] } = (value ?? {}) as Partial<DeviceTimes>
  const isWhole = Array.isArray(products) && [4, 5].includes(products.length)
  return isTime(cpu) && isTime(gpu) && isWhole && products.every(isTime)
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

/** The times of all layers. */
async function timeAll(
  device: DeviceKind,
  file: OpenFile,
  timed: Timed,
  options: LoadOptions,
): Promise<readonly number[]> {
  const { stacks } = timed.model
  const at = (which: 0 | 1): Promise<readonly number[]> =>
    timeOn(device, file, { ...timed, depths: stacks.map(({ depths }) => depths[which]) }, options)
  const isWhole = stacks.every(({ layers, depths }) => depths[1] === layers)
  const first = isWhole ? [] : await at(0)
  const last = await at(1)
  // One time for each stack, or several of the first one.
  const of = (i: number): Stack => stacks[last.length === stacks.length ? i : 0]!
  return last.map((ms, i) => ofAll(of(i), first[i]!, ms))
}

async function timesOf(file: OpenFile, model: TimedModel, options: LoadOptions): Promise<DeviceTimes> {
  const on = async (device: DeviceKind): Promise<number> => {
    const times = await timeAll(device, file, { model, time: model.time }, options)
    return times.reduce((sum, ms) => sum + ms, 0)
  }
  return { cpu: await on('cpu'), gpu: await on('gpu') }
}

/** The times of a card that is faster than the CPU, with those of other products unless the precision was requested. */
async function withProductTimes(
  times: DeviceTimes,
  file: OpenFile,
  model: TimedModel,
  options: LoadOptions,
): Promise<DeviceTimes> {
  const { timeProducts } = model
  if (times.products || !timeProducts || options.precision !== undefined) return times
  try {
    return { ...times, products: await timeAll('gpu', file, { model, time: timeProducts }, options) }
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!(error instanceof GgufError)) throw error
    // Floats, which have been timed.
    return times
  }
}

/** What products multiply: what is less exact only where it is faster. */
function fasterProducts({ products }: DeviceTimes): { products?: Products } {
  if (!products) return {}
  const [token, integerToken, prompt, integerPrompt, halfPrompt = Infinity] = products as [
    number,
    number,
    number,
    number,
    number?,
  ]
  const [exact, ms]: [Factors, number] =
    halfPrompt < kGain * prompt ? ['halves', halfPrompt] : ['floats', prompt]
  return {
    products: {
      tokens: integerToken < kGain * token ? 'integers' : 'floats',
      prompts: integerPrompt < kGain * ms ? 'integers' : exact,
    },
  }
}

const text = (ms: number): string => `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`

/** Decides for device 'auto', after the model was planned on the adapter. */
export async function fasterDevice(
  file: OpenFile,
  adapter: GpuAdapter,
  options: LoadOptions,
): Promise<Verdict> {
  const model = timedModel(file)
  const known = await remembered(nameOf(file, adapter, options))
  let times = known.times
  try {
    times ??= await timesOf(file, model, options)
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
  const took = model.compare(text(times.gpu), text(times.cpu))
  const isFaster = times.gpu < kGain * times.cpu
  if (isFaster) times = await withProductTimes(times, file, model, options)
  if (times !== known.times) await known.keep(times)
  return isFaster
    ? { device: 'gpu', reason: `The graphics card is faster here: ${took}`, ...fasterProducts(times) }
    : { device: 'cpu', reason: `The CPU is faster here: ${took}` }
}
