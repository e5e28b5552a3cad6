// How a wasm module of the package is read, compiled and started, by its address.
import { nodeModule } from './node-module.js'

/** Bytes of a file: address, under Node, which cannot fetch it. */
export async function readFromDisk(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const { readFile } = await nodeModule<typeof import('node:fs/promises')>('node:fs/promises')
  return new Uint8Array(await readFile(url))
}

export async function fetchFile(url: URL): Promise<Response> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} is answered with status ${response.status}`)
  return response
}

/** Compiles while the bytes arrive, where the server names their type: others forbid it. */
export async function compile(url: URL): Promise<WebAssembly.Module> {
  if (url.protocol === 'file:') return WebAssembly.compile(await readFromDisk(url))
  const response = await fetchFile(url)
  const streams = response.headers.get('content-type')?.startsWith('application/wasm') === true
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer())
}

/** What Emscripten's glue is given. */
export interface GlueOptions {
  wasmMemory?: WebAssembly.Memory
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object
}

/** Starts the glue on a compiled module. The glue does not tell of a failed instantiation: this promise does. */
export function instantiate<T>(
  create: (options: GlueOptions) => Promise<T>,
  module: WebAssembly.Module,
  options: Pick<GlueOptions, 'wasmMemory'> = {},
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    create({
      ...options,
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(module, imports).then((instance) => receive(instance, module), reject)
        return {}
      },
    }).then(resolve, reject)
  })
}
