// Chooses the fastest engine module that works here.
import type { WasmName } from '../api/assets.js'
import { compileNamed, instantiate } from '../runtime/compile.js'
import createMemory64 from './engine-memory64.js'
import createPlain from './engine-simd.js'
import createThreaded from './engine-simd-threads.js'
import { EngineError } from './engine-error.js'
import { hasRelaxed, whyNoMemory64 } from './memory64.js'
import { kInitialPages, kMaxPages, kMaxPages64 } from './memory-pages.js'
import type { CreateEngine, EngineModule, WasmLoader } from './module.js'
import type { ThreadStart } from './thread.js'
import { fewerThreads, threadCount } from './threads.js'
import type { EngineOptions } from './protocol.js'
import type { Variant } from './types.js'

interface Files {
  readonly name: WasmName
  wasm(): URL
  readonly create: CreateEngine
}

// Addresses are literals, because bundlers look for them. They are returned by methods, because the file tracing of
// Next with webpack skips those in arrow functions without parameters. simd and relaxed have the same glue
// (scripts/join-modules.ts compares it). Glue is imported statically: a worker's script with dynamic imports cannot be a
// classic script, which some bundlers produce.
const kPlain: Readonly<Record<Exclude<Variant, 'memory64'>, Files>> = {
  simd: {
    name: 'engine-simd.wasm',
    wasm() {
      return new URL('./engine-simd.wasm', import.meta.url)
    },
    create: createPlain,
  },
  relaxed: {
    name: 'engine-relaxed.wasm',
    wasm() {
      return new URL('./engine-relaxed.wasm', import.meta.url)
    },
    create: createPlain,
  },
}
const kThreaded: typeof kPlain = {
  simd: {
    name: 'engine-simd-threads.wasm',
    wasm() {
      return new URL('./engine-simd-threads.wasm', import.meta.url)
    },
    create: createThreaded,
  },
  relaxed: {
    name: 'engine-relaxed-threads.wasm',
    wasm() {
      return new URL('./engine-relaxed-threads.wasm', import.meta.url)
    },
    create: createThreaded,
  },
}

/** Its memory is shared, with or without threads. */
const kMemory64: Files = {
  name: 'engine-memory64.wasm',
  wasm() {
    return new URL('./engine-memory64.wasm', import.meta.url)
  },
  create: createMemory64,
}

/** The limits of a memory with 64-bit addresses, which TypeScript does not declare. */
const limits64 = (initial: number, maximum: number): WebAssembly.MemoryDescriptor =>
  ({
    address: 'i64',
    initial: BigInt(initial),
    maximum: BigInt(maximum),
  }) as object as WebAssembly.MemoryDescriptor

/** Reserving the memory needs address space for its maximum size. If there is less, a smaller maximum is tried. */
function sharedMemory(is64: boolean): WebAssembly.Memory | undefined {
  for (const maximum of is64 ? kMaxPages64 : kMaxPages) {
    const limits = is64 ? limits64(kInitialPages, maximum) : { initial: kInitialPages, maximum }
    try {
      return new WebAssembly.Memory({ ...limits, shared: true })
    } catch {
      // try the next size
    }
  }
  return undefined
}

interface CreatedVariant {
  readonly engine: EngineModule
  readonly module: WebAssembly.Module
  /** shared memory; undefined: one thread only */
  readonly memory: WebAssembly.Memory | undefined
}

async function createVariant(
  variant: Variant,
  threaded: boolean,
  assets: EngineOptions['assets'],
): Promise<CreatedVariant> {
  const is64 = variant === 'memory64'
  const memory = threaded || is64 ? sharedMemory(is64) : undefined
  if (is64 && !memory) throw new EngineError('out-of-memory', 'There is no address space for 64-bit memory.')
  const { name, wasm, create } = is64 ? kMemory64 : (memory ? kThreaded : kPlain)[variant]
  const module = await compileNamed(name, assets?.[name], wasm)
  const engine = await instantiate(create, module, memory ? { wasmMemory: memory } : {})
  return { engine, module, memory }
}

async function createMemory64Engine(
  threaded: boolean,
  assets: EngineOptions['assets'],
): Promise<CreatedVariant> {
  const missing = whyNoMemory64()
  if (missing) throw new EngineError('unsupported', missing)
  const started = await createVariant('memory64', threaded, assets)
  if (!started.engine.selfTest(1))
    throw new EngineError(
      'unsupported',
      'The variant with 64-bit memory needs relaxed SIMD, which computes wrong results here.',
    )
  return started
}

async function createFastest(
  wished: Variant | undefined,
  threaded: boolean,
  assets: EngineOptions['assets'],
): Promise<CreatedVariant & { variant: Variant; reason: string }> {
  if (wished === 'memory64') {
    const reason = '64-bit memory was requested, or the model needs more than 4 GiB.'
    return { ...(await createMemory64Engine(threaded, assets)), variant: wished, reason }
  }
  let reason = wished === 'simd' ? 'Requested.' : 'This engine has no relaxed SIMD.'
  if (wished !== 'simd' && hasRelaxed()) {
    const relaxed = await createVariant('relaxed', threaded, assets)
    if (relaxed.engine.selfTest(1))
      return { ...relaxed, variant: 'relaxed', reason: 'Relaxed SIMD is supported and computes correctly.' }
    reason = 'Relaxed SIMD computes wrong results here.'
  }
  return { ...(await createVariant('simd', threaded, assets)), variant: 'simd', reason }
}

function whyFewer(wished: number, count: number, memory: WebAssembly.Memory | undefined): string {
  if (count >= wished) return ''
  if (!memory) return 'There is no address space for shared memory, so there are no threads.'
  return `Of ${wished} threads ${count} could be started.`
}

export interface CreatedEngine {
  readonly engine: EngineModule
  readonly variant: Variant
  readonly reason: string
  /** Maximum number of the pool's threads, including this worker. */
  readonly threads: number
  /** The numbers of threads to try for one token. If the caller requested a number, only that. */
  readonly threadChoices: readonly number[]
  /** Starts the threads of an opened engine's pool. */
  startThreads(opened: WasmLoader): void
  /** Resolves when the threads have left the pool, after it has ended. */
  threadsEnded(): Promise<unknown>
}

/** The fastest variant that works here, and why. */
export async function createBestEngine(
  { assets, isolated, threads: wished, variant: only }: EngineOptions,
  startWorkers: (count: number) => Promise<readonly MessagePort[]>,
): Promise<CreatedEngine> {
  const { count, reason: alone } = threadCount(wished, isolated)
  const [threadPorts, { engine, module, memory, variant, reason }] = await Promise.all([
    count > 1 ? startWorkers(count - 1) : [],
    createFastest(only, count > 1, assets),
  ])
  const usable = memory ? threadPorts : []
  const ended: Promise<unknown>[] = []
  // As a thread's exports take them.
  const pointerOf = variant === 'memory64' ? BigInt : Number
  return {
    engine,
    variant,
    reason: [reason, alone ?? whyFewer(count, usable.length + 1, memory)].filter(Boolean).join(' '),
    threads: usable.length + 1,
    threadChoices: wished === undefined ? fewerThreads(usable.length + 1) : [usable.length + 1],
    startThreads(opened) {
      usable.forEach((thread, i) => {
        const [stack, stackBytes] = engine.Engine.stack()
        if (!memory || stackBytes === 0) return
        const worker = pointerOf(opened.worker(i + 1))
        ended.push(new Promise((resolve) => (thread.onmessage = resolve)))
        const start: ThreadStart = { module, memory, stack: pointerOf(stack), stackBytes, worker }
        thread.postMessage(start)
      })
    },
    threadsEnded: () => Promise.all(ended),
  }
}
