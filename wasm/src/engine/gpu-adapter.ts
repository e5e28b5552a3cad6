// Which adapter of WebGPU a model may run on. The page asks before it starts a worker, and the worker asks again.
import { quoted } from '../api/errors.js'
import { isNode } from '../runtime/node-module.js'
import { EngineError } from './engine-error.js'

const noDevice = (message: string): EngineError => new EngineError('no-device', message)

/** Whether software stands in for a card. Chrome before 138 says so in another place. */
export const isFallback = (adapter: GPUAdapter): boolean =>
  adapter.info.isFallbackAdapter ?? (adapter as { isFallbackAdapter?: boolean }).isFallbackAdapter ?? false

/** Errors: 'no-device' without an adapter, or if only software answers and is not allowed. */
export async function usableAdapter(gpu: GPU | undefined, allowFallback: boolean): Promise<GPUAdapter> {
  if (!gpu)
    throw noDevice(
      isNode()
        ? 'Node has no WebGPU: install the package webgpu.'
        : 'There is no WebGPU here: the browser lacks it, or has switched it off, or the page does not come by https.',
    )
  // Firefox rejects where it has switched WebGPU off for a card or a driver.
  const adapter = await gpu
    .requestAdapter({ powerPreference: 'high-performance' })
    .catch((error: unknown) => {
      throw noDevice(`WebGPU does not work here: ${quoted(error)}`)
    })
  if (!adapter) throw noDevice('No graphics card answers WebGPU here.')
  if (!isFallback(adapter) || allowFallback) return adapter
  const name = [adapter.info.vendor, adapter.info.architecture].filter(Boolean).join(' ')
  throw noDevice(`Only software answers WebGPU here (${name}), no graphics card.`)
}
