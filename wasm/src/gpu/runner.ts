// Runs passes of a plan: one write of the record, one compute pass, one submit and one read-back each. What a pass needs
// is made once.
import type { PassFacts } from '../engine/classes.js'
import { EngineError } from '../engine/engine-error.js'
import type { Products } from '../engine/protocol.js'
import type { ProfileRow } from '../engine/records.js'
import type { Buffers } from './buffers.js'
import type { Device } from './device.js'
import { kFlags } from './layout.js'
import { columnsFor, Pipelines, type Columns } from './pipelines.js'
import { Timer } from './timer.js'
import {
  eachList,
  type DispatchListName,
  type DispatchLists,
  type GridSize,
  type Plan,
  type PlanDispatch,
} from './plan.js'

const kMaxGroups = 65_535
/** Layers of an encoder that wait in the device's queue at once. */
const kLayersAtOnce = 4
const kParameterBytes = 512
/** GPUMapMode */
const kMapRead = 1

/** What is read back of a pass. */
export type ReadBack = 'logits' | 'chosen' | 'embedded' | 'weights'

/** What changes from pass to pass in the sizes of dispatches: of the record (core/gpu/step.hpp). */
interface PassSizes {
  readonly rows: readonly [tokens: number, outputs: number]
  readonly splits: readonly [full: number, windowed: number]
}

const sizesOf = (record: Uint32Array): PassSizes => ({
  rows: [record[0]!, record[1]!],
  splits: [record[2]!, record[3]!],
})

interface Prepared {
  readonly dispatch: PlanDispatch
  readonly group: GPUBindGroup
  /** of PassSizes.rows and .splits */
  readonly rowsOf: 0 | 1
  readonly splitsOf: 0 | 1
}

const has = (flags: number, flag: number): 0 | 1 => (Math.floor(flags / flag) % 2 === 1 ? 1 : 0)

const groupsOf = ({ fixed, perRow, perSplit, divisor }: GridSize, rows: number, splits: number): number =>
  Math.ceil((fixed + perRow * rows + perSplit * splits) / divisor)

interface Slot {
  readonly buffer: GPUBuffer
  /** settles when the buffer is no longer mapped */
  free: Promise<unknown>
}

export class Runner {
  readonly #device: Device
  readonly #plan: Plan
  readonly #buffers: Buffers
  readonly #pipelines: Pipelines
  readonly #lists: DispatchLists<Prepared>
  readonly #ring: readonly Slot[]
  #next = 0
  /** for passes of several rows, each of which is read before the next one starts */
  #wide: Slot | undefined
  /** lists with the columns that are compiled */
  readonly #compiled: Set<string>
  #timer: Timer | undefined
  /** the deep buffers hold parts of the last pass */
  #deepIsSet = false
  /** settles when the last pass without a read-back is done */
  #unread: Promise<void> = Promise.resolve()

  /** like: a runner of the same plan with smaller buffers, in whose place this one is */
  constructor(device: Device, plan: Plan, buffers: Buffers, like?: Runner) {
    this.#device = device
    this.#plan = plan
    this.#buffers = buffers
    this.#pipelines = like ? like.#pipelines : new Pipelines(device, plan)
    this.#compiled = like ? like.#compiled : new Set()
    this.#lists = eachList((name) => plan.lists[name].map((dispatch) => this.#prepare(dispatch)))
    this.#ring = like ? like.#ring : buffers.ring.map((buffer) => ({ buffer, free: Promise.resolve() }))
    this.#wide = like ? like.#wide : undefined
    this.#timer = like ? like.#timer : undefined
  }

  /** Of the passes from now on. */
  useProducts(products: Products): void {
    this.#pipelines.products = products
    this.#compiled.clear()
  }

  /** Bytes of a row that is read back. */
  #rowBytes(read: Exclude<ReadBack, 'weights'>): number {
    const { logitsLength, embeddedLength } = this.#plan
    return 4 * { chosen: 1, logits: logitsLength, embedded: embeddedLength }[read]
  }

  /** Compiles what the first passes need: for single tokens, and unless `onlyTokens` is true for prompts. */
  async compile(onlyTokens: boolean): Promise<void> {
    const tokens = ['decode', 'decodeLogits', 'choose'] as const
    // A model whose tokens are not chosen here computes embeddings, or has an encoder.
    const embeds = this.#plan.lists.choose.length === 0 || this.#plan.encodes
    const prompts = ['prefill', 'prefillLogits', ...(embeds ? ['embeddings' as const] : [])] as const
    await this.#compile(onlyTokens ? tokens : [...tokens, ...prompts], 1)
    this.#device.check()
  }

  /** Compiles the kernels of an encoder's layers. */
  async compileLayers(): Promise<void> {
    await this.#compile(['embeddings'], 1)
    this.#device.check()
  }

  /** Compiles what the lists lack, all at once. */
  async #compile(names: readonly DispatchListName[], columns: Columns): Promise<void> {
    const missing = names.filter((name) => !this.#compiled.has(`${name} ${columns}`))
    if (missing.length === 0) return
    await this.#pipelines.compile(
      missing.flatMap((name) => this.#plan.lists[name]),
      columns,
    )
    for (const name of missing) this.#compiled.add(`${name} ${columns}`)
  }

  get ringBytes(): number {
    return [...this.#ring, ...(this.#wide ? [this.#wide] : [])].reduce(
      (sum, { buffer }) => sum + buffer.size,
      0,
    )
  }

  #prepare(dispatch: PlanDispatch): Prepared {
    const { flags } = this.#plan.variants[dispatch.variant]!
    const entries: GPUBindGroupEntry[] = [
      {
        binding: 0,
        resource: {
          buffer: this.#buffers.at(this.#plan.parameters),
          offset: dispatch.parameters,
          size: kParameterBytes,
        },
      },
      ...dispatch.bindings.map(({ index, buffer, offset, bytes }) => ({
        binding: index,
        resource: { buffer: this.#buffers.at(buffer), offset, ...(bytes > 0 ? { size: bytes } : {}) },
      })),
    ]
    return {
      dispatch,
      group: this.#device.gpu.createBindGroup({ layout: this.#pipelines.layout(dispatch).group, entries }),
      rowsOf: has(flags, kFlags.outputRows),
      splitsOf: has(flags, kFlags.windowed),
    }
  }

  #listsOf({ decode, outputs, embeds }: PassFacts, read: ReadBack): readonly DispatchListName[] {
    if (read === 'weights') return ['prefill']
    if (embeds) return this.#plan.encodes ? ['embeddings'] : ['prefill', 'embeddings']
    if (decode) return outputs > 0 ? ['decode', 'decodeLogits', 'choose'] : ['decode']
    return outputs > 0 ? ['prefill', 'prefillLogits', 'choose'] : ['prefill']
  }

  /**
   * Starts a pass. rows: of a pass that has rows instead of tokens. Resolves when it is submitted; the promise in the result resolves with
   * what is read back, and nothing is read of a pass without outputs. Error: 'device-lost'.
   */
  async submit(
    record: Uint32Array<ArrayBuffer>,
    pass: PassFacts,
    read: ReadBack,
    rows: Float32Array<ArrayBuffer>,
  ): Promise<{ readonly done: Promise<ArrayBuffer | undefined> }> {
    const sizes = sizesOf(record)
    // Kernels for more tokens have no columns.
    const columns = pass.decode ? columnsFor(pass.tokens) : 1
    const names = this.#listsOf(pass, read)
    await this.#compile(names, columns)
    const bytes =
      read === 'weights' ? this.#plan.buffers[this.#plan.weights]!.bytes : pass.outputs * this.#rowBytes(read)
    const slot = pass.outputs > 0 ? await this.#takeSlot(bytes) : undefined
    this.#device.check()
    const { gpu } = this.#device
    gpu.queue.writeBuffer(this.#buffers.at(this.#plan.step), 0, record)
    const encoder = gpu.createCommandEncoder()
    const isOfRows = rows.length > 0
    this.#writeRows(rows, encoder)
    const dispatches = names.flatMap((name) => this.#lists[name]).slice(isOfRows ? this.#plan.embeds : 0)
    this.#encode(encoder, dispatches, { sizes, columns, tokens: pass.tokens })
    if (!slot) {
      gpu.queue.submit([encoder.finish()])
      await this.#timer?.end()
      // One more pass may wait behind the one that is computed.
      await this.#unread
      this.#unread = gpu.queue.onSubmittedWorkDone().catch(() => {})
      return { done: Promise.resolve(undefined) }
    }
    encoder.copyBufferToBuffer(this.#buffers.at(this.#plan[read]), 0, slot.buffer, 0, bytes)
    gpu.queue.submit([encoder.finish()])
    const done = this.#readSlot(slot, bytes)
    slot.free = done.catch(() => {})
    await this.#timer?.end()
    return { done }
  }

  /**
   * Computes layers of an encoder, and returns the rows that they leave. step: after each layer; undefined if it returned
   * false. Each layer is submitted alone, since drivers end what takes long. Error: 'device-lost'.
   */
  async runLayers(
    record: Uint32Array<ArrayBuffer>,
    rows: Float32Array<ArrayBuffer>,
    { first, end, step }: { first: number; end: number; step: () => Promise<boolean> },
  ): Promise<ArrayBuffer | undefined> {
    await this.compileLayers()
    const slot = await this.#takeSlot(rows.byteLength)
    const { gpu } = this.#device
    const sizes = sizesOf(record)
    gpu.queue.writeBuffer(this.#buffers.at(this.#plan.step), 0, record)
    gpu.queue.writeBuffer(this.#buffers.at(this.#plan.stream), 0, rows)
    for (let layer = first; layer < end; layer++) {
      const encoder = gpu.createCommandEncoder()
      const dispatches = this.#lists.embeddings.filter(({ dispatch }) => dispatch.layer === layer)
      this.#encode(encoder, dispatches, { sizes, columns: 1, tokens: sizes.rows[0] })
      if (layer + 1 === end)
        encoder.copyBufferToBuffer(this.#buffers.at(this.#plan.embedded), 0, slot.buffer, 0, rows.byteLength)
      gpu.queue.submit([encoder.finish()])
      await this.#timer?.end()
      // The answer to an abort waits for some layers. A browser that seldom asks its device makes each wait long.
      if ((layer - first) % kLayersAtOnce === kLayersAtOnce - 1) await this.#settle()
      if (!(await step())) return undefined
    }
    const done = this.#readSlot(slot, rows.byteLength)
    slot.free = done.catch(() => {})
    return await done
  }

  /** The rows of a pass, in parts of equal length: what is read first, and what is added after the first layers. */
  #writeRows(rows: Float32Array<ArrayBuffer>, encoder: GPUCommandEncoder): void {
    const { stream, deep, deepParts } = this.#plan
    const { queue } = this.#device.gpu
    const buffers = Array.from({ length: deepParts }, (_, i) => this.#buffers.at(deep + i))
    const length = rows.length / (1 + deepParts)
    if (length > 0) {
      queue.writeBuffer(this.#buffers.at(stream), 0, rows, 0, length)
      for (const [i, buffer] of buffers.entries())
        queue.writeBuffer(buffer, 0, rows, (1 + i) * length, length)
    } else if (this.#deepIsSet) {
      for (const buffer of buffers) encoder.clearBuffer(buffer)
    }
    this.#deepIsSet = length > 0 && deepParts > 0
  }

  /** Waits until the device has done what was submitted. */
  async #settle(): Promise<void> {
    await this.#device.gpu.queue.onSubmittedWorkDone().catch((error: unknown) => {
      throw this.#device.failure(error)
    })
    this.#device.check()
  }

  /** The times since the last call; the first one starts the timing. Each dispatch is a pass of its own from then on. */
  takeProfile(): ProfileRow[] {
    this.#timer ??= new Timer(this.#device, this.#plan)
    return this.#timer.take()
  }

  #encode(
    encoder: GPUCommandEncoder,
    list: readonly Prepared[],
    { sizes, columns, tokens }: { sizes: PassSizes; columns: Columns; tokens: number },
  ): void {
    this.#timer?.start(tokens)
    let pass: GPUComputePassEncoder | undefined
    for (const { dispatch, group, rowsOf, splitsOf } of list) {
      const [rows, splits] = [sizes.rows[rowsOf], sizes.splits[splitsOf]]
      let x = groupsOf(dispatch.grid[0], rows, splits)
      let y = groupsOf(dispatch.grid[1], rows, splits)
      if (x === 0 || y === 0) continue
      if (x > kMaxGroups) {
        // Kernels with a grid of one dimension count the workgroups of a row (core/gpu/kernels.inc).
        y = Math.ceil(x / kMaxGroups)
        x = Math.ceil(x / y)
      }
      const timed = this.#timer?.next(dispatch, rows)
      if (timed) pass?.end()
      if (timed || !pass) pass = encoder.beginComputePass(timed)
      pass.setPipeline(this.#pipelines.get(dispatch, columns))
      pass.setBindGroup(0, group)
      pass.dispatchWorkgroups(x, y)
    }
    pass?.end()
    this.#timer?.resolve(encoder)
  }

  /** A buffer to read so many bytes back. Error: 'device-lost' if there is no room for it: the CPU has it. */
  async #takeSlot(bytes: number): Promise<Slot> {
    const inRing = this.#ring[this.#next]!
    if (bytes <= inRing.buffer.size) {
      this.#next = (this.#next + 1) % this.#ring.length
      await inRing.free
      return inRing
    }
    await this.#wide?.free
    if (!this.#wide || this.#wide.buffer.size < bytes) {
      this.#wide?.buffer.destroy()
      this.#wide = undefined
      const buffer = await this.#buffers.readable(bytes).catch((error: Error) => {
        throw new EngineError('device-lost', error.message)
      })
      this.#wide = { buffer, free: Promise.resolve() }
    }
    return this.#wide
  }

  async #readSlot({ buffer }: Slot, bytes: number): Promise<ArrayBuffer> {
    try {
      await buffer.mapAsync(kMapRead, 0, bytes)
    } catch (error) {
      throw this.#device.failure(error)
    }
    const read = buffer.getMappedRange(0, bytes).slice(0)
    buffer.unmap()
    this.#device.check()
    return read
  }

  /** Waits until nothing is read any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#ring.map(({ free }) => free), this.#wide?.free])
  }
}
