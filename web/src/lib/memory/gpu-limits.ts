// What this browser's WebGPU allows a page: sizes of buffers, and whether a model keeps to them.
import type { GgufFile } from 'ggufscope'

interface GpuLimits {
  /** such as "nvidia ampere"; may be empty */
  readonly name: string
  readonly maxBufferSize: number
  readonly maxStorageBufferBindingSize: number
}

interface Adapter {
  readonly limits: Omit<GpuLimits, 'name'>
  readonly info?: { readonly vendor: string; readonly architecture: string }
}

/** undefined: no WebGPU, or no graphics card for it. */
export async function gpuLimits(): Promise<GpuLimits | undefined> {
  const { gpu } = navigator as { gpu?: { requestAdapter(): Promise<Adapter | null> } }
  const adapter = await gpu?.requestAdapter().catch(() => null)
  if (!adapter) return undefined
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits
  const { vendor = '', architecture = '' } = adapter.info ?? {}
  return { name: `${vendor} ${architecture}`.trim(), maxBufferSize, maxStorageBufferBindingSize }
}

/** Matrices of a layer that a kernel reads together, as parts of one binding (core/gpu). */
const kTogether: readonly RegExp[] = [
  /^attn_(q|k|v|qkv|gate)\.weight$/,
  /^ffn_(gate|up)\.weight$/,
  /^ffn_(gate|up)_exps\.weight$/,
]
/** Tables that are cut into as many parts as bindings need. */
const kCut = /^(token_embd|output)\.weight$/

/** Bytes of the largest part of the weights that has to be in one binding. */
export function largestBinding({ tensors }: Pick<GgufFile, 'tensors'>): number {
  const sums = new Map<string, number>()
  let largest = 0
  for (const { name, byteLength } of tensors) {
    const [, layer = '', rest = name] = /^(blk\.\d+\.)(.*)$/.exec(name) ?? []
    if (kCut.test(name)) continue
    const group = kTogether.findIndex((one) => one.test(rest))
    const key = group < 0 ? name : `${layer}${group}`
    const sum = (sums.get(key) ?? 0) + byteLength
    sums.set(key, sum)
    largest = Math.max(largest, sum)
  }
  return largest
}
