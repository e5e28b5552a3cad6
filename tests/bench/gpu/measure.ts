// What a GPU reaches by itself and with our kernels: bandwidth of a copy, cost of a dispatch, products of each type of
// weights. All times are wall times of passes with many dispatches, without what a pass with half as many takes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shaderSource } from '../../../wasm/src/gpu/kernels.ts'
import {
  kEpilogues,
  kKernelNames,
  kKernels,
  kMatrixFields,
  kMatrixWord,
  kMatVecRows,
  kParameterWords,
  kRowsFields,
  kTileOutputs,
  kTileRows,
  kWeightTypes,
} from '../../../wasm/src/gpu/layout.ts'
import { kComputeStage, kStorage, kUsage } from '../../fixtures/webgpu.ts'
import { median } from '../common/figures.ts'

const kAbsent = 0xffffffff
const kTimes = 5

/** Streams of the types, from core/gpu/streams.inc: bytes of quants, middles and scales in a block. */
export function readStreams(text: string): ReadonlyMap<string, readonly number[]> {
  return new Map(
    [...text.matchAll(/^GGUFSCOPE_STREAM\(k(\w+), (S\(.*\))\)/gm)].map(([, name, streams]) => [
      name!,
      [...streams!.matchAll(/S\(((?:R\(\d+, \d+\)(?:, )?)*)\)/g)].map(([, ranges]) =>
        [...ranges!.matchAll(/R\(\d+, (\d+)\)/g)].reduce((sum, [, bytes]) => sum + Number(bytes), 0),
      ),
    ]),
  )
}
export const streamsFile = (root: string): string => readFileSync(join(root, 'core/gpu/streams.inc'), 'utf8')

interface Work {
  readonly pipeline: GPUComputePipeline
  readonly groups: readonly GPUBindGroup[]
  readonly grid: readonly [number, number]
}

/** Milliseconds of a dispatch of each work: n of them in one pass against n / 2, the median of several, in turn. */
async function timesOf(device: GPUDevice, works: readonly Work[], n: number): Promise<number[]> {
  const pass = async (work: Work, count: number): Promise<number> => {
    const encoder = device.createCommandEncoder()
    const compute = encoder.beginComputePass()
    compute.setPipeline(work.pipeline)
    for (let i = 0; i < count; i++) {
      compute.setBindGroup(0, work.groups[i % work.groups.length]!)
      compute.dispatchWorkgroups(...work.grid)
    }
    compute.end()
    const began = performance.now()
    device.queue.submit([encoder.finish()])
    await device.queue.onSubmittedWorkDone()
    return performance.now() - began
  }
  for (const work of works) await pass(work, n)
  const differences: number[][] = works.map(() => [])
  for (let i = 0; i < kTimes; i++)
    for (const [at, work] of works.entries())
      differences[at]!.push((await pass(work, n)) - (await pass(work, n / 2)))
  return differences.map((all) => median(all) / (n / 2))
}
const timeOf = async (device: GPUDevice, work: Work, n: number): Promise<number> =>
  (await timesOf(device, [work], n))[0]!

/** GB/s, read and written, of a kernel that copies a buffer. */
export async function copyBandwidth(device: GPUDevice, bytes: number, n: number): Promise<number> {
  const code = /* wgsl */ `
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> target_: array<vec4<u32>>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * groups.x * 256u + id.x;
  target_[i] = source[i];
}`
  const pipeline = await device.createComputePipelineAsync({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code }) },
  })
  const buffers = [0, 1].map(() => device.createBuffer({ size: bytes, usage: kStorage }))
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  })
  const workgroups = bytes / 16 / 256
  const x = Math.min(workgroups, 32768)
  const ms = await timeOf(device, { pipeline, groups: [group], grid: [x, Math.ceil(workgroups / x)] }, n)
  for (const buffer of buffers) buffer.destroy()
  return (2 * bytes) / ms / 1e6
}

/** Milliseconds of an almost empty dispatch that depends on the one before it. */
export async function dispatchCost(device: GPUDevice, n: number): Promise<number> {
  const code = /* wgsl */ `
@group(0) @binding(0) var<storage, read_write> counter: array<u32>;
@compute @workgroup_size(1)
fn main() { counter[0] += 1u; }`
  const pipeline = await device.createComputePipelineAsync({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code }) },
  })
  const buffer = device.createBuffer({ size: 16, usage: kStorage })
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 0, resource: { buffer } }],
  })
  const ms = await timeOf(device, { pipeline, groups: [group], grid: [1, 1] }, n)
  buffer.destroy()
  return ms
}

/** How a product is compiled. */
export interface Way {
  readonly subgroups: boolean
  readonly integers: boolean
  readonly halves: boolean
}

export interface ProductOptions {
  /** mat_vec multiplies one row, mat_mul these */
  readonly rows: number
  readonly nIn: number
  readonly nOut: number
  /** different matrices, so that they do not stay in the cache */
  readonly matrices: number
  readonly dispatches: number
}

/** Parameters of a product with one matrix, whose streams begin at these bytes. */
function parametersOf({ nIn, nOut }: ProductOptions, starts: readonly number[]): Uint32Array<ArrayBuffer> {
  const parameters = new Uint32Array(kParameterWords)
  const set = (
    fields: readonly (readonly [string, string])[],
    at: number,
    values: Record<string, number>,
  ) => {
    for (const [i, [name]] of fields.entries()) parameters[at + i] = values[name] ?? 0
  }
  const n_groups = Math.ceil(nOut / kMatVecRows)
  set(kRowsFields, 0, { n_in: nIn, x_stride: nIn, n_out: nOut, n_groups, n_matrices: 1 })
  new Float32Array(parameters.buffer)[kRowsFields.findIndex(([name]) => name === 'out_factor')] = 1
  set(kMatrixFields, kMatrixWord, {
    n_rows: nOut,
    middles_at: starts[0]! / 4,
    scales_at: (starts[0]! + starts[1]!) / 4,
    bias_at: kAbsent,
    scale_at: kAbsent,
  })
  return parameters
}

/** The sources of a product, compiled in each way; not in integers where the type has none, or twice alike. */
function sourcesOf(kernel: 'mat_vec' | 'mat_mul', type: number, ways: readonly Way[]): Map<string, Way> {
  const variant = {
    kernel: kKernelNames.indexOf(kernel),
    epilogue: kEpilogues.indexOf('store'),
    activation: 0,
    gating: 0,
    rope: 0,
    cacheKeys: 0,
    cacheValues: 0,
    types: [type],
    dK: 0,
    dV: 0,
    heads: 0,
    flags: 0,
  }
  const sources = new Map<string, Way>()
  for (const way of ways) {
    const code = shaderSource(variant, { columns: 1, ...way })
    if (!sources.has(code)) sources.set(code, way)
  }
  return sources
}

/** Milliseconds of a product, GB/s of weights and TFLOP/s, in each way in turn. */
export async function timeProduct(
  device: GPUDevice,
  { kernel, type }: { kernel: 'mat_vec' | 'mat_mul'; type: number },
  streams: readonly number[],
  ways: readonly Way[],
  options: ProductOptions,
): Promise<(Way & { ms: number; gbytes: number; tflops: number })[]> {
  const { nIn, nOut, rows, matrices, dispatches } = options
  const bound = kKernels[kernel].filter(([, name]) => name !== 'part' && name !== 'sum')
  const layout = device.createBindGroupLayout({
    entries: [
      { binding: 0, visibility: kComputeStage, buffer: { type: 'uniform' } },
      ...bound.map(([binding, , access]) => ({
        binding,
        visibility: kComputeStage,
        buffer: { type: access === 'read' ? 'read-only-storage' : 'storage' } as const,
      })),
    ],
  })
  const sources = sourcesOf(kernel, type, ways)
  const pipelines = await Promise.all(
    [...sources.keys()].map((code) =>
      device.createComputePipelineAsync({
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module: device.createShaderModule({ code }) },
      }),
    ),
  )
  const blocks = (nOut * nIn) / kWeightTypes.get(type)!.elements
  const starts = streams.map((bytes) => Math.ceil((blocks * bytes) / 16) * 16)
  const bytes = starts.reduce((sum, size) => sum + size, 0)
  const parameters = parametersOf(options, starts)
  const make = (size: number, data?: Uint32Array<ArrayBuffer>, uniform = false) => {
    const buffer = device.createBuffer({
      size,
      usage: uniform ? kUsage.uniform | kUsage.copyTarget : kStorage,
    })
    if (data !== undefined) device.queue.writeBuffer(buffer, 0, data)
    return buffer
  }
  const shared: Readonly<Record<string, GPUBuffer>> = {
    parameters: make(parameters.byteLength, parameters, true),
    x: make(rows * nIn * 4),
    vectors: make(1 << 16),
    step: make(256, new Uint32Array([rows, rows])),
    y: make(rows * nOut * 4),
  }
  const weights = Array.from({ length: matrices }, () => make(bytes))
  const groups = weights.map((buffer) =>
    device.createBindGroup({
      layout,
      entries: [
        { binding: 0, resource: { buffer: shared.parameters! } },
        ...bound.map(([binding, name]) => ({
          binding,
          resource: { buffer: name === 'weights' ? buffer : shared[name]! },
        })),
      ],
    }),
  )
  const grid: [number, number] =
    kernel === 'mat_vec'
      ? [Math.ceil(nOut / kMatVecRows), 1]
      : [Math.ceil(nOut / kTileOutputs), Math.ceil(rows / kTileRows)]
  const works = pipelines.map((pipeline) => ({ pipeline, groups, grid }))
  const times = await timesOf(device, works, dispatches)
  for (const buffer of [...weights, ...Object.values(shared)]) buffer.destroy()
  return [...sources.values()].map((way, i) => {
    const ms = times[i]!
    return { ...way, ms, gbytes: bytes / ms / 1e6, tflops: (2 * nIn * nOut * rows) / ms / 1e9 }
  })
}
