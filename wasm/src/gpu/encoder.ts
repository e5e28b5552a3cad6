// The layers of an encoder of images or audio on a GPU. What is before and after them, the CPU computes.
import type { LayerFacts, WasmDevice } from '../engine/classes.js'
import { EngineError } from '../engine/engine-error.js'
import { check, type EngineHeap } from '../engine/heap.js'
import type { ProfileRow } from '../engine/records.js'
import { Buffers, sumOf } from './buffers.js'
import type { Device } from './device.js'
import { readPlan, type Plan } from './plan.js'
import { Runner } from './runner.js'

/** The encoders of a projector, by the engine's numbers. */
export const kEncoders = ['image', 'audio'] as const
/** The number of none. */
export const kNoEncoder = kEncoders.length

interface EncoderParts {
  readonly device: Device
  readonly wasm: WasmDevice
  readonly heap: EngineHeap
}

export class GpuEncoder {
  readonly #device: Device
  readonly #number: number
  readonly #wasm: WasmDevice
  readonly #heap: EngineHeap
  #plan: Plan
  readonly #buffers: Buffers
  #runner: Runner

  private constructor(
    { device, wasm, heap }: EncoderParts,
    { number, plan, buffers }: { number: number; plan: Plan; buffers: Buffers },
  ) {
    this.#device = device
    this.#number = number
    this.#wasm = wasm
    this.#heap = heap
    this.#plan = plan
    this.#buffers = buffers
    this.#runner = new Runner(device, plan, buffers)
  }

  /** number: of kEncoders. Undefined: the CPU computes the layers, if there are any. */
  static async open(parts: EncoderParts, number: number): Promise<GpuEncoder | undefined> {
    const { device, wasm, heap } = parts
    const plan = describedPlan(wasm, heap, number)
    if (!plan) return undefined
    try {
      return new GpuEncoder(parts, { number, plan, buffers: await Buffers.allocate(device, plan) })
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'out-of-memory') throw error
      wasm.keepEncoder(number, error.message)
      return undefined
    }
  }

  get weightBytes(): number {
    return sumOf(this.#plan, 'weights')
  }

  get scratchBytes(): number {
    return sumOf(this.#plan, 'cache', 'activation', 'step', 'parameters', 'output') + this.#runner.ringBytes
  }

  get buffers(): Buffers {
    return this.#buffers
  }

  takeProfile(): ProfileRow[] {
    return this.#runner.takeProfile()
  }

  compile(): Promise<void> {
    return this.#runner.compileLayers()
  }

  /**
   * Computes the layers that the engine placed. step: after each layer; what it returns says whether to go on. Error:
   * 'device-lost', also if an image is too large for the device.
   */
  async run({ first, end, grown }: LayerFacts, step: () => Promise<boolean>): Promise<void> {
    const record = this.#heap.words(this.#wasm.record())
    const rows = this.#heap.floats(this.#wasm.rows())
    if (grown) await this.#grow()
    const read = await this.#runner.runLayers(record, rows, { first, end, step })
    if (!read) return
    this.#heap.put(new Uint8Array(read), this.#wasm)
    check(this.#wasm.acceptLayers(rows.length), this.#wasm)
  }

  async #grow(): Promise<void> {
    this.#plan = describedPlan(this.#wasm, this.#heap, this.#number)!
    await this.#buffers.grow(this.#plan).catch((error: Error) => {
      throw new EngineError('device-lost', error.message)
    })
    this.#runner = new Runner(this.#device, this.#plan, this.#buffers, this.#runner)
  }
}

function describedPlan(wasm: WasmDevice, heap: EngineHeap, number: number): Plan | undefined {
  const plan = wasm.describe(number) ? readPlan(wasm, heap) : undefined
  wasm.describe(kNoEncoder)
  return plan
}
