// The buffers of a plan on the device, and what is written to them while a model loads.
import { EngineError } from '../engine/engine-error.js'
import type { Device } from './device.js'
import { kAbsent, type Plan, type PlanBuffer, type Store } from './plan.js'

// The device's queue keeps what it has not copied yet. With so many bytes, loading waits for it.
const kQueuedBytes = 32 << 20

/** Passes of one row whose results may be on their way at once, and one that is read. */
const kRing = 4

/** GPUBufferUsage, which does not exist everywhere where a device does. */
const kMapRead = 1
const kCopySource = 4
const kCopyTarget = 8
const kUniform = 64
const kStorage = 128

const kUsage: Readonly<Record<Store, number>> = {
  weights: kStorage | kCopyTarget,
  cache: kStorage | kCopyTarget | kCopySource,
  recurrent: kStorage,
  activation: kStorage | kCopyTarget,
  step: kStorage | kCopyTarget,
  parameters: kUniform | kCopyTarget,
  output: kStorage | kCopySource,
}

/** The bytes of a plan's buffers, by what they are for. */
export function sumOf(plan: Plan, ...stores: readonly Store[]): number {
  return plan.buffers.reduce((sum, { store, bytes }) => sum + (stores.includes(store) ? bytes : 0), 0)
}

const asPlanned = ({ store, bytes }: PlanBuffer): GPUBufferDescriptor => ({
  size: bytes,
  usage: kUsage[store],
  label: store,
})
const readable = (size: number): GPUBufferDescriptor => ({
  size,
  usage: kMapRead | kCopyTarget,
  label: 'read',
})

/** Creates buffers. Error: 'out-of-memory' if the device has no room. */
export async function createBuffers(
  device: Device,
  wanted: readonly GPUBufferDescriptor[],
): Promise<GPUBuffer[]> {
  const { gpu } = device
  gpu.pushErrorScope('out-of-memory')
  gpu.pushErrorScope('validation')
  const all: GPUBuffer[] = []
  let failed: unknown
  try {
    for (const one of wanted) all.push(gpu.createBuffer(one))
  } catch (error) {
    failed = error // some devices throw instead
  }
  const errors = await Promise.all([gpu.popErrorScope(), gpu.popErrorScope()]).catch((error: unknown) => [
    error,
  ])
  failed ??= errors.find(Boolean)
  if (failed !== undefined) {
    for (const buffer of all) buffer.destroy()
    // A lost device has no room either.
    device.check()
    const total = wanted.reduce((sum, { size }) => sum + size, 0)
    const reason =
      failed instanceof Error || 'message' in (failed as object) ? (failed as Error).message : String(failed)
    throw new EngineError(
      'out-of-memory',
      `The graphics card has no room for ${(total / 1e6).toFixed(1)} MB: ${reason}`,
    )
  }
  device.check()
  return all
}

export class Buffers {
  readonly #device: Device
  readonly #all: GPUBuffer[]
  /** what passes of one row are copied to in turn, to be read */
  readonly ring: readonly GPUBuffer[]
  #queued = 0

  private constructor(device: Device, all: GPUBuffer[]) {
    this.#device = device
    this.ring = all.splice(-kRing)
    this.#all = all
  }

  /** Error: 'out-of-memory' if the device has no room. */
  static async allocate(device: Device, plan: Plan): Promise<Buffers> {
    const rowBytes = 4 * (plan.logits === kAbsent ? plan.embeddedLength : plan.logitsLength)
    const ring = Array.from({ length: kRing }, () => readable(rowBytes))
    const all = await createBuffers(device, [...plan.buffers.map(asPlanned), ...ring])
    const buffers = new Buffers(device, all)
    buffers.write(plan.parameters, 0, plan.parameterWords)
    for (const { buffer, offset, values } of plan.constants) buffers.write(buffer, offset, values)
    return buffers
  }

  /** Replaces the buffers that have another size in a plan whose weights are the same. Error: that of allocate. */
  async grow(plan: Plan): Promise<void> {
    const changed = plan.buffers.flatMap(({ bytes }, i) => (bytes === this.at(i).size ? [] : [i]))
    for (const i of changed) this.at(i).destroy()
    const made = await createBuffers(
      this.#device,
      changed.map((i) => asPlanned(plan.buffers[i]!)),
    )
    changed.forEach((i, at) => (this.#all[i] = made[at]!))
    this.write(plan.parameters, 0, plan.parameterWords)
  }

  /** A buffer for more than one row. Error: that of allocate. */
  async readable(size: number): Promise<GPUBuffer> {
    const [buffer] = await createBuffers(this.#device, [readable(size)])
    return buffer!
  }

  at(index: number): GPUBuffer {
    return this.#all[index]!
  }

  write(index: number, offset: number, data: ArrayBufferView<ArrayBufferLike>): void {
    const { queue } = this.#device.gpu
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    // In Node, the package webgpu refuses memory that threads share. A slice of it is not shared.
    queue.writeBuffer(this.at(index), offset, data.buffer instanceof ArrayBuffer ? bytes : bytes.slice())
    this.#queued += data.byteLength
  }

  /** Waits, if much was written, until the device has copied it. */
  async settle(): Promise<void> {
    if (this.#queued < kQueuedBytes) return
    this.#queued = 0
    const { queue } = this.#device.gpu
    queue.submit([])
    await queue.onSubmittedWorkDone().catch((error: unknown) => {
      throw this.#device.failure(error)
    })
    this.#device.check()
  }
}
