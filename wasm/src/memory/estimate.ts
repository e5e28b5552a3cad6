// Estimates a model's memory from its header: file.memory().
import { checkOptions, either, integer, list, listOf, object, oneOf, type Check } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile, MemoryOptions } from '../api/file.js'
import type { KvType, DeviceMemory, MemoryDevice, MemoryEstimate } from '../api/memory.js'
import { place, type Placed } from './placement.js'
import { bytesOf, kKvTypeNames, padded, type KvTypes, type Plan } from './plan.js'
import { mustBeAdapter, mustBeProjector, mustDraft, mustLoad } from './refusals.js'
import { kDefaultContext } from './rules.js'
import { shapeOf, type ModelShape } from './shape.js'
import { tokensPerSecond } from './speed.js'

const isFile: Check = (value) =>
  typeof value === 'object' && value !== null && 'tensors' in value && 'metadata' in value
    ? undefined
    : 'an open file'
const kvType = oneOf(...kKvTypeNames)
const kMaxLayers = 2 ** 40
const kChecks: Readonly<Record<string, Check>> = {
  context: integer(1, 2 ** 32),
  kvType: either(kvType, object),
  batch: integer(1, 2 ** 24),
  gpuLayers: either(oneOf('fit'), integer(0, kMaxLayers)),
  cpuExperts: integer(0, kMaxLayers),
  devices: list,
  host: object,
  mmproj: isFile,
  draft: isFile,
  lora: either(isFile, listOf(isFile, 'a list of them')),
}
const kDeviceChecks: Readonly<Record<string, Check>> = {
  name: (value) => (typeof value === 'string' ? undefined : 'a string'),
  memory: integer(0, Number.MAX_SAFE_INTEGER),
  bandwidth: (value) => (Number.isFinite(value) && Number(value) > 0 ? undefined : 'a number above 0'),
}

function checkDevice(what: string, device: MemoryDevice): void {
  checkOptions(what, device, kDeviceChecks)
  if (device.memory === undefined)
    throw new GgufError('invalid-argument', `${what} needs its memory in bytes.`)
}

function kvTypesOf(given: MemoryOptions['kvType']): KvTypes {
  if (given === undefined || typeof given === 'string') {
    const one: KvType = given ?? 'f16'
    return { k: one, v: one }
  }
  checkOptions('kvType', given, { k: kvType, v: kvType })
  return { k: given.k ?? 'f16', v: given.v ?? 'f16' }
}

/** The models besides the main one, by device. */
interface Extras {
  readonly mmproj: number
  readonly draft: number
  readonly lora: number
  /** their weights and caches together, on each device */
  readonly weights: readonly number[]
  readonly cache: readonly number[]
}

interface Setting {
  readonly shape: ModelShape
  readonly draft: ModelShape | undefined
  readonly mmproj: number
  readonly lora: number
  readonly host: MemoryDevice | undefined
}

function extrasOf({ draft, mmproj, lora }: Setting, gpuLayers: number, plan: Plan): Extras {
  const weights = Array<number>(plan.devices.length + 1).fill(0)
  const cache = [...weights]
  // They are on the first device if any layer is on a device.
  const place0 = gpuLayers > 0 && plan.devices.length > 0 ? 1 : 0
  weights[place0]! += mmproj + lora
  if (!draft) return { mmproj, draft: 0, lora, weights, cache }
  const one = plan.devices.slice(0, place0)
  const placed = place(draft, place0 === 0 ? 0 : draft.layers.length + 1, { ...plan, devices: one })
  placed.weights.forEach((bytes, i) => (weights[i]! += bytes))
  placed.cache.forEach((bytes, i) => (cache[i]! += bytes + placed.state[i]! + placed.compute[i]!))
  return { mmproj, draft: sum(placed.weights), lora, weights, cache }
}

const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0)

function devicesOf(
  placed: Placed,
  extras: Extras,
  plan: Plan,
  host: MemoryDevice | undefined,
): DeviceMemory[] {
  return [host, ...plan.devices].map((device, i) => {
    const weights = placed.weights[i]! + extras.weights[i]!
    const cache = placed.cache[i]! + extras.cache[i]!
    const total = weights + cache + placed.state[i]! + placed.compute[i]!
    return {
      name: device?.name ?? (i === 0 ? 'CPU' : `Device ${i}`),
      memory: device?.memory,
      weights,
      cache,
      state: placed.state[i]!,
      compute: placed.compute[i]!,
      total,
      fits: device ? total <= device.memory : undefined,
    }
  })
}

interface Outcome {
  readonly gpuLayers: number
  readonly placed: Placed
  readonly extras: Extras
  readonly devices: readonly DeviceMemory[]
  readonly fits: boolean | undefined
}

function at(setting: Setting, gpuLayers: number, plan: Plan): Outcome {
  const placed = place(setting.shape, gpuLayers, plan)
  const extras = extrasOf(setting, gpuLayers, plan)
  const devices = devicesOf(placed, extras, plan, setting.host)
  const known = devices.filter(({ fits }) => fits !== undefined)
  return {
    gpuLayers,
    placed,
    extras,
    devices,
    fits: known.length === 0 ? undefined : known.every(({ fits }) => fits === true),
  }
}

/**
 * As many layers on the devices as fit there. Without `host`, the CPU's memory is unknown, so all layers must be on
 * devices.
 */
function fitted(setting: Setting, plan: Plan): Outcome {
  const all = setting.shape.layers.length + 1
  let layers = plan.devices.length > 0 ? all : 0
  let outcome = at(setting, layers, plan)
  while (layers > 0 && !outcome.devices.slice(1).every(({ fits }) => fits === true))
    outcome = at(setting, --layers, plan)
  return setting.host || plan.devices.length === 0 ? outcome : { ...outcome, fits: layers === all }
}

const kContextStep = 256

function longest(setting: Setting, max: number, run: (context: number) => Outcome): number {
  let low = 0
  let high = Math.ceil(max / kContextStep)
  const contextOf = (steps: number) => Math.min(max, steps * kContextStep)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (run(contextOf(middle)).fits === true) low = middle
    else high = middle - 1
  }
  return low === 0 ? 0 : contextOf(low)
}

/** What is loaded together. Errors: 'unsupported' if no loader takes the file or one of the others. */
async function settingOf(file: GgufFile, { lora, draft, mmproj, host }: MemoryOptions): Promise<Setting> {
  const adapters = (lora === undefined ? [] : Array.isArray(lora) ? lora : [lora]) as readonly GgufFile[]
  const loaded = async (model: GgufFile, what: string) => {
    const its = await shapeOf(model)
    mustLoad(model, its, what)
    return its
  }
  const shape = await loaded(file, 'the file')
  const drafts = draft && (await loaded(draft, 'the draft model'))
  if (drafts) mustDraft(shape, drafts)
  if (mmproj) mustBeProjector(mmproj, shape)
  for (const adapter of adapters) mustBeAdapter(adapter, file)
  return {
    shape,
    draft: drafts,
    mmproj: bytesOf(mmproj?.tensors ?? []),
    lora: sum(adapters.map(({ tensors }) => bytesOf(tensors))),
    host,
  }
}

/** Errors: 'unsupported' if no loader takes the file or one of the others, 'invalid-argument'. */
export async function estimateMemory(file: GgufFile, options: MemoryOptions): Promise<MemoryEstimate> {
  checkOptions('memory()', options, kChecks)
  const devices = options.devices ?? []
  devices.forEach((device, i) => checkDevice(`devices[${i}]`, device))
  if (options.host) checkDevice('host', options.host)
  const setting = await settingOf(file, options)
  const { shape } = setting
  const trained = shape.trainedContext
  const context = options.context ?? (trained || kDefaultContext)
  const plan: Plan = {
    context,
    devices,
    kvType: kvTypesOf(options.kvType),
    batch: options.batch ?? 512,
    cpuExperts: options.cpuExperts ?? 0,
  }
  const wanted = shape.sound !== undefined ? 0 : (options.gpuLayers ?? (devices.length > 0 ? 'fit' : 0))
  const run = (length: number) => {
    const one = { ...plan, context: length }
    return wanted === 'fit'
      ? fitted(setting, one)
      : at(setting, Math.min(wanted, shape.layers.length + 1), one)
  }
  const outcome = run(context)
  const total = (part: 'weights' | 'cache' | 'state' | 'compute' | 'total') =>
    sum(outcome.devices.map((one) => one[part]))
  const { placed, extras, fits } = outcome
  return {
    context,
    kvType: plan.kvType,
    batch: plan.batch,
    gpuLayers: outcome.gpuLayers,
    fits,
    layerCount: shape.layers.length + 1,
    weights: total('weights'),
    cache: total('cache'),
    state: total('state'),
    compute: total('compute'),
    total: total('total'),
    extras: { mmproj: extras.mmproj, draft: extras.draft, lora: extras.lora },
    devices: outcome.devices,
    layers: placed.layers.map(({ device, weights, cache, state, cells }, index) => ({
      index,
      device,
      weights,
      cache,
      state,
      cells,
    })),
    largestContext: fits === undefined ? undefined : longest(setting, trained ?? padded(context), run),
    trainedContext: trained,
    tokensPerSecond: tokensPerSecond(file, shape, placed, [options.host, ...devices]),
  }
}
