import type { EditModule } from '../edit.js'
import { GgufError, quoted } from '../api/errors.js'
import createInspect, { type InspectModule } from '../inspect.js'
import { compile, fetchFile, instantiate, readFromDisk, type GlueOptions } from './compile.js'
import type { QuantModule } from '../quant.js'
import createText from '../text.js'
import type { TextModule } from '../text.js'

/** Bytes of a file of the package. */
async function read(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  return url.protocol === 'file:'
    ? await readFromDisk(url)
    : new Uint8Array(await (await fetchFile(url)).arrayBuffer())
}

async function start<T>(
  url: URL,
  glue: Promise<{ default: (options: GlueOptions) => Promise<T> }>,
): Promise<T> {
  try {
    const [{ default: create }, compiled] = await Promise.all([glue, compile(url)])
    return await instantiate(create, compiled)
  } catch (error) {
    throw notStarted(url, error)
  }
}

function notStarted(url: URL, error: unknown): GgufError {
  const hint = `Host it beside the package's files or give its address as the option wasmUrl.`
  return new GgufError(
    'wasm',
    `The WebAssembly module ${url} could not be started: ${quoted(error)}. ${hint}`,
    { cause: error },
  )
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

type Call = (...args: unknown[]) => unknown

/** A class of a module's functions CLASS_METHOD, which take the object's address first. */
function classOf(module: Record<string, Call>, name: string): new (...args: unknown[]) => object {
  class Made {
    readonly address: unknown
    constructor(...args: unknown[]) {
      this.address = module[`${name}_new`]!(...args)
    }
  }
  for (const key of Object.keys(module).filter((one) => one.startsWith(`${name}_`)))
    Object.defineProperty(Made.prototype, key.slice(name.length + 1), {
      value(this: Made, ...args: unknown[]) {
        return module[key]!(this.address, ...args)
      },
    })
  return Made
}

/** The inspect module, started by the first call. */
export const inspectModule = once<InspectModule>(async (wasmUrl) => {
  const module = await start<Record<string, Call>>(
    // Beside this code: scripts/join-modules.ts joins it into wasm/dist/open.js, where the .wasm files are.
    wasmUrl === undefined ? new URL('./inspect.wasm', import.meta.url) : hosted(wasmUrl),
    Promise.resolve({ default: createInspect }),
  )
  return Object.assign(module, { Document: classOf(module, 'Document') }) as unknown as InspectModule
})

let text: TextModule | undefined

const textUrl = (wasmUrl: string | URL | undefined): URL =>
  wasmUrl === undefined ? new URL('./text.wasm', import.meta.url) : new URL('text.wasm', hosted(wasmUrl))

function startText(wasmBinary: Uint8Array<ArrayBuffer>): TextModule {
  const module: Record<string, Call> & { wasmBinary?: unknown } = {}
  // The glue fills the object that it is given before it returns, whether a promise (Emscripten 4 and later) or not.
  Promise.resolve(createText(Object.assign(module, { wasmBinary }))).catch(() => undefined)
  if (!module['TextTokenizer_new']) throw new Error('it cannot be instantiated')
  delete module.wasmBinary
  return (text = Object.assign(module, {
    TextTokenizer: classOf(module, 'TextTokenizer'),
  }) as unknown as TextModule)
}

/** The text module, at once. Where it was not loaded before, the caller waits for it, and so does its page. */
export function textModule(wasmUrl?: string | URL): TextModule {
  if (text) return text
  const url = textUrl(wasmUrl)
  try {
    return startText(readNow(url))
  } catch (error) {
    throw notStarted(url, error)
  }
}

/** The same without making anyone wait. */
export async function loadTextModule(wasmUrl?: string | URL): Promise<TextModule> {
  if (text) return text
  const url = textUrl(wasmUrl)
  try {
    const bytes = await read(url)
    return text ?? startText(bytes)
  } catch (error) {
    throw notStarted(url, error)
  }
}

/** Bytes of a file of the package without a promise. */
function readNow(url: URL): Uint8Array<ArrayBuffer> {
  if (url.protocol === 'file:') {
    const fs = globalThis.process.getBuiltinModule?.('node:fs')
    if (!fs) throw new Error('this version of Node can only await file.loadTokenizer()')
    return new Uint8Array(fs.readFileSync(url))
  }
  const request = new XMLHttpRequest()
  request.open('GET', url, false)
  // Pages may not ask for bytes here, but for text that keeps them.
  request.overrideMimeType('text/plain; charset=x-user-defined')
  request.send()
  if (request.status !== 200) throw new Error(`${url} is answered with status ${request.status}`)
  return Uint8Array.from(request.responseText, (char) => char.charCodeAt(0))
}

/** The quant module. wasmUrl: that of the inspect module; this one is beside it. */
export const quantModule = once<QuantModule>((wasmUrl) =>
  start(
    wasmUrl === undefined ? new URL('./quant.wasm', import.meta.url) : new URL('quant.wasm', hosted(wasmUrl)),
    import('../quant.js'),
  ),
)

/** The edit module. wasmUrl: that of the inspect module; this one is beside it. */
export const editModule = once<EditModule>((wasmUrl) =>
  start(
    wasmUrl === undefined ? new URL('./edit.wasm', import.meta.url) : new URL('edit.wasm', hosted(wasmUrl)),
    import('../edit.js'),
  ),
)
