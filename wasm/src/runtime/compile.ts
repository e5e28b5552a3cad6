// Finds, reads, compiles and starts the package's wasm modules.
import type { AssetOptions, AssetTable, WasmName, WasmSource } from '../api/assets.js'
import { GgufError, quoted } from '../api/errors.js'
import { isNode, nodeModule } from './node-module.js'

/** Resolves an address; relative ones are relative to the page. */
export const absolute = (address: string | URL): URL =>
  new URL(address, globalThis.location?.href ?? import.meta.url)

const isAddress = (source: unknown): source is string | URL =>
  typeof source === 'string' || source instanceof URL

/** Appends a slash to a folder's address: "/assets" is a folder, too. */
const inFolder = (folder: string | URL, name: string): URL => {
  const url = absolute(folder)
  url.pathname = url.pathname.replace(/\/?$/, '/')
  return new URL(name, url)
}

/** The caller's module for a file of that name; undefined: it is next to the package's code. */
export function assetFor<Name extends keyof AssetTable>(
  name: Name,
  { assets, wasmUrl }: AssetOptions = {},
): AssetTable[Name] | undefined {
  if (isAddress(assets)) return inFolder(assets, name)
  if (assets?.[name] !== undefined) return assets[name]
  if (name === 'inspect.wasm') return wasmUrl as AssetTable[Name]
  // The engine's files are not expected there.
  return isAddress(wasmUrl) && !name.startsWith('engine') ? new URL(name, absolute(wasmUrl)) : undefined
}

function readFromDisk(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const { readFile } = nodeModule<typeof import('node:fs/promises')>('node:fs/promises')
  return readFile(url)
}

async function answer(url: URL): Promise<Response> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`the server answers with status ${response.status}`)
  // Application servers answer requests for missing files with an HTML page.
  if (response.headers.get('content-type')?.startsWith('text/html')) throw new Error('it is a web page')
  return response
}

const isBytes = (value: unknown): value is BufferSource =>
  value instanceof ArrayBuffer || ArrayBuffer.isView(value)

/** Bytes, or a Response that contains them. Asked for last: Node loads the class Response for 30 ms. */
async function bytesOf(source: WasmSource): Promise<BufferSource | Response> {
  if (isBytes(source)) return source
  if (!isAddress(source)) {
    if (source instanceof Response) return source
    throw new Error('it is no address, Response, bytes or module')
  }
  const url = absolute(source)
  return url.protocol === 'file:' && isNode() ? readFromDisk(url) : answer(url)
}

/** Compiles while the bytes arrive, if the server sends the right content type, which browsers require. */
export async function compile(source: WasmSource | PromiseLike<WasmSource>): Promise<WebAssembly.Module> {
  const from = await source
  // The type alone does not distinguish this class from other objects.
  if ((from as object) instanceof WebAssembly.Module) return from
  const bytes = await bytesOf(from)
  if (isBytes(bytes)) return WebAssembly.compile(bytes)
  const streams = bytes.headers.get('content-type')?.startsWith('application/wasm') === true
  return streams ? WebAssembly.compileStreaming(bytes) : WebAssembly.compile(await bytes.arrayBuffer())
}

/**
 * The module of that name: the given one, or the file next to the package's code. If that address fails, the addresses
 * of `others` are tried.
 */
export async function compileNamed(
  name: WasmName,
  from: WasmSource | PromiseLike<WasmSource> | undefined,
  beside: () => URL,
  others: (url: URL) => Promise<readonly (WasmSource | PromiseLike<WasmSource>)[]> = async () => [],
): Promise<WebAssembly.Module> {
  let url: URL | undefined
  try {
    if (from !== undefined && !isAddress(from)) return await compile(from)
    url = from === undefined ? beside() : absolute(from)
    try {
      return await compile(url)
    } catch (error) {
      for (const other of await others(url)) {
        const found = await compile(other).catch(() => undefined)
        if (found) return found
      }
      throw error
    }
  } catch (error) {
    throw moduleError(name, url, error)
  }
}

export function moduleError(name: WasmName, place: unknown, error: unknown): GgufError {
  const at = isAddress(place) ? String(place) : `${name} that was given`
  return new GgufError(
    'wasm',
    `The WebAssembly module ${at} could not be started: ${quoted(error)}. Say where it is by the option assets.`,
    { cause: error },
  )
}

/** The arguments of Emscripten's glue. */
export interface GlueOptions {
  wasmMemory?: WebAssembly.Memory
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object
}

/** Starts the glue with a compiled module. The glue does not report a failed instantiation, but this promise does. */
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
