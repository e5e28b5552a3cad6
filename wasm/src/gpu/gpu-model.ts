// A model on a GPU, in the engine's worker: loads its weights there, and computes the tokens of the engine's session.
import type { Computing } from '../engine/generation.js'
import { EngineError } from '../engine/engine-error.js'
import { bytesOf, check, type EngineHeap } from '../engine/heap.js'
import type { PassFacts, WasmDevice, WasmEngine } from '../engine/classes.js'
import type { EngineModule } from '../engine/module.js'
import type { ProfileRow } from '../engine/records.js'
import type { PassCall } from '../engine/pass-calls.js'
import type { ArrivedRows, DevicePlan, PlanDeviceCall, Products } from '../engine/protocol.js'
import type { Pauses } from '../engine/speech-worker.js'
import type { Peaks } from '../engine/types.js'
import { Buffers, sumOf } from './buffers.js'
import { Device } from './device.js'
import { GpuEncoder, kEncoders, kNoEncoder } from './encoder.js'
import { kMaxInFlight } from './layout.js'
import { measurePeaks } from './peaks.js'
import { readPlan, type Plan } from './plan.js'
import { Runner, type ReadBack } from './runner.js'

/** What is computed of a text, in the order of the core's TextOutputs. */
const kTextOutputs = ['logits', 'lastLogits', 'embeddings'] as const
export type TextOutputs = (typeof kTextOutputs)[number]

export class GpuModel implements Computing {
  readonly #device: Device
  readonly #wasm: WasmDevice
  readonly #heap: EngineHeap
  readonly #engine: WasmEngine
  readonly #plan: Plan
  /** by their numbers */
  readonly #encoders: readonly (GpuEncoder | undefined)[]
  readonly #buffers: Buffers
  readonly #runner: Runner
  readonly #batch: number
  readonly #onlyTokens: boolean
  /** The plan has adapters. */
  readonly adapted: boolean
  #compiled: Promise<void> | undefined
  /** tokens that the device chose, oldest first */
  #chosen: Promise<ArrayBuffer | undefined>[] = []

  private constructor(
    parts: {
      device: Device
      wasm: WasmDevice
      heap: EngineHeap
      engine: WasmEngine
      plan: Plan
      encoders: readonly (GpuEncoder | undefined)[]
      batch: number
      onlyTokens: boolean
      adapted: boolean
    },
    buffers: Buffers,
  ) {
    this.#device = parts.device
    this.#wasm = parts.wasm
    this.#heap = parts.heap
    this.#engine = parts.engine
    this.#plan = parts.plan
    this.#encoders = parts.encoders
    this.#batch = parts.batch
    this.#onlyTokens = parts.onlyTokens
    this.adapted = parts.adapted
    this.#buffers = buffers
    this.#runner = new Runner(parts.device, parts.plan, buffers)
  }

  /** While weights arrive, but not for a model that is only planned. */
  #compile(): Promise<void> {
    if (!this.#compiled) {
      this.#compiled = Promise.all([
        this.#runner.compile(this.#onlyTokens),
        ...this.#encoders.map((one) => one?.compile()),
      ]).then(() => {})
      this.#compiled.catch(() => {})
    }
    return this.#compiled
  }

  /**
   * Plans an opened model for the device, and allocates there. Errors: 'no-device', 'out-of-memory', 'unsupported' with
   * the reason for a model without a plan.
   */
  static async open(
    { sizes, allowFallback, onlyTokens, adapters }: PlanDeviceCall,
    { module, heap, engine }: { module: EngineModule; heap: EngineHeap; engine: WasmEngine },
  ): Promise<GpuModel> {
    const device = await Device.open(allowFallback)
    try {
      const wasm = new module.Device(engine.session())
      for (const { bytes, scale } of adapters) {
        heap.put(bytes, wasm)
        check(wasm.addAdapter(bytes.length, scale), wasm)
      }
      check(wasm.plan(sizes, device.limits), wasm)
      const plan = readPlan(wasm, heap)
      const buffers = await Buffers.allocate(device, plan)
      const encoders: (GpuEncoder | undefined)[] = []
      for (const number of kEncoders.keys())
        encoders.push(await GpuEncoder.open({ device, wasm, heap }, number))
      const adapted = adapters.length > 0
      return new GpuModel(
        { device, wasm, heap, engine, plan, encoders, batch: sizes.batch, onlyTokens, adapted },
        buffers,
      )
    } catch (error) {
      device.close()
      throw error
    }
  }

  get facts(): DevicePlan {
    const plan = this.#plan
    const sum = (of: (encoder: GpuEncoder) => number) =>
      this.#encoders.reduce((total, one) => total + (one ? of(one) : 0), 0)
    // Less if encoders are on the device.
    const { hostWeights, hostScratch } = this.#wasm.facts()
    return {
      adapter: this.#device.adapter,
      whyNoEncoder: kEncoders.map((_, number) => this.#wasm.whyNoEncoder(number)),
      memory: {
        weights: sumOf(plan, 'weights') + sum(({ weightBytes }) => weightBytes) + hostWeights,
        cache: sumOf(plan, 'cache'),
        recurrent: sumOf(plan, 'recurrent'),
        scratch:
          sumOf(plan, 'activation', 'step', 'parameters', 'output') +
          this.#runner.ringBytes +
          sum(({ scratchBytes }) => scratchBytes) +
          hostScratch,
      },
    }
  }

  /** Of the passes from now on; encoders of a projector multiply floats. Returns whether the device has halves. */
  useProducts(products: Products): boolean {
    this.#runner.useProducts(products)
    return this.#device.halves
  }

  /** Repacks rows that arrived and writes them to the device. */
  async setRows(bytes: Uint8Array, parts: readonly ArrivedRows[]): Promise<void> {
    this.#device.check()
    void this.#compile()
    this.#heap.put(bytes, this.#wasm)
    for (const rows of parts) {
      this.#check(this.#wasm.repack(rows))
      for (let i = 0; i < this.#wasm.writeCount(); i++) {
        const { buffer, encoder, offset, at, bytes: length } = this.#wasm.write(i)
        const buffers = encoder === kNoEncoder ? this.#buffers : this.#encoders[encoder]!.buffers
        buffers.write(buffer, offset, this.#heap.view([at, length]))
      }
    }
    await this.#buffers.settle()
    for (const encoder of this.#encoders) await encoder?.buffers.settle()
  }

  /** All weights have arrived. */
  async start(): Promise<void> {
    this.#wasm.endLoad()
    await this.#compile()
  }

  /** Computes a batch of the tokens that wait. */
  async advance(): Promise<void> {
    await this.#pass(true)
  }

  /** Computes what the next token needs, at most so many tokens ahead, and takes it. */
  async next(ahead: number): Promise<void> {
    if (this.#wasm.chooses()) await this.#nextChosen(Math.min(ahead, kMaxInFlight))
    else while (await this.#pass(false));
    check(this.#engine.nextToken(), this.#engine)
  }

  async #nextChosen(ahead: number): Promise<void> {
    if (this.#chosen.length === 0 && !(await this.#submitChosen(this.#wasm.prepare(this.#batch)))) return
    while (this.#chosen.length < ahead && (await this.#submitChosen(this.#wasm.prepareChosen())));
    const words = await this.#chosen.shift()!
    this.#check(this.#wasm.acceptChosen(new Int32Array(words!)[0]!))
  }

  /** Starts the pass that was prepared. Returns false if there is nothing to compute. */
  async #submitChosen(prepared: boolean): Promise<boolean> {
    this.#check(prepared)
    const pass = this.#wasm.pass()
    if (pass.tokens === 0) return false
    const { done } = await this.#submit(pass, 'chosen')
    done.catch(() => {})
    this.#chosen.push(done)
    return true
  }

  #submit(pass: PassFacts, read: ReadBack): ReturnType<Runner['submit']> {
    const record = this.#heap.words(this.#wasm.record())
    const rows = this.#heap.floats(this.#wasm.rows())
    return this.#runner.submit(record, pass, read, rows)
  }

  /** Computes one pass of tokens that wait. Returns false if there is nothing to compute. */
  async #pass(mayChoose: boolean): Promise<boolean> {
    this.#check(this.#wasm.prepare(this.#batch))
    const pass = this.#wasm.pass()
    if (pass.tokens === 0) return false
    const chooses = mayChoose && pass.outputs === 1 && this.#wasm.chooses()
    const { done } = await this.#submit(pass, chooses ? 'chosen' : 'logits')
    const read = await done
    if (chooses) this.#check(this.#wasm.acceptChosen(new Int32Array(read!)[0]!))
    else {
      if (read) this.#heap.put(new Uint8Array(read), this.#wasm)
      this.#check(this.#wasm.accept((read?.byteLength ?? 0) / 4))
    }
    return true
  }

  /**
   * Computes layers of an encoder instead of its next steps; false: the next step is none of the device's. step: after
   * each layer; what it returns says whether to go on.
   */
  async runLayers(step: () => Promise<boolean>): Promise<boolean> {
    if (!this.#wasm.prepareLayers()) {
      const { code, message } = this.#wasm.failure()
      // The CPU has room for what is too large here.
      throw new EngineError(code === 'unsupported' ? 'device-lost' : code, message)
    }
    const layers = this.#wasm.layers()
    const encoder = this.#encoders[layers.encoder]
    await encoder?.run(layers, step)
    return encoder !== undefined
  }

  /**
   * Computes a text, whose outputs the engine's functions for it then return. After an abort these fail, which leaves
   * nothing of the text.
   */
  async computeText(
    { sequence, tokens }: PassCall,
    outputs: TextOutputs,
    { pause, cancelled }: Pauses,
  ): Promise<void> {
    check(this.#engine.select(sequence), this.#engine)
    this.#heap.put(bytesOf(tokens), this.#wasm)
    this.#check(this.#wasm.openText(tokens.length, kTextOutputs.indexOf(outputs)))
    try {
      while (!cancelled() && (await this.#textPass())) await pause()
    } catch (error) {
      this.#wasm.discard()
      throw error
    }
  }

  /** Computes the next tokens of the text. Returns false if there are none. */
  async #textPass(): Promise<boolean> {
    this.#check(this.#wasm.prepareText())
    const pass = this.#wasm.pass()
    if (pass.tokens === 0) return false
    const { done } = await this.#submit(pass, pass.embeds ? 'embedded' : 'logits')
    const read = await done
    if (read) this.#heap.put(new Uint8Array(read), this.#wasm)
    this.#check(this.#wasm.acceptText((read?.byteLength ?? 0) / 4))
    return true
  }

  takeProfile(): ProfileRow[] {
    return [this.#runner, ...this.#encoders].flatMap((one) => one?.takeProfile() ?? [])
  }

  async peaks(): Promise<Peaks> {
    return await measurePeaks(this.#device)
  }

  took(): void {}
  began(): void {}

  /** Ends an answer: passes that are on their way are discarded. */
  end(): void {
    this.#chosen = []
    this.#wasm.discard()
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
