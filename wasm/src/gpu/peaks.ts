// The peak rates of a device, for peaks(): how fast kernels read memory, and multiply.
import type { Peaks } from '../engine/types.js'
import { createBuffers } from './buffers.js'
import type { Device } from './device.js'

const kBytes = 128 << 20
/** Small enough for every card's second-level cache. */
const kCachedBytes = 1 << 20
const kLanes = 256
/** Groups for every core of a large card. */
const kGroups = 2048
const kLoops = 256
/** Each rate is measured for so long, after one run that compiles and warms up. */
const kMs = 200
/** GPUBufferUsage */
const kStorage = 128

/** Reads n vectors from `passes` times the buffer's begin on; lanes read neighbouring vectors. */
const kReadSource = /* wgsl */ `
override n: u32;
override passes: u32;
@group(0) @binding(0) var<storage, read> input: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(${kLanes})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var sum = vec4<f32>(0.0);
  for (var pass_number = 0u; pass_number < passes; pass_number++) {
    for (var i = id.x; i < n; i += ${kLanes * kGroups}u) { sum += input[i]; }
  }
  if (sum.x + sum.y + sum.z + sum.w == 12345.0) { output[0] = sum.x; }
}
`

/** Four chains of multiply-adds of vectors. */
const kMultiplySource = /* wgsl */ `
@group(0) @binding(0) var<storage, read> input: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(${kLanes})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let by = input[id.x & 63u] + vec4<f32>(0.999);
  var a = vec4<f32>(f32(id.x));
  var b = a + by;
  var c = b + by;
  var d = c + by;
  for (var i = 0u; i < ${kLoops}u; i++) {
    a = fma(a, by, by);
    b = fma(b, by, by);
    c = fma(c, by, by);
    d = fma(d, by, by);
  }
  let sum = a + b + c + d;
  if (sum.x == 12345.0) { output[0] = sum.x; }
}
`

/** Runs a kernel for a while. Returns how often it ran in a second. */
async function runsPerSecond(
  device: Device,
  code: string,
  buffers: readonly GPUBuffer[],
  constants: Record<string, number> = {},
): Promise<number> {
  const { gpu } = device
  const pipeline = await gpu.createComputePipelineAsync({
    layout: 'auto',
    compute: { module: gpu.createShaderModule({ code }), entryPoint: 'main', constants },
  })
  const group = gpu.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  })
  const run = async (times: number): Promise<number> => {
    const startedAt = performance.now()
    const encoder = gpu.createCommandEncoder()
    const pass = encoder.beginComputePass()
    pass.setPipeline(pipeline)
    pass.setBindGroup(0, group)
    for (let i = 0; i < times; i++) pass.dispatchWorkgroups(kGroups)
    pass.end()
    gpu.queue.submit([encoder.finish()])
    await gpu.queue.onSubmittedWorkDone()
    // A lost device does nothing, at once.
    device.check()
    return performance.now() - startedAt
  }
  await run(1)
  let [best, times, used] = [0, 1, 0]
  while (used < kMs) {
    const ms = await run(times)
    best = Math.max(best, times / (ms / 1e3))
    used += ms
    // Fewer waits for the queue: a run shall take a quarter of the time.
    if (ms < kMs / 8) times *= 2
  }
  return best
}

/**
 * Measures the device. Kernels multiply floats only, whatever the weights are: so the rates of int8 and int16 are that of
 * float32. Error: 'out-of-memory' if the device has no room for the buffer.
 */
export async function measurePeaks(device: Device): Promise<Peaks> {
  device.check()
  const bytes = Math.min(kBytes, device.limits.buffer, device.limits.binding)
  const both = await createBuffers(
    device,
    [bytes, 16].map((size) => ({ size, usage: kStorage })),
  )
  try {
    const repeats = bytes / kCachedBytes
    const dram = bytes * (await runsPerSecond(device, kReadSource, both, { n: bytes / 16, passes: 1 }))
    const l2 =
      bytes * (await runsPerSecond(device, kReadSource, both, { n: kCachedBytes / 16, passes: repeats }))
    const each = kGroups * kLanes * kLoops * 16
    const float32 = each * (await runsPerSecond(device, kMultiplySource, both))
    return { int8: float32, int16: float32, float32, l2, dram }
  } catch (error) {
    throw device.failure(error)
  } finally {
    for (const buffer of both) buffer.destroy()
  }
}
