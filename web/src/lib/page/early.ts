// The wasm module that the page's own script has requested, see web/early-requests.ts.
import type { OpenOptions } from 'ggufscope'

declare global {
  /** the response, or the address if it failed */
  var earlyModule: Promise<Response | string> | undefined
}

/** Options for the first file that is opened. A response can be read once, and the module is kept. */
export function earlyAssets(): Pick<OpenOptions, 'assets'> {
  const { earlyModule } = globalThis
  globalThis.earlyModule = undefined
  return earlyModule ? { assets: { 'inspect.wasm': earlyModule } } : {}
}
