// Replays plans on a device, dispatch by dispatch, beside what the core's interpreter computes: every kernel of every
// reference model that has a plan. gpu.test.ts runs this file in a process in which WebGPU finds SwiftShader. It needs
// build/native/core_tests, which writes the recordings (tests/core/gpu/recording.cpp has their format).
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Variant } from '../../wasm/src/gpu/kernels.ts'
import { kComputeStage, kMapModeRead, kReadBack, kStorage, kUsage } from '../fixtures/webgpu.ts'
import { kernels, layout, openDevice } from './gpu-device.ts'
import { kRoot } from './packed.ts'

const { kFlags, kKernelNames, kKernels, kParameterWords, kWeightTypes } = layout

/** The largest difference, relative to the largest value that a dispatch wrote. */
const kTolerance = 5e-6
const kMaxPipelines = 210

interface GridSize {
  readonly fixed: number
  readonly perRow: number
  readonly perSplit: number
  readonly divisor: number
}
interface Dispatch {
  readonly variant: number
  readonly parameters: number
  readonly bindings: readonly ({ buffer: number; offset: number; bytes: number } | null)[]
  readonly grid: readonly [GridSize, GridSize]
}
interface Plan {
  readonly step: number
  readonly parameters: number
  readonly buffers: readonly number[]
  readonly variants: readonly Variant[]
  readonly lists: readonly (readonly Dispatch[])[]
}

/** The parts of a recording. */
class Parts {
  readonly #bytes: Buffer
  #at = 0
  constructor(path: string) {
    this.#bytes = readFileSync(path)
  }
  get done(): boolean {
    return this.#at >= this.#bytes.length
  }
  next(): Buffer {
    const length = this.#bytes.readUInt32LE(this.#at)
    this.#at += 4 + length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
  words(): Uint32Array<ArrayBuffer> {
    return new Uint32Array(Uint8Array.from(this.next()).buffer)
  }
  /** Pairs of a buffer's number and its words, up to an empty part. */
  *buffers(): Generator<[number, Uint32Array<ArrayBuffer>]> {
    for (let name = this.next(); name.length > 0; name = this.next())
      yield [Number(name.toString()), this.words()]
  }
}

const device = await openDevice()
const subgroups = device.features.has('subgroups')
interface Compiled {
  readonly pipeline: GPUComputePipeline
  readonly group: GPUBindGroupLayout
}
const compiled = new Map<string, Promise<Compiled>>()

/** The pipeline of a variant, shared by all models whose kernels have the same source. */
function compile(variant: Variant, used: readonly number[], columns: number): Promise<Compiled> {
  const code = kernels.shaderSource(variant, { columns, subgroups, integers: false, halves: false })
  const key = `${used.join()} ${code}`
  const make = async (): Promise<Compiled> => {
    const storage = kKernels[kKernelNames[variant.kernel]!].filter(([index]) => used.includes(index))
    const group = device.createBindGroupLayout({
      entries: [
        { binding: 0, visibility: kComputeStage, buffer: { type: 'uniform' } },
        ...storage.map(([binding, , access]): GPUBindGroupLayoutEntry => ({
          binding,
          visibility: kComputeStage,
          buffer: { type: access === 'read' ? 'read-only-storage' : 'storage' },
        })),
      ],
    })
    const module = device.createShaderModule({ code })
    const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [group] })
    return {
      group,
      pipeline: await device.createComputePipelineAsync({ layout: pipelineLayout, compute: { module } }),
    }
  }
  const made = compiled.get(key) ?? make()
  compiled.set(key, made)
  return made
}

/** Workgroups of a dispatch, from the step record. */
function gridOf({ grid }: Dispatch, { flags, kernel }: Variant, step: Uint32Array): [number, number] {
  const has = (flag: number): boolean => Math.floor(flags / flag) % 2 === 1
  const rows = step[has(kFlags.outputRows) ? 1 : 0]!
  const attends = kKernelNames[kernel]!.startsWith('attend')
  const splits = step[attends && has(kFlags.windowed) ? 3 : 2]!
  const size = (g: GridSize): number =>
    Math.ceil((g.fixed + g.perRow * rows + g.perSplit * splits) / g.divisor)
  return [size(grid[0]), size(grid[1])]
}

/** The difference of two buffers where the interpreter wrote; what it left may hold anything. */
function differenceOf(
  name: string,
  variant: Variant,
  values: Record<'got' | 'want' | 'before', Uint32Array>,
): number {
  const { got, want, before } = values
  const [gotReal, wantReal] = [new Float32Array(got.buffer), new Float32Array(want.buffer)]
  const cached = variant.cacheKeys === 1 && (name === 'attend_splits' || name === 'prepare_heads')
  let [largest, difference] = [0, 0]
  for (const [i, word] of want.entries()) {
    if (word === before[i]) continue
    if (name === 'argmax' || (name === 'choose_experts' && word < kParameterWords)) {
      if (got[i] !== word) return Infinity
    } else if (cached) {
      // Pairs of binary16, which a device may round the other way.
      const far = (shift: number): boolean =>
        Math.abs(((got[i]! >>> shift) & 0xffff) - ((word >>> shift) & 0xffff)) > 1
      if (gotReal[i] !== wantReal[i] && (far(0) || far(16)) && !(Math.abs(gotReal[i]! - wantReal[i]!) < 1e-4))
        return Infinity
    } else {
      largest = Math.max(largest, Math.abs(wantReal[i]!))
      const one = Math.abs(gotReal[i]! - wantReal[i]!)
      difference = one <= difference ? difference : one
    }
  }
  return largest > 0 ? difference / largest : difference
}

async function replay(path: string): Promise<{ dispatches: number; worst: number }> {
  const parts = new Parts(path)
  const plan = JSON.parse(parts.next().toString()) as Plan
  const usage = kStorage | kUsage.uniform
  const buffers = plan.buffers.map((size) => device.createBuffer({ size, usage }))
  const before = plan.buffers.map((size) => new Uint32Array(size / 4))
  for (const [i, words] of parts.buffers()) device.queue.writeBuffer(buffers[i]!, 0, words)
  let step = new Uint32Array(0)
  let [dispatches, worst] = [0, 0]
  while (!parts.done) {
    const name = parts.next().toString()
    if (name === 'step') {
      step = parts.words()
      device.queue.writeBuffer(buffers[plan.step]!, 0, step)
      continue
    }
    const [list, index] = name.split(' ').map(Number) as [number, number]
    const dispatch = plan.lists[list]![index]!
    const wants = [...parts.buffers()]
    const reads = await run(plan, { dispatch, step, buffers }, wants)
    for (const [i, [buffer, want]] of wants.entries()) {
      const variant = plan.variants[dispatch.variant]!
      const kernel = kKernelNames[variant.kernel]!
      const difference =
        reads.length === 0
          ? 0
          : differenceOf(kernel, variant, { got: reads[i]!, want, before: before[buffer]! })
      const types = variant.types.map((type) => kWeightTypes.get(type)!.name).join()
      assert.ok(
        difference <= kTolerance,
        `${path}: ${kernel} ${types} of list ${name} differs by ${difference}`,
      )
      worst = Math.max(worst, difference)
      // An error of one dispatch shall not reach the next.
      before[buffer] = want
      device.queue.writeBuffer(buffers[buffer]!, 0, want)
    }
    dispatches++
  }
  for (const buffer of buffers) buffer.destroy()
  return { dispatches, worst }
}

/** Runs a dispatch, and reads the buffers that it may write. Nothing if its grid is empty. */
async function run(
  plan: Plan,
  { dispatch, step, buffers }: { dispatch: Dispatch; step: Uint32Array; buffers: readonly GPUBuffer[] },
  wants: readonly (readonly [number, Uint32Array])[],
): Promise<Uint32Array[]> {
  const variant = plan.variants[dispatch.variant]!
  const grid = gridOf(dispatch, variant, step)
  if (grid.includes(0)) return []
  const used = dispatch.bindings.flatMap((binding, i) => (binding === null ? [] : [i]))
  const columns = kKernelNames[variant.kernel] === 'mat_vec' ? [1, 2, 4, 8].find((n) => n >= step[0]!)! : 1
  const { pipeline, group } = await compile(variant, used, columns)
  const entries = [
    {
      binding: 0,
      resource: { buffer: buffers[plan.parameters]!, offset: dispatch.parameters, size: 4 * kParameterWords },
    },
    ...used.map((binding) => {
      const { buffer, offset, bytes } = dispatch.bindings[binding]!
      return { binding, resource: { buffer: buffers[buffer]!, offset, size: bytes } }
    }),
  ]
  const encoder = device.createCommandEncoder()
  const pass = encoder.beginComputePass()
  pass.setPipeline(pipeline)
  pass.setBindGroup(0, device.createBindGroup({ layout: group, entries }))
  pass.dispatchWorkgroups(...grid)
  pass.end()
  const reads = wants.map(([buffer, { byteLength }]) => {
    const read = device.createBuffer({
      size: byteLength,
      usage: kReadBack,
    })
    encoder.copyBufferToBuffer(buffers[buffer]!, 0, read, 0, byteLength)
    return read
  })
  device.queue.submit([encoder.finish()])
  return Promise.all(
    reads.map(async (read) => {
      await read.mapAsync(kMapModeRead)
      const words = new Uint32Array(read.getMappedRange().slice(0))
      read.destroy()
      return words
    }),
  )
}

test('each dispatch of each reference model computes what the interpreter computes', async (t) => {
  const program = join(kRoot, 'build/native/core_tests')
  if (!existsSync(program)) return t.skip('build/native/core_tests is not built')
  const folder = mkdtempSync(join(tmpdir(), 'gpu-plans-'))
  try {
    execFileSync(program, ['--run_test=gpu_recording'], {
      env: { ...process.env, GGUFSCOPE_GPU_RECORDING: folder },
      stdio: 'ignore',
    })
    const names = readdirSync(folder)
    assert.ok(names.length > 0)
    for (const name of names) {
      const { dispatches, worst } = await replay(join(folder, name))
      t.diagnostic(
        `${name.slice(0, -4)}: ${dispatches} dispatches, largest difference ${worst.toExponential(1)}`,
      )
    }
    assert.ok(compiled.size <= kMaxPipelines, `${compiled.size} pipelines`)
    t.diagnostic(`${names.length} models, ${compiled.size} pipelines`)
  } finally {
    rmSync(folder, { recursive: true })
    device.destroy()
  }
})
