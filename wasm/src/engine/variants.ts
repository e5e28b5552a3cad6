// Chooses the fastest engine module that works here.
import type { WasmName } from '../api/assets.js'
import { compileNamed, instantiate } from '../runtime/compile.js'
import createPlain from './engine-simd.js'
import createThreaded from './engine-simd-threads.js'
import { kInitialPages, kMaxPages } from './memory-pages.js'
import type { CreateEngine, EngineModule, WasmLoader } from './module.js'
import { fewerThreads, makeThreads, threadCount, type Thread } from './threads.js'
import type { ChooseOptions } from './protocol.js'
import type { Variant } from './types.js'

// A minimal module with i32x4.relaxed_dot_i8x16_i7x16_add_s, to test whether the instruction is supported.
const kRelaxedProbe = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0,
  253, 15, 65, 0, 253, 15, 253, 147, 2, 11,
])

interface Files {
  readonly name: WasmName
  wasm(): URL
  readonly create: CreateEngine
}

// Addresses are literals, because bundlers look for them. All variants have the same glue (scripts/join-modules.ts
// compares it), which is imported statically: a worker's script with dynamic imports cannot be a classic script,
// which some bundlers produce.
const kPlain: Readonly<Record<Variant, Files>> = {
  simd: {
    name: 'engine-simd.wasm',
    wasm: () => new URL('./engine-simd.wasm', import.meta.url),
    create: createPlain,
  },
  relaxed: {
    name: 'engine-relaxed.wasm',
    wasm: () => new URL('./engine-relaxed.wasm', import.meta.url),
    create: createPlain,
  },
}
const kThreaded: typeof kPlain = {
  simd: {
    name: 'engine-simd-threads.wasm',
    wasm: () => new URL('./engine-simd-threads.wasm', import.meta.url),
    create: createThreaded,
  },
  relaxed: {
    name: 'engine-relaxed-threads.wasm',
    wasm: () => new URL('./engine-relaxed-threads.wasm', import.meta.url),
    create: createThreaded,
  },
}

/** Reserving the memory needs address space for its maximum size. If there is less, a smaller maximum is tried. */
function sharedMemory(): WebAssembly.Memory | undefined {
  for (const maximum of kMaxPages) {
    try {
      return new WebAssembly.Memory({ initial: kInitialPages, maximum, shared: true })
    } catch {
      // try the next size
    }
  }
  return undefined
}

interface Started {
  readonly engine: EngineModule
  readonly module: WebAssembly.Module
  /** shared memory; undefined: one thread only */
  readonly memory: WebAssembly.Memory | undefined
}

async function start(variant: Variant, threaded: boolean, assets: ChooseOptions['assets']): Promise<Started> {
  const memory = threaded ? sharedMemory() : undefined
  const { name, wasm, create } = (memory ? kThreaded : kPlain)[variant]
  const module = await compileNamed(name, assets?.[name], wasm)
  const engine = await instantiate(create, module, memory ? { wasmMemory: memory } : {})
  return { engine, module, memory }
}

async function fastest(
  wished: Variant | undefined,
  threaded: boolean,
  assets: ChooseOptions['assets'],
): Promise<Started & { variant: Variant; reason: string }> {
  let reason = wished === 'simd' ? 'Requested.' : 'This engine has no relaxed SIMD.'
  if (wished !== 'simd' && WebAssembly.validate(kRelaxedProbe)) {
    const relaxed = await start('relaxed', threaded, assets)
    if (relaxed.engine.selfTest(1))
      return { ...relaxed, variant: 'relaxed', reason: 'Relaxed SIMD is supported and computes correctly.' }
    reason = 'Relaxed SIMD computes wrong results here.'
  }
  return { ...(await start('simd', threaded, assets)), variant: 'simd', reason }
}

function whyFewer(wished: number, count: number, memory: WebAssembly.Memory | undefined): string {
  if (count >= wished) return ''
  if (!memory) return 'There is no address space for shared memory, so there are no threads.'
  return `Of ${wished} threads ${count} could be started.`
}

const kEnding = 200

export interface Chosen {
  readonly engine: EngineModule
  readonly variant: Variant
  readonly reason: string
  /** Maximum number of the pool's threads, including this worker. */
  readonly threads: number
  /** The numbers of threads to try for one token. If the caller requested a number, only that. */
  readonly threadChoices: readonly number[]
  /** Starts the threads of an opened engine's pool. */
  startThreads(opened: WasmLoader): void
  /** Ends the threads after the pool has ended, or if it never existed. */
  endThreads(): Promise<void>
}

/** The fastest variant that works here, and why. */
export async function choose({
  assets,
  isolated,
  threads: wished,
  variant: only,
}: ChooseOptions): Promise<Chosen> {
  const { count, reason: alone } = threadCount(wished, isolated)
  const [threads, { engine, module, memory, variant, reason }] = await Promise.all([
    makeThreads(count - 1),
    fastest(only, count > 1, assets),
  ])
  const usable = memory ? threads : []
  if (!memory) for (const thread of threads) thread.end()
  const started: Thread[] = []
  return {
    engine,
    variant,
    reason: [reason, alone ?? whyFewer(count, usable.length + 1, memory)].filter(Boolean).join(' '),
    threads: usable.length + 1,
    threadChoices: wished === undefined ? fewerThreads(usable.length + 1) : [usable.length + 1],
    startThreads(opened) {
      usable.forEach((thread, i) => {
        const [stack, stackBytes] = engine.Engine.stack!()
        if (!memory || stackBytes === 0) return thread.end()
        thread.start({ module, memory, stack, stackBytes, worker: opened.worker!(i + 1) })
        started.push(thread)
      })
    },
    async endThreads() {
      await Promise.all(started.map(({ left }) => left))
      for (const thread of usable) thread.end()
      // Chromium never frees a worker that is terminated while its own workers are ending, and does not report when
      // they have ended.
      if (usable.length > 0) await new Promise((done) => setTimeout(done, kEnding))
    },
  }
}
