// One thread of the engine: an instance of its module over the same memory, which stays in the pool until the engine
// ends. It never calls JavaScript, so the imports only need to exist.
import type { Pointer } from '../runtime/span.js'

/** The only message from the engine's worker. Pointers are addresses in the memory; BigInts if it is 64-bit. */
export interface ThreadStart {
  readonly module: WebAssembly.Module
  readonly memory: WebAssembly.Memory
  readonly stack: Pointer
  readonly stackBytes: number
  readonly worker: Pointer
}

interface ThreadExports {
  _emscripten_wasm_worker_initialize(stack: Pointer, bytes: number): void
  run_thread(worker: Pointer): void
  fail_thread(worker: Pointer): void
}

function importsOf(module: WebAssembly.Module, memory: WebAssembly.Memory): WebAssembly.Imports {
  const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {}
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {}
    imports[from][name] =
      kind === 'memory'
        ? memory
        : () => {
            throw new Error(`A thread called ${name}.`)
          }
  }
  return imports
}

/** port: to the engine's worker. The only answer says that the thread has left the pool. */
export function runThread(port: MessagePort): void {
  port.onmessage = ({ data }: MessageEvent<ThreadStart>) => {
    const { module, memory, stack, stackBytes, worker } = data
    const { exports } = new WebAssembly.Instance(module, importsOf(module, memory))
    const thread = exports as unknown as ThreadExports
    thread._emscripten_wasm_worker_initialize(stack, stackBytes)
    try {
      thread.run_thread(worker)
    } catch (error) {
      thread.fail_thread(worker)
      throw error
    }
    port.postMessage('left')
  }
}
