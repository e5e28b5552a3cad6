import type { EditModule } from './edit.js'
import { GgufError, messageOf } from './errors.js'
import type { InspectModule } from './inspect.js'
import type { QuantModule } from './quant.js'

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

interface GlueOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object
}

async function start<T>(
  url: URL,
  glue: Promise<{ default: (options: GlueOptions) => Promise<T> }>,
): Promise<T> {
  try {
    const [{ default: create }, compiled] = await Promise.all([glue, compile(url)])
    return await new Promise<T>((resolve, reject) => {
      const instantiateWasm = (
        imports: WebAssembly.Imports,
        receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
      ): object => {
        WebAssembly.instantiate(compiled, imports).then((instance) => receive(instance, compiled), reject)
        return {}
      }
      create({ instantiateWasm }).then(resolve, reject)
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

/** One instance for all callers. A failed start is tried again by the next. */
function once<T>(
  begin: (wasmUrl: string | URL | undefined) => Promise<T>,
): (wasmUrl?: string | URL) => Promise<T> {
  let started: Promise<T> | undefined
  return (wasmUrl) =>
    (started ??= begin(wasmUrl).catch((error: unknown) => {
      started = undefined
      throw error
    }))
}

const hosted = (wasmUrl: string | URL): URL => new URL(wasmUrl, globalThis.location?.href ?? import.meta.url)

/** The inspect module, started by the first call. */
export const inspectModule = once<InspectModule>((wasmUrl) =>
  start(
    wasmUrl === undefined ? new URL('./inspect.wasm', import.meta.url) : hosted(wasmUrl),
    import('./inspect.js'),
  ),
)

/** The quant module. wasmUrl: that of the inspect module; this one is beside it. */
export const quantModule = once<QuantModule>((wasmUrl) =>
  start(
    wasmUrl === undefined ? new URL('./quant.wasm', import.meta.url) : new URL('quant.wasm', hosted(wasmUrl)),
    import('./quant.js'),
  ),
)

/** The edit module. wasmUrl: that of the inspect module; this one is beside it. */
export const editModule = once<EditModule>((wasmUrl) =>
  start(
    wasmUrl === undefined ? new URL('./edit.wasm', import.meta.url) : new URL('edit.wasm', hosted(wasmUrl)),
    import('./edit.js'),
  ),
)
