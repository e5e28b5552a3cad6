// Estimates the memory of a model, and which devices it fits.
import type { GgufFile, MemoryOptions } from '../api/file.js'
import type { KvType, MemoryDevice, MemoryEstimate } from '../api/memory.js'
import { kKvTypeNames } from '../memory/plan.js'
import { kFiles, UsageError, type Command, type Context, type Options } from './command.js'
import { bytesText, counted, grouped, printTable, visible } from './format.js'
import { eachFile, kSeveralHelp } from './several.js'
import { sizeOf } from './sizes.js'

const kOptions: Options = {
  context: { value: 'N', help: "tokens of context; default: the model's own" },
  'cache-type-k': { value: 'TYPE', choices: kKvTypeNames, help: 'of cached keys; default f16' },
  'cache-type-v': { value: 'TYPE', choices: kKvTypeNames, help: 'of cached values; default f16' },
  batch: { value: 'N', help: 'tokens that are computed together; default 512' },
  gpu: {
    value: 'SIZE[:SPEED]',
    repeats: true,
    help: 'a device: its memory, and its bandwidth in bytes a second for the speed: 24G or 24G:1000G',
  },
  ram: { value: 'SIZE[:SPEED]', help: "the computer's own memory, in the same way" },
  'gpu-layers': { value: 'N', help: 'number of layers on the devices; default: as many as fit' },
  'cpu-experts': { value: 'N', help: 'keep the experts of the first N layers on the CPU' },
  mmproj: { value: 'FILE', file: 'read', help: 'the projector for images or audio' },
  draft: { value: 'FILE', file: 'read', help: 'the model that drafts tokens' },
  lora: { value: 'FILE', file: 'read', repeats: true, help: 'an adapter' },
}

function integerOf({ values }: Context, name: string): number | undefined {
  const text = values[name]
  if (typeof text !== 'string') return undefined
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${name} takes a whole number, not "${text}"`)
  return Number(text)
}

function deviceOf(text: string, name: string, option: string): MemoryDevice {
  const [memory = '', speed, ...rest] = text.split(':')
  if (rest.length > 0) throw new UsageError(`--${option}: "${text}" is not a device: 24G or 24G:1000G`)
  const bandwidth = speed === undefined ? undefined : sizeOf(speed, option)
  if (bandwidth === 0) throw new UsageError(`--${option}: "${text}" has no speed: 24G or 24G:1000G`)
  return { name, memory: sizeOf(memory, option), bandwidth }
}

const many = (value: Context['values'][string]): readonly string[] =>
  Array.isArray(value) ? (value as readonly string[]) : typeof value === 'string' ? [value] : []

async function optionsOf(context: Context, opened: GgufFile[]): Promise<MemoryOptions> {
  const { values } = context
  const open = async (path: string) => {
    const file = await context.open({}, path)
    opened.push(file)
    return file
  }
  const beside = async (name: string) => {
    const path = values[name]
    return typeof path === 'string' ? await open(path) : undefined
  }
  const lora: GgufFile[] = []
  for (const path of many(values['lora'])) lora.push(await open(path))
  const ram = values['ram']
  return {
    context: integerOf(context, 'context'),
    kvType: {
      k: values['cache-type-k'] as KvType | undefined,
      v: values['cache-type-v'] as KvType | undefined,
    },
    batch: integerOf(context, 'batch'),
    gpuLayers: integerOf(context, 'gpu-layers'),
    cpuExperts: integerOf(context, 'cpu-experts'),
    devices: many(values['gpu']).map((text, i) => deviceOf(text, `GPU ${i + 1}`, 'gpu')),
    host: typeof ram === 'string' ? deviceOf(ram, 'CPU', 'ram') : undefined,
    mmproj: await beside('mmproj'),
    draft: await beside('draft'),
    lora,
  }
}

function printEstimate(found: MemoryEstimate, context: Context): void {
  const { print, style } = context
  const { kvType, gpuLayers, layerCount, fits, largestContext, tokensPerSecond } = found
  const types = kvType.k === kvType.v ? kvType.k : `keys ${kvType.k}, values ${kvType.v}`
  print(`${bytesText(found.total)} with ${counted(found.context, 'token')} of context (cache: ${types})`)
  const rows = found.devices
    .filter((device, i) => i === 0 || device.memory !== undefined)
    .map((device) => [
      visible(device.name),
      ...[device.weights, device.cache, device.state, device.compute, device.total].map(bytesText),
      device.memory === undefined
        ? ''
        : `${bytesText(device.memory)}: ${!device.fits ? 'does not fit' : device.total === 0 ? 'no layer fits' : 'fits'}`,
    ])
  print('')
  printTable(
    [['device', 'weights', 'cache', 'state', 'compute (about)', 'total', 'has'], ...rows],
    ['<', '>', '>', '>', '>', '>', '<'],
    context,
  )
  print('')
  if (found.devices.length > 1) print(`layers on devices: ${gpuLayers} of ${layerCount}`)
  if (fits !== undefined) {
    // Without the size of main memory, it fits if it fits on the cards.
    const onCards = found.devices[0]?.memory === undefined && gpuLayers < layerCount
    const why = onCards ? ' on the given devices; with --ram, the rest may be in main memory' : ''
    print(fits ? 'It fits.' : style.red(`It does not fit${why}.`))
  }
  if (largestContext !== undefined)
    print(
      largestContext === 0
        ? 'No context fits.'
        : `longest context that fits: ${grouped(largestContext)}${largestContext === found.trainedContext ? ", the model's own" : ''}`,
    )
  if (tokensPerSecond !== undefined)
    print(`at most about ${grouped(Number(tokensPerSecond.toPrecision(2)))} tokens a second, by bandwidth`)
}

export const command: Command = {
  arguments: [kFiles],
  options: kOptions,
  help: ['Sizes are 8G, 500M, ... of 1000, or 8GiB of 1024. Only the header is read.', kSeveralHelp],
  standardInput: true,
  async run(context) {
    const opened: GgufFile[] = []
    try {
      const options = await optionsOf(context, opened)
      return await eachFile(context, async (file) => {
        const found = await file.memory(options)
        return {
          status: found.fits === false ? 1 : 0,
          json: found,
          print: () => printEstimate(found, context),
        }
      })
    } finally {
      for (const file of opened) file.close()
    }
  },
}
