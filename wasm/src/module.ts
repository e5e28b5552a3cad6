import { GgufError, messageOf } from './errors.js'
import type { InspectModule } from './inspect.js'

/** Bytes of a file of the package: fetched, or read from disk under Node, which cannot fetch file: addresses. */
async function compile(url: URL): Promise<WebAssembly.Module> {
  if (url.protocol === 'file:') {
    // Not a literal: bundlers for the web must not look for it.
    const fs = 'node:fs/promises'
    const { readFile } = (await import(
      /* webpackIgnore: true */ /* @vite-ignore */ fs
    )) as typeof import('node:fs/promises')
    return WebAssembly.compile(await readFile(url))
  }
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} is answered with status ${response.status}`)
  // A server that does not know .wasm forbids streaming compilation.
  const streams = response.headers.get('content-type')?.startsWith('application/wasm') === true
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer())
}

async function start(wasmUrl: string | URL | undefined): Promise<InspectModule> {
  const url =
    wasmUrl === undefined
      ? new URL('./inspect.wasm', import.meta.url)
      : new URL(wasmUrl, globalThis.location?.href ?? import.meta.url)
  try {
    const [{ default: createInspect }, compiled] = await Promise.all([import('./inspect.js'), compile(url)])
    return await new Promise<InspectModule>((resolve, reject) => {
      const instantiateWasm = (
        imports: WebAssembly.Imports,
        receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
      ): object => {
        WebAssembly.instantiate(compiled, imports).then((instance) => receive(instance, compiled), reject)
        return {}
      }
      createInspect({ instantiateWasm }).then(resolve, reject)
    })
  } catch (error) {
    const hint = `Host it beside the package's files or give its address as the option wasmUrl.`
    throw new GgufError(
      'wasm',
      `The WebAssembly module ${url} could not be started: ${messageOf(error)}. ${hint}`,
      {
        cause: error,
      },
    )
  }
}

let started: Promise<InspectModule> | undefined

/** The one instance of the inspect module, started by the first call. A failed start is tried again by the next. */
export function inspectModule(wasmUrl?: string | URL): Promise<InspectModule> {
  started ??= start(wasmUrl).catch((error: unknown) => {
    started = undefined
    throw error
  })
  return started
}
