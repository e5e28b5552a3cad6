// The engine's worker for graphics cards, with a WebGPU whose calls are counted and can fail. The variable GPU_WORKER says
// how: script=ADDRESS of engine-gpu-worker.js &lose=N: the device is lost at the N-th read-back &loseAt=N: at the N-th
// call of any kind &refuse=adapter, limits or buffers &room=BYTES: so many have room
// &worker=NAME: for questions to one of several workers
import { createRequire } from 'node:module'
import { threadId } from 'node:worker_threads'

const parameters = new URLSearchParams(process.env['GPU_WORKER'])

type Method = (this: unknown, ...args: unknown[]) => unknown
interface WebGpu {
  create(options: string[]): GPU
  globals: Record<string, { prototype: Record<string, Method> }>
}
const { create, globals } = createRequire(import.meta.url)('webgpu') as WebGpu
Object.assign(globalThis, globals)
Object.defineProperty(globalThis.navigator, 'gpu', { value: create([]) })

/** Calls since the worker began, and a copy of them at each read-back. */
export interface Counted {
  calls: Record<string, number>
  all: number
  readBytes: number
  /** shaders whose source another one had before */
  repeated: number
  /** of buffers that were created and not destroyed */
  bufferBytes: number
}
/** The device is lost so many read-backs later, or so many calls of any kind, or that call throws. */
export interface Question {
  /** only the worker with this parameter answers; default: every one */
  readonly worker?: string
  readonly loseAfter?: number
  readonly afterCalls?: number
  readonly throws?: boolean
  /** so many bytes of buffers have room from now on */
  readonly room?: number
  /** the read-back after so many more waits until a question has 0 here */
  readonly hold?: number
}
/** What the test is answered: the counts at each read-back, and those of now. */
export interface Counts {
  reads: Counted[]
  now: Counted
}
/** A device is about to be opened in this worker, or to be closed. */
export interface DeviceEvent {
  readonly opens?: number
  readonly closes?: number
}
function say(channel: string, message: DeviceEvent | number): void {
  const to = new BroadcastChannel(channel)
  to.postMessage(message)
  to.close()
}

const now: Counted = { calls: {}, all: 0, readBytes: 0, repeated: 0, bufferBytes: 0 }
const sources = new Set<string>()
const atReads: Counted[] = []

let device: GPUDevice | undefined
/** The call of any kind at which the device is lost, or that throws. */
let moment = { at: Number(parameters.get('loseAt')), throws: false }
const kMethods: Record<string, string[]> = {
  GPUDevice: ['createBuffer', 'createBindGroup', 'createComputePipelineAsync', 'createShaderModule'],
  GPUQueue: ['writeBuffer', 'submit'],
  GPUCommandEncoder: ['beginComputePass'],
  GPUComputePassEncoder: ['dispatchWorkgroups'],
  GPUBuffer: ['mapAsync', 'destroy'],
}
for (const [name, methods] of Object.entries(kMethods))
  for (const method of methods) {
    const { prototype } = globals[name]!
    const real = prototype[method]!
    prototype[method] = function (...args) {
      now.calls[method] = (now.calls[method] ?? 0) + 1
      if (++now.all === moment.at) {
        if (moment.throws) throw new Error('a fault of the driver')
        device!.destroy()
      }
      const made = real.apply(this, args)
      if (method === 'createShaderModule') {
        const { code } = args[0] as GPUShaderModuleDescriptor
        if (sources.has(code)) now.repeated++
        sources.add(code)
      }
      if (method === 'createBuffer') now.bufferBytes += (made as GPUBuffer).size
      if (method === 'destroy') now.bufferBytes -= (this as GPUBuffer).size
      return made
    }
  }

if (parameters.get('refuse') === 'adapter')
  globals['GPU']!.prototype['requestAdapter'] = () => Promise.reject(new Error('blocked for this driver'))
const { prototype: adapter } = globals['GPUAdapter']!
const requestDevice = adapter['requestDevice']!
adapter['requestDevice'] = async function (...args) {
  if (parameters.get('refuse') === 'limits') throw new Error('limits are denied')
  say('devices', { opens: threadId })
  device = (await requestDevice.apply(this, args)) as GPUDevice
  return device
}

const { prototype: devices } = globals['GPUDevice']!
const createBuffer = devices['createBuffer']!
let room = parameters.get('refuse') === 'buffers' ? 0 : Number(parameters.get('room') ?? Infinity)
devices['createBuffer'] = function (descriptor) {
  const wanted = descriptor as GPUBufferDescriptor
  const size = now.bufferBytes + wanted.size > room ? 2 ** 46 : wanted.size
  return createBuffer.call(this, { ...wanted, size })
}

// Says at the end of a device how many bytes of buffers it had.
const destroy = devices['destroy']!
devices['destroy'] = function (...args) {
  say('destroyed', now.bufferBytes)
  say('devices', { closes: threadId })
  return destroy.apply(this, args)
}

const { prototype: buffers } = globals['GPUBuffer']!
const mapAsync = buffers['mapAsync']!
let lose = Number(parameters.get('lose'))
let hold = -1
let release = (): void => {}
const held = new Promise<void>((resolve) => (release = resolve))
buffers['mapAsync'] = function (...args) {
  now.readBytes += args[2] as number
  const mapped = mapAsync.apply(this, args)
  const read = atReads.length === hold ? held.then(() => mapped) : mapped
  atReads.push({ ...now, calls: { ...now.calls } })
  if (atReads.length === lose) device!.destroy()
  return read
}

// The test asks for the counts, or says when the device is lost, too. The channel does not keep the
// worker alive.
const channel = new BroadcastChannel('counts')
channel.onmessage = ({ data }: MessageEvent<Question>) => {
  if (data.worker !== undefined && data.worker !== parameters.get('worker')) return
  if (data.loseAfter !== undefined) lose = atReads.length + data.loseAfter
  if (data.hold === 0) release()
  else if (data.hold !== undefined) hold = atReads.length + data.hold
  if (data.room !== undefined) room = data.room
  if (data.afterCalls !== undefined) moment = { at: now.all + data.afterCalls, throws: data.throws === true }
  channel.postMessage({ reads: atReads, now } satisfies Counts)
}
;(channel as unknown as { unref(): void }).unref()

await import(parameters.get('script')!)
