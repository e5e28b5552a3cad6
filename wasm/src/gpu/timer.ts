// The times of a plan's dispatches on the device, for profile(): by timestamps where the device has them, else only of
// whole passes.
import { addRow } from '../engine/profile.js'
import type { ProfileRow } from '../engine/records.js'
import type { Device } from './device.js'
import {
  kKernelNames,
  kMatrixFields,
  kMatrixWord,
  kMatrixWords,
  kRowsFields,
  type KernelName,
} from './layout.js'
import type { Plan, PlanDispatch } from './plan.js'

/** Dispatches that a set of queries times: WebGPU limits it to 4,096, and each dispatch takes two. */
const kParts = 2048
/** of a dispatch: two times of 64 bits */
const kTimeBytes = 16
/** GPUBufferUsage and GPUMapMode */
const kMapRead = 1
const kCopySource = 4
const kCopyTarget = 8
const kQueryResolve = 512

const kOperations: Readonly<Record<KernelName, ProfileRow['operation']>> = {
  embed: 'other',
  norm_rows: 'norm',
  mat_vec: 'products',
  mat_mul: 'products',
  choose_experts: 'other',
  expert_in: 'products',
  expert_out: 'products',
  head_product: 'products',
  attend_splits: 'attention',
  attend_combine: 'attention',
  prepare_heads: 'positions',
  attend_rows: 'attention',
  weigh_cells: 'attention',
  convolve: 'recurrence',
  scan: 'recurrence',
  delta_rule: 'recurrence',
  shift: 'recurrence',
  wkv: 'recurrence',
  argmax: 'sampling',
}

const wordOf = (fields: readonly (readonly [string, string])[], name: string): number =>
  fields.findIndex(([field]) => field === name)
const [kIn, kMatrices, kUsed] = ['n_in', 'n_matrices', 'n_used'].map((name) => wordOf(kRowsFields, name)) as [
  number,
  number,
  number,
]
const kMatrixRows = wordOf(kMatrixFields, 'n_rows')

type Part = Omit<ProfileRow, 'calls' | 'ms'>

/** What a dispatch computes for so many rows. */
function partOf(plan: Plan, dispatch: PlanDispatch, rows: number): Part {
  const { kernel, types } = plan.variants[dispatch.variant]!
  const operation = kOperations[kKernelNames[kernel]!]
  const none = { operation, oneToken: rows === 1, typeA: -1, typeB: -1, typeC: -1, columns: 0, rows: 0 }
  if (operation !== 'products') return { ...none, bytes: 0, products: 0 }
  const words = plan.parameterWords.subarray(dispatch.parameters / 4)
  let matrixRows = 0
  for (let m = 0; m < words[kMatrices]!; m++)
    matrixRows += words[kMatrixWord + m * kMatrixWords + kMatrixRows]!
  const [typeA = -1, typeB = -1, typeC = -1] = types
  const columns = words[kIn]!
  return {
    ...none,
    typeA,
    typeB,
    typeC,
    columns,
    rows: matrixRows,
    bytes: dispatch.weightBytes,
    products: columns * matrixRows * Math.max(1, words[kUsed]!) * rows,
  }
}

/** Sums the times of passes until they are taken. */
export class Timer {
  readonly #device: Device
  readonly #plan: Plan
  readonly #rows = new Map<string, ProfileRow>()
  /** none: the device has no clock for dispatches */
  readonly #queries: readonly GPUQuerySet[] = []
  readonly #resolved: GPUBuffer | undefined
  readonly #read: GPUBuffer | undefined
  #parts: Part[] = []
  #oneToken = false
  #startedAt = 0

  constructor(device: Device, plan: Plan) {
    this.#device = device
    this.#plan = plan
    const { gpu } = device
    if (!gpu.features.has('timestamp-query')) return
    // More than a pass has, which takes some of the lists.
    const most = Object.values(plan.lists).reduce((sum, list) => sum + list.length, 0)
    const sets = Math.ceil(most / kParts)
    const size = kTimeBytes * kParts * sets
    this.#queries = Array.from({ length: sets }, () =>
      gpu.createQuerySet({ type: 'timestamp', count: 2 * kParts }),
    )
    this.#resolved = gpu.createBuffer({ size, usage: kQueryResolve | kCopySource })
    this.#read = gpu.createBuffer({ size, usage: kMapRead | kCopyTarget })
  }

  /** A pass over so many rows begins. */
  start(rows: number): void {
    this.#parts = []
    this.#oneToken = rows === 1
    this.#startedAt = performance.now()
  }

  /** What to pass to beginComputePass() for a dispatch; undefined: it goes into the pass before it. */
  next(dispatch: PlanDispatch, rows: number): GPUComputePassDescriptor | undefined {
    const querySet = this.#queries[Math.floor(this.#parts.length / kParts)]
    if (!querySet) return undefined
    const at = 2 * (this.#parts.length % kParts)
    this.#parts.push({ ...partOf(this.#plan, dispatch, rows), oneToken: this.#oneToken })
    return {
      timestampWrites: {
        querySet,
        beginningOfPassWriteIndex: at,
        endOfPassWriteIndex: at + 1,
      },
    }
  }

  /** Before the commands are submitted. */
  resolve(encoder: GPUCommandEncoder): void {
    const count = this.#parts.length
    if (count === 0) return
    for (let i = 0; i * kParts < count; i++)
      encoder.resolveQuerySet(
        this.#queries[i]!,
        0,
        2 * Math.min(kParts, count - i * kParts),
        this.#resolved!,
        kTimeBytes * kParts * i,
      )
    encoder.copyBufferToBuffer(this.#resolved!, 0, this.#read!, 0, kTimeBytes * count)
  }

  /** After the commands were submitted: waits for them, and adds their times. */
  async end(): Promise<void> {
    const { queue } = this.#device.gpu
    await queue.onSubmittedWorkDone().catch((error: unknown) => {
      throw this.#device.failure(error)
    })
    const all = performance.now() - this.#startedAt
    this.#add(
      {
        operation: 'other',
        oneToken: this.#oneToken,
        typeA: -1,
        typeB: -1,
        typeC: -1,
        columns: 0,
        rows: 0,
        bytes: 0,
        products: 0,
      },
      all,
    )
    if (!this.#read || this.#parts.length === 0) return
    const length = kTimeBytes * this.#parts.length
    await this.#read.mapAsync(kMapRead, 0, length).catch((error: unknown) => {
      throw this.#device.failure(error)
    })
    const times = new BigUint64Array(this.#read.getMappedRange(0, length).slice(0))
    this.#read.unmap()
    this.#parts.forEach((part, i) => {
      const [begin, end] = [times[2 * i]!, times[2 * i + 1]!]
      // Drivers may give 0, or a clock that was set back.
      if (part.operation !== 'other') this.#add(part, end > begin ? Number(end - begin) / 1e6 : 0)
    })
  }

  #add(part: Part, ms: number): void {
    addRow(this.#rows, { ...part, calls: 1, ms })
  }

  /** The rows since the last call. */
  take(): ProfileRow[] {
    const rows = [...this.#rows.values()]
    this.#rows.clear()
    return rows
  }
}
