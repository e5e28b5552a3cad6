// A device of WebGPU: which adapter answers, what it allows, and whether it was lost.
import { quoted } from '../api/errors.js'
import { EngineError } from '../engine/engine-error.js'
import { isFallback, usableAdapter } from '../engine/gpu-adapter.js'
import type { GpuAdapter } from '../engine/types.js'
import { isNode, nodeModule } from '../runtime/node-module.js'

interface WebGpuPackage {
  create(options: readonly string[]): GPU
  readonly globals: object
}

// Dawn crashes if the object is collected while its devices are used.
let kept: GPU | undefined

/** WebGPU in Node: of the npm package webgpu, which the user may have installed. */
function ofPackage(): GPU | undefined {
  if (kept) return kept
  const { createRequire } = nodeModule<typeof import('node:module')>('node:module')
  try {
    const { create, globals } = createRequire(import.meta.url)('webgpu') as WebGpuPackage
    Object.assign(globalThis, globals)
    return (kept = create([]))
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return undefined
    throw new EngineError('no-device', `The package webgpu does not start: ${quoted(error)}`)
  }
}

const webGpu = (): GPU | undefined =>
  (globalThis.navigator as Navigator | undefined)?.gpu ?? (isNode() ? ofPackage() : undefined)

export interface DeviceLayout {
  readonly key: string
  readonly group: GPUBindGroupLayout
}

/** A device and its state. */
export class Device {
  readonly gpu: GPUDevice
  readonly adapter: GpuAdapter
  /** of bindings, by kernel and the bindings that are used */
  readonly layouts = new Map<string, DeviceLayout>()
  /** compiled or being compiled, by layout and source */
  readonly kernels = new Map<string, Promise<GPUComputePipeline>>()
  /** Why nothing can be computed any more. */
  #fault: string | undefined

  private constructor(gpu: GPUDevice, adapter: GpuAdapter) {
    this.gpu = gpu
    this.adapter = adapter
    void gpu.lost.then(({ message }) =>
      this.#fail(`The graphics card was lost: ${message || 'no reason given'}.`),
    )
    gpu.addEventListener('uncapturederror', ({ error }) =>
      this.#fail(`The graphics card failed: ${error.message}`),
    )
  }

  /**
   * Opens the fastest adapter with the largest buffers that it allows. Errors: those of usableAdapter().
   */
  static async open(allowFallback: boolean): Promise<Device> {
    const adapter = await usableAdapter(webGpu(), allowFallback)
    const { vendor, architecture, description } = adapter.info
    const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits
    // The kernels' teams of 64 lanes consist of whole subgroups.
    const subgroups = adapter.features.has('subgroups') && (adapter.info.subgroupMaxSize ?? 128) <= 64
    const device = await adapter
      .requestDevice({
        requiredFeatures: [
          ...(subgroups ? (['subgroups'] as const) : []),
          ...(['timestamp-query', 'shader-f16'] as const).filter((one) => adapter.features.has(one)),
        ],
        requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
      })
      .catch((error: unknown) => {
        throw new EngineError('no-device', `The graphics card cannot be used: ${quoted(error)}`)
      })
    return new Device(device, { vendor, architecture, description, fallback: isFallback(adapter) })
  }

  get subgroups(): boolean {
    return this.gpu.features.has('subgroups')
  }

  /** It multiplies binary16. */
  get halves(): boolean {
    return this.gpu.features.has('shader-f16')
  }

  get limits(): { buffer: number; binding: number } {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.gpu.limits
    return { buffer: maxBufferSize, binding: maxStorageBufferBindingSize }
  }

  #fail(fault: string): void {
    this.#fault ??= fault
  }

  /** Throws 'device-lost' if the device was lost, or computed something that it must not. */
  check(): void {
    if (this.#fault !== undefined) throw new EngineError('device-lost', this.#fault)
  }

  /** What a rejected promise of the device means. */
  failure(error: unknown): EngineError {
    if (error instanceof EngineError) return error
    return new EngineError('device-lost', this.#fault ?? `The graphics card failed: ${quoted(error)}`)
  }

  close(): void {
    this.#fault ??= 'The device was closed.'
    this.gpu.destroy()
  }
}
