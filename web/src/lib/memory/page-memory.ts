// How much memory a page of this browser can have for a model, as load() decides.
// The modules alone: the package's file has the whole engine, which the panels do not need.
import type { DeviceMemory, GgufFile, MemoryOptions } from 'ggufscope'
import { memoryLimits } from '../../../../wasm/src/engine/memory-limits'
import { kEncoders } from '../../../../wasm/src/memory/rules'
import { isOfSpeech } from './model-memory'

export const limits = memoryLimits

/** in bytes; a small device has less than WebAssembly can address */
export function pageMemory(): number {
  const { memory32, memory64, device } = memoryLimits()
  return device !== undefined && device < memory32 ? device : (memory64 ?? memory32)
}

/** How the engine in a page computes: fewer tokens together than llama.cpp, unless the model reads a text as a whole. */
export function pageBatch(file: GgufFile): Pick<MemoryOptions, 'batch'> {
  const { architecture = '' } = file.summary()
  const isWhole =
    isOfSpeech(file) ||
    kEncoders.has(architecture) ||
    file.metadata.get(`${architecture}.attention.causal`) === false
  return isWhole ? {} : { batch: 128 }
}

/** llama.cpp rounds the cells of a cache up to a multiple of it. */
const kCellStep = 256

/** What the engine in a page takes. Its cache has the cells of the context, without llama.cpp's rounding. */
export async function memoryInPage(
  file: GgufFile,
  options: MemoryOptions & { readonly context: number },
): Promise<DeviceMemory> {
  const { devices, layers } = await file.memory({ ...options, ...pageBatch(file) })
  const device = devices[0]!
  if (isOfSpeech(file)) return device
  const { context } = options
  const rounded = Math.ceil(context / kCellStep) * kCellStep
  // The cells of a window do not depend on the context.
  const whole = layers.filter(({ cells }) => cells === rounded).reduce((sum, { cache }) => sum + cache, 0)
  const surplus = Math.round(whole * (1 - context / rounded))
  return { ...device, cache: device.cache - surplus, total: device.total - surplus }
}
