// A Whisper model on a GPU, in the engine's worker: the layers of its encoder and its decoder. The CPU computes the
// convolutions before the encoder's layers, and chooses the tokens.
import type { WasmSpeech, WasmSpeechDevice } from '../engine/classes.js'
import { check, type EngineHeap } from '../engine/heap.js'
import type { EngineModule } from '../engine/module.js'
import type { ArrivedRows, DevicePlan, PlanDeviceCall } from '../engine/protocol.js'
import type { ProfileRow } from '../engine/records.js'
import { Buffers, sumOf } from './buffers.js'
import { Device } from './device.js'
import { kNoEncoder } from './encoder.js'
import { readPlan, type Plan } from './plan.js'
import { Runner } from './runner.js'

const kNoRows = new Float32Array()

export class GpuSpeech {
  readonly #device: Device
  readonly #wasm: WasmSpeechDevice
  readonly #heap: EngineHeap
  readonly #plan: Plan
  readonly #buffers: Buffers
  readonly #runner: Runner
  #compiled: Promise<void> | undefined

  private constructor(
    { device, wasm, heap }: { device: Device; wasm: WasmSpeechDevice; heap: EngineHeap },
    plan: Plan,
    buffers: Buffers,
  ) {
    this.#device = device
    this.#wasm = wasm
    this.#heap = heap
    this.#plan = plan
    this.#buffers = buffers
    this.#runner = new Runner(device, plan, buffers)
  }

  /** Plans an opened model for the device, and allocates there. Errors: those of GpuModel.open(). */
  static async open(
    { sizes, allowFallback }: PlanDeviceCall,
    { module, heap, speech }: { module: EngineModule; heap: EngineHeap; speech: WasmSpeech },
  ): Promise<GpuSpeech> {
    const device = await Device.open(allowFallback)
    try {
      const wasm = new module.SpeechDevice!(speech.session())
      check(wasm.plan(sizes, device.limits), wasm)
      const plan = readPlan(wasm, heap)
      return new GpuSpeech({ device, wasm, heap }, plan, await Buffers.allocate(device, plan))
    } catch (error) {
      device.close()
      throw error
    }
  }

  get facts(): DevicePlan {
    const { hostWeights, hostScratch } = this.#plan
    return {
      adapter: this.#device.adapter,
      whyNoEncoder: [],
      memory: {
        weights: sumOf(this.#plan, 'weights') + hostWeights,
        cache: sumOf(this.#plan, 'cache'),
        recurrent: 0,
        scratch:
          sumOf(this.#plan, 'activation', 'step', 'parameters', 'output') +
          this.#runner.ringBytes +
          hostScratch,
      },
    }
  }

  /** While weights arrive. */
  #compile(): Promise<void> {
    this.#compiled ??= this.#runner.compile(false)
    this.#compiled.catch(() => {})
    return this.#compiled
  }

  /** Repacks rows that arrived and writes them to the device. */
  async setRows(bytes: Uint8Array, parts: readonly ArrivedRows[]): Promise<void> {
    this.#device.check()
    void this.#compile()
    this.#heap.put(bytes, this.#wasm)
    for (const rows of parts) {
      this.#check(this.#wasm.repack(rows))
      for (let i = 0; i < this.#wasm.writeCount(); i++) {
        const { buffer, offset, at, bytes: length } = this.#wasm.write(i)
        this.#buffers.write(buffer, offset, this.#heap.view([at, length]))
      }
    }
    await this.#buffers.settle()
  }

  /** All weights have arrived. */
  async start(): Promise<void> {
    this.#wasm.endLoad()
    await this.#compile()
  }

  /**
   * Computes what is next instead of the engine's step; false: it is none of the device's. step: after each layer of the
   * encoder; what it returns says whether to go on. Error: 'device-lost'.
   */
  async run(step: () => Promise<boolean>): Promise<boolean> {
    const wasm = this.#wasm
    const { encoder, first, end } = wasm.prepareLayers()
    if (encoder !== kNoEncoder) {
      const [record, rows] = [this.#heap.words(wasm.record()), this.#heap.floats(wasm.rows())]
      const read = await this.#runner.runLayers(record, rows, { first, end, step })
      if (read) {
        this.#heap.put(new Uint8Array(read), wasm)
        this.#check(wasm.acceptLayers(rows.length))
      }
      return true
    }
    this.#check(wasm.prepare())
    const pass = wasm.pass()
    if (pass.tokens === 0) return false
    const read = wasm.weighs() ? 'weights' : 'logits'
    const { done } = await this.#runner.submit(this.#heap.words(wasm.record()), pass, read, kNoRows)
    const outputs = await done
    if (outputs) this.#heap.put(new Uint8Array(outputs), wasm)
    this.#check(wasm.accept((outputs?.byteLength ?? 0) / 4))
    return true
  }

  /** Times of the device's operations. */
  takeProfile(): ProfileRow[] {
    return this.#runner.takeProfile()
  }

  /** Frees the device; the engine frees the plan with itself. */
  async close(): Promise<void> {
    this.#device.close()
    await this.#runner.idle()
  }

  #check(done: boolean): void {
    check(done, this.#wasm)
  }
}
