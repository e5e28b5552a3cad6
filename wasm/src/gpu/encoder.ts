// The layers of an image encoder on a GPU. What is before and after them, the CPU computes.
import type { WasmDevice } from '../engine/classes.js'
import { EngineError } from '../engine/engine-error.js'
import { check, type EngineHeap } from '../engine/heap.js'
import { Buffers, sumOf } from './buffers.js'
import type { Device } from './device.js'
import { readPlan, type Plan } from './plan.js'
import { Runner } from './runner.js'

export class GpuEncoder {
  readonly #device: Device
  readonly #wasm: WasmDevice
  readonly #heap: EngineHeap
  #plan: Plan
  readonly #buffers: Buffers
  #runner: Runner

  private constructor(device: Device, wasm: WasmDevice, heap: EngineHeap, plan: Plan, buffers: Buffers) {
    this.#device = device
    this.#wasm = wasm
    this.#heap = heap
    this.#plan = plan
    this.#buffers = buffers
    this.#runner = new Runner(device, plan, buffers)
  }

  /** Undefined: the CPU computes the layers, if there are any. */
  static async open(device: Device, wasm: WasmDevice, heap: EngineHeap): Promise<GpuEncoder | undefined> {
    const plan = describedPlan(wasm, heap)
    if (!plan) return undefined
    try {
      return new GpuEncoder(device, wasm, heap, plan, await Buffers.allocate(device, plan))
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'out-of-memory') throw error
      wasm.keepEncoder(error.message)
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

  compile(): Promise<void> {
    return this.#runner.compileLayers()
  }

  /**
   * Computes layers instead of the encoder's next steps; false: the next step is none of the device's. step: after each
   * layer; what it returns says whether to go on. Error: 'device-lost', also if the image is too large for the device.
   */
  async run(step: () => Promise<boolean>): Promise<boolean> {
    if (!this.#wasm.prepareLayers()) {
      const { code, message } = this.#wasm.failure()
      // The CPU has room for it.
      throw new EngineError(code === 'unsupported' ? 'device-lost' : code, message)
    }
    const { first, end, grown } = this.#wasm.layers()
    if (first === end) return false
    const record = this.#heap.words(this.#wasm.record())
    const rows = this.#heap.floats(this.#wasm.rows())
    if (grown) await this.#grow()
    const read = await this.#runner.runLayers(record, rows, { first, end, step })
    if (!read) return true
    this.#heap.put(new Uint8Array(read), this.#wasm)
    check(this.#wasm.acceptLayers(rows.length), this.#wasm)
    return true
  }

  async #grow(): Promise<void> {
    this.#plan = describedPlan(this.#wasm, this.#heap)!
    await this.#buffers.grow(this.#plan).catch((error: Error) => {
      throw new EngineError('device-lost', error.message)
    })
    this.#runner = new Runner(this.#device, this.#plan, this.#buffers, this.#runner)
  }
}

function describedPlan(wasm: WasmDevice, heap: EngineHeap): Plan | undefined {
  const plan = wasm.describeEncoder(true) ? readPlan(wasm, heap) : undefined
  wasm.describeEncoder(false)
  return plan
}
