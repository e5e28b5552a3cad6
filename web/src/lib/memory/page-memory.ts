// How much memory a page of this browser can have for a model, as load() decides.
// The modules alone: the package's file has the whole engine, which the panels do not need.
import type { GgufFile, MemoryOptions } from 'ggufscope'
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
