// What this browser's WebGPU allows a page: sizes of buffers.

export interface GpuLimits {
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
