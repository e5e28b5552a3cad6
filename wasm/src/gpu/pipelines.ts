// The compiled kernels of a plan. A kernel for one token is compiled with the model, those for two to eight at once when
// they are used first. A model and its encoders, which are plans of their own, share the device's kernels.
import { quoted } from '../api/errors.js'
import { EngineError } from '../engine/engine-error.js'
import type { Factors, Products } from '../engine/protocol.js'
import type { Device, DeviceLayout } from './device.js'
import { shaderSource } from './kernels.js'
import { kKernelNames, kKernels, type KernelName } from './layout.js'
import type { Plan, PlanDispatch } from './plan.js'

/** GPUShaderStage.COMPUTE */
const kCompute = 4

/** Tokens that the kernels of the lists for few tokens compute at once. */
export const kColumns = [1, 2, 4, 8] as const
export type Columns = (typeof kColumns)[number]

/** The smallest number of columns for so many tokens. */
export const columnsFor = (tokens: number): Columns => kColumns.find((columns) => columns >= tokens) ?? 8

export class Pipelines {
  readonly #device: Device
  readonly #plan: Plan
  products: Products = { tokens: 'floats', prompts: 'floats' }
  /** by variant, columns and what is multiplied */
  readonly #ready = new Map<string, GPUComputePipeline>()

  constructor(device: Device, plan: Plan) {
    this.#device = device
    this.#plan = plan
  }

  #kernel({ variant }: PlanDispatch): KernelName {
    return kKernelNames[this.#plan.variants[variant]!.kernel]!
  }

  /** The layout of a dispatch's bindings. A kernel leaves out those that its variant does not use. */
  layout(dispatch: PlanDispatch): DeviceLayout {
    const kernel = this.#kernel(dispatch)
    const used = dispatch.bindings.map(({ index }) => index)
    const key = `${kernel} ${used.join()}`
    const { gpu, layouts } = this.#device
    let layout = layouts.get(key)
    if (!layout) {
      const entries: GPUBindGroupLayoutEntry[] = [
        { binding: 0, visibility: kCompute, buffer: { type: 'uniform' } },
        ...kKernels[kernel]
          .filter(([index]) => used.includes(index))
          .map(([binding, , access]): GPUBindGroupLayoutEntry => ({
            binding,
            visibility: kCompute,
            buffer: { type: access === 'read' ? 'read-only-storage' : 'storage' },
          })),
      ]
      layout = { key, group: gpu.createBindGroupLayout({ entries, label: key }) }
      layouts.set(key, layout)
    }
    return layout
  }

  /** Only mat_vec depends on the number of columns. */
  #key(dispatch: PlanDispatch, columns: Columns): string {
    return `${dispatch.variant} ${this.#kernel(dispatch) === 'mat_vec' ? columns : 1} ${this.#factors(dispatch)}`
  }

  #factors(dispatch: PlanDispatch): Factors {
    return this.#kernel(dispatch) === 'mat_mul' ? this.products.prompts : this.products.tokens
  }

  /** A pipeline that was compiled. */
  get(dispatch: PlanDispatch, columns: Columns): GPUComputePipeline {
    return this.#ready.get(this.#key(dispatch, columns))!
  }

  /** Compiles what the dispatches need, all at once. Error: 'device-lost' if the device refuses a kernel. */
  async compile(dispatches: readonly PlanDispatch[], columns: Columns): Promise<void> {
    const missing = new Map(dispatches.map((dispatch) => [this.#key(dispatch, columns), dispatch]))
    for (const key of this.#ready.keys()) missing.delete(key)
    await Promise.all(
      [...missing].map(async ([key, dispatch]) =>
        this.#ready.set(key, await this.#pipeline(dispatch, columns)),
      ),
    )
  }

  #pipeline(dispatch: PlanDispatch, columns: Columns): Promise<GPUComputePipeline> {
    const { subgroups, kernels } = this.#device
    const factors = this.#factors(dispatch)
    const options = {
      columns,
      subgroups,
      integers: factors === 'integers',
      halves: factors !== 'floats' && this.#device.halves,
    }
    const code = shaderSource(this.#plan.variants[dispatch.variant]!, options)
    const { key, group } = this.layout(dispatch)
    // Variants may differ only in what a kernel tests when it runs.
    const source = `${key}\n${code}`
    let compiling = kernels.get(source)
    if (!compiling) {
      compiling = this.#compile(code, group, `${this.#kernel(dispatch)} ${dispatch.variant}`)
      kernels.set(source, compiling)
    }
    return compiling
  }

  async #compile(code: string, group: GPUBindGroupLayout, label: string): Promise<GPUComputePipeline> {
    const { gpu } = this.#device
    try {
      return await gpu.createComputePipelineAsync({
        label,
        layout: gpu.createPipelineLayout({ bindGroupLayouts: [group] }),
        compute: { module: gpu.createShaderModule({ code, label }), entryPoint: 'main' },
      })
    } catch (error) {
      this.#device.check()
      throw new EngineError('device-lost', `The graphics card refuses the kernel ${label}: ${quoted(error)}`)
    }
  }
}
