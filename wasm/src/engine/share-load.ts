// load() with the option share: opens the file in this tab, and meets the other tabs.
import { GgufError, messageOf } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { Source } from '../api/source.js'
import type { OpenFile } from '../file/file.js'
import { absolute } from '../runtime/compile.js'
import { isNode } from '../runtime/node-module.js'
import { loadEngine } from './load-engine.js'
import { openWhole } from './load-sources.js'
import { modelOf } from './model-of.js'
import { sharedName } from './share-messages.js'
import { SharedEngine } from './share-tab.js'
import type { LoadedModel, LoadOptions } from './types.js'

// As many conversations stay in the KV cache.
const kForks = 3

function checkTabs(): void {
  const { locks } = (globalThis.navigator ?? {}) as Partial<Navigator>
  if (isNode() || !locks || typeof BroadcastChannel !== 'function')
    throw new GgufError(
      'unsupported',
      'An engine can be shared only by the tabs of a browser that has Web Locks (navigator.locks), on https:// or localhost.',
    )
}

/** The addresses of a source, each as an absolute text. */
function addressesOf(from: unknown, name: string): string[] {
  return (Array.isArray(from) ? (from as unknown[]) : [from]).map((one) => {
    if (typeof one === 'string' || one instanceof URL) return absolute(one).href
    throw new GgufError('invalid-argument', `With share, ${name} must be an address.`)
  })
}

/** A text that is the same for tabs that can use one engine. */
async function describe(file: OpenFile, from: unknown, options: LoadOptions): Promise<string> {
  const headers = await Promise.all(
    file.parts.map(async (part) => {
      const digest = await crypto.subtle.digest('SHA-256', part!.header.bytes())
      return [part!.source.size, [...new Uint8Array(digest)]]
    }),
  )
  const { contextLength, threads, device, allowFallbackAdapter, variant, precision } = options
  const { draft, projector } = options
  const { cacheType, cacheTypeK, cacheTypeV, sparseAttention, maxForks, memoryLimit } = options
  const sizes = { contextLength, threads, maxForks, memoryLimit }
  const kinds = { device, allowFallbackAdapter, variant, precision, sparseAttention }
  const caches = { cacheType, cacheTypeK, cacheTypeV }
  return JSON.stringify([
    addressesOf(from, 'the source'),
    draft === undefined ? [] : addressesOf(draft, 'the option draft'),
    projector === undefined || projector === 'auto'
      ? projector
      : addressesOf(projector, 'the option projector'),
    headers,
    { ...sizes, ...kinds, ...caches },
  ])
}

export async function loadShared(
  from: Source | readonly Source[] | GgufFile,
  options: LoadOptions,
): Promise<LoadedModel> {
  checkTabs()
  addressesOf(from, 'the source')
  const { signal, onProgress, onDevice } = options
  const cached: LoadOptions = { ...options, cache: true, maxForks: options.maxForks ?? kForks }
  const file = await openWhole(from, cached, false)
  try {
    const name = await sharedName(await describe(file, from, options))
    // Adapters belong to a tab's sequences.
    const forTabs: LoadOptions = { ...cached, onCache: undefined, adapters: undefined }
    const joined = SharedEngine.join(
      name,
      (each) => loadEngine(from, { ...forTabs, ...each }, (one) => one),
      {
        signal,
        onProgress,
        onDevice,
      },
    )
    const { engine, facts } = await joined
    const model = modelOf({ file, engine, facts }, true)
    try {
      const { adapters = [] } = options
      if ('setAdapters' in model) await model.setAdapters(adapters, { signal })
      else if (adapters.length > 0)
        throw new GgufError('unsupported', 'A Whisper model does not take adapters.')
    } catch (error) {
      model.close()
      throw error
    }
    return model
  } catch (error) {
    file.close()
    if ((error as Error).name === 'SecurityError')
      throw new GgufError('unsupported', `This page may not share an engine: ${messageOf(error)}`, {
        cause: error,
      })
    throw error
  }
}
