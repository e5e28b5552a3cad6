// Chooses the fastest of the engine's modules that works here.
import type { WasmName } from '../api/assets.js'
import { compileNamed, instantiate } from '../runtime/compile.js'
import createPlain from './engine-simd.js'
import createThreaded from './engine-simd-threads.js'
import { kInitialPages, kMaxPages } from './memory-pages.js'
import type { CreateEngine, EngineModule, WasmLoader } from './module.js'
import { fewerThreads, makeThreads, threadCount, type Thread } from './threads.js'
import type { ChooseOptions } from './protocol.js'
import type { Variant } from './types.js'

// i32x4.relaxed_dot_i8x16_i7x16_add_s in the smallest module: is the instruction known?
const kRelaxedProbe = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0,
  253, 15, 65, 0, 253, 15, 253, 147, 2, 11,
])

interface Files {
  readonly name: WasmName
  wasm(): URL
  readonly create: CreateEngine
}

// Addresses are written out: bundlers look for them. The variants' glue is the same (scripts/join-modules.ts compares it),
// and imported at once: a worker's script that loads more cannot be a classic one, which some bundlers make of it.
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

/** The memory reserves address space for its largest size; if there is less, a smaller size is tried. */
function sharedMemory(): WebAssembly.Memory | undefined {
  for (const maximum of kMaxPages) {
    try {
      return new WebAssembly.Memory({ initial: kInitialPages, maximum, shared: true })
    } catch {
      // the next
    }
  }
  return undefined
}

interface Started {
  readonly engine: EngineModule
  readonly module: WebAssembly.Module
  /** shared; none: one thread only */
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
  /** The most threads of the pool, this worker included. */
  readonly threads: number
  /** The numbers of threads to try for one token. A requested number is not tried. */
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
      // Chromium never frees a worker that is terminated while its own workers are ending, and does not
      // report when they have ended.
      if (usable.length > 0) await new Promise((done) => setTimeout(done, kEnding))
    },
  }
}
