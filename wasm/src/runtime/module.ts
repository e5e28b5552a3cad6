// Starts WebAssembly modules, and makes classes of their functions.
import type { AssetOptions, WasmName, WasmSource } from '../api/assets.js'
import type { EditModule } from '../edit.js'
import createInspect, { type InspectModule } from '../inspect.js'
import { absolute, compileNamed, assetFor, instantiate, moduleError, type GlueOptions } from './compile.js'
import { isNode, nodeModule } from './node-module.js'
import type { QuantModule } from '../quant.js'
import type { TextModule } from '../text.js'

const others = async (url: URL) => (await import('./elsewhere.js')).otherSources(url)

/** Starts a module with its glue. */
export async function start<T>(
  name: WasmName,
  hosting: AssetOptions | undefined,
  beside: () => URL,
  glue: Promise<{ default: (options: GlueOptions) => Promise<T> }>,
): Promise<T> {
  const [{ default: create }, module] = await Promise.all([
    glue,
    compileNamed(name, assetFor(name, hosting), beside, others),
  ])
  return await instantiate(create, module).catch((error: unknown) => {
    throw moduleError(name, undefined, error)
  })
}

/** Creates one instance for all callers. After a failed start, the next call tries again. */
export function once<T>(
  begin: (hosting: AssetOptions | undefined) => Promise<T>,
): (hosting?: AssetOptions) => Promise<T> {
  let started: Promise<T> | undefined
  return (hosting) =>
    (started ??= begin(hosting).catch((error: unknown) => {
      started = undefined
      throw error
    }))
}

export type Call = (...args: unknown[]) => unknown

/** Builds a class from a module's functions CLASS_METHOD, which take the object's address first. */
export function classOf(module: Record<string, Call>, name: string): new (...args: unknown[]) => object {
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

/** Starts the inspect or the text module. They share the glue of inspect, because every page loads it. */
function startNow(compiled: WebAssembly.Module, file: WasmName, name: string): object {
  const module: Record<string, Call> & Partial<GlueOptions> = {}
  let failure: unknown = new Error('it is another module')
  // The glue fills the object before it returns, whether it returns a promise (Emscripten 4 and later) or not.
  Promise.resolve(
    createInspect(
      Object.assign(module, {
        instantiateWasm(imports: WebAssembly.Imports, receive: (instance: WebAssembly.Instance) => object) {
          try {
            return receive(new WebAssembly.Instance(compiled, imports))
          } catch (error) {
            // The glue would print it.
            failure = error
            return {}
          }
        },
      }),
    ),
  ).catch(() => undefined)
  if (!module[`${name}_new`]) throw moduleError(file, undefined, failure)
  return Object.assign(module, { [name]: classOf(module, name) })
}

/** The inspect module, which the first call starts. */
export const inspectModule = once<InspectModule>(async (hosting) => {
  const compiled = await compileNamed(
    'inspect.wasm',
    assetFor('inspect.wasm', hosting),
    // Relative to this code: scripts/join-modules.ts joins it into wasm/dist/open.js, and the .wasm files are there.
    () => new URL('./inspect.wasm', import.meta.url),
    others,
  )
  return startNow(compiled, 'inspect.wasm', 'Document') as InspectModule
})

let text: TextModule | undefined

const besideText = (): URL => new URL('./text.wasm', import.meta.url)
const startText = (compiled: WebAssembly.Module): TextModule =>
  (text = startNow(compiled, 'text.wasm', 'TextTokenizer') as TextModule)

/** The text module, synchronously. If it is not loaded yet, the call blocks the page. */
export function textModule(hosting?: AssetOptions): TextModule {
  if (text) return text
  const from = assetFor('text.wasm', hosting) ?? besideText()
  let compiled: WebAssembly.Module
  try {
    compiled = compileNow(from)
  } catch (error) {
    throw moduleError('text.wasm', from, error)
  }
  return startText(compiled)
}

/** The same without blocking. */
export async function loadTextModule(hosting?: AssetOptions): Promise<TextModule> {
  if (text) return text
  const module = await compileNamed('text.wasm', assetFor('text.wasm', hosting), besideText, others)
  return text ?? startText(module)
}

/** Compiles synchronously. */
function compileNow(source: WasmSource | PromiseLike<WasmSource>): WebAssembly.Module {
  if (source instanceof WebAssembly.Module) return source
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
    return new WebAssembly.Module(source as BufferSource)
  if (typeof source !== 'string' && !(source instanceof URL))
    throw new Error('await file.loadTokenizer() first')
  return new WebAssembly.Module(readNow(absolute(source)))
}

/** Reads a file of the package synchronously. */
function readNow(url: URL): Uint8Array<ArrayBuffer> {
  if (isNode() && url.protocol === 'file:')
    return nodeModule<typeof import('node:fs')>('node:fs').readFileSync(url)
  if (typeof XMLHttpRequest === 'undefined') throw new Error('await file.loadTokenizer() first')
  const request = new XMLHttpRequest()
  request.open('GET', url, false)
  // Pages cannot request bytes synchronously, but they can request text in an encoding that preserves the bytes.
  request.overrideMimeType('text/plain; charset=x-user-defined')
  request.send()
  if (request.status !== 200) throw new Error(`the server answers with status ${request.status}`)
  return Uint8Array.from(request.responseText, (char) => char.charCodeAt(0))
}

/** The quant module. */
export const quantModule = once<QuantModule>((hosting) =>
  start('quant.wasm', hosting, () => new URL('./quant.wasm', import.meta.url), import('../quant.js')),
)

/** The edit module. */
export const editModule = once<EditModule>((hosting) =>
  start('edit.wasm', hosting, () => new URL('./edit.wasm', import.meta.url), import('../edit.js')),
)
