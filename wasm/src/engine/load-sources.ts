// Where a model's files come from when it is loaded: addresses, stored files, and the projector beside it.
import type { GgufFile } from '../api/file.js'
import type { ByteSource, Source } from '../api/source.js'
import type { OpenFile } from '../file/file.js'
import { isOpened } from '../file/opened.js'
import { kOpenChecks } from '../file/open-checks.js'
import { open } from '../file/open.js'
import { absolute } from '../runtime/compile.js'
import { addressOf } from '../sources/addresses.js'
import { HttpSource } from '../sources/http.js'
import { canPause } from '../sources/http-body.js'
import { kindError } from './companions.js'
import { ContinuedSource } from './continued-source.js'
import type { LoadOptions } from './types.js'

/** Sources that cache addresses while they are read. Undefined: as in open(), nothing is cached if there is no storage. */
async function storedSources(
  from: Source | readonly Source[],
  options: LoadOptions,
): Promise<readonly Source[] | undefined> {
  const { canKeep } = await import('../store/folder.js')
  if (!canKeep()) return undefined
  const { StoredSource } = await import('../store/source.js')
  const all = Array.isArray(from) ? (from as readonly Source[]) : [from as Source]
  const { fetch, headers, retries, timeout, onCache, crossOriginStorage } = options
  return all.map((one) =>
    typeof one === 'string' || one instanceof URL
      ? new StoredSource(one, {
          fetch,
          headers,
          retries,
          timeout,
          onCache,
          crossOriginStorage,
          revalidate: true,
        })
      : one,
  )
}

/**
 * A source for one address. With several files, the requests for headers would delay each other. Where a transfer
 * cannot be paused, the file would arrive in memory while the engine is created.
 */
function continuedSource(from: Source | readonly Source[], options: LoadOptions): ByteSource | undefined {
  const [one, ...others] = Array.isArray(from) ? (from as readonly Source[]) : [from as Source]
  const isAddress = others.length === 0 && canPause() && (typeof one === 'string' || one instanceof URL)
  return isAddress ? new ContinuedSource(new HttpSource(addressOf(one), options)) : undefined
}

/** Fetches the bytes that no tensor needs, so that the stored file is complete. */
export async function completeStoredFile(
  source: ByteSource | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { StoredSource } = await import('../store/source.js')
  if (source instanceof StoredSource) await source.finish({ signal })
}

/** The address of the projector beside a model on a hub. */
async function projectorBeside(
  from: Source | readonly Source[] | GgufFile,
  { signal, fetch, headers }: LoadOptions,
): Promise<string | undefined> {
  const first: unknown = Array.isArray(from) ? from[0] : from
  if (typeof first !== 'string' && !(first instanceof URL)) return undefined
  const { findProjector } = await import('../hub/index.js')
  const token = /^Bearer (.+)$/.exec(new Headers(headers).get('Authorization') ?? '')?.[1]
  const projector = await findProjector(absolute(first).href, { signal, fetch, token })
  return projector?.files[0]?.url
}

/** Opens a model's mmproj file while it is used. */
export async function withProjector<T>(
  model: Source | readonly Source[] | GgufFile,
  options: LoadOptions,
  use: (projector: OpenFile | undefined) => Promise<T>,
): Promise<T> {
  const { projector, signal, fetch, headers, cache } = options
  const from = projector === 'auto' ? await projectorBeside(model, options) : projector
  if (from === undefined) return await use(undefined)
  const ours = !isOpened(from)
  const stored = ours && cache ? await storedSources(from as Source, options) : undefined
  const sources = stored ?? (from as Source)
  const file = (ours ? await open(sources, { signal, fetch, headers, preview: 'full' }) : from) as OpenFile
  try {
    await file.completeHeader({ signal })
    const { mustBeLoadable } = await import('../file/damage.js')
    if (file.container === 'gguf') await mustBeLoadable(file)
    // WavTokenizer's decoder, which makes a voice's sound, is a model of its own.
    const isVoice = file.summary().architecture === 'wavtokenizer-dec'
    const error = isVoice ? undefined : kindError(file, 'projector', 'unsupported')
    if (error) throw error
    const used = await use(file)
    if (ours && cache) await Promise.all(file.parts.map((part) => completeStoredFile(part?.source, signal)))
    return used
  } finally {
    if (ours) file.close()
  }
}

/**
 * The model's file with its complete header. Running a model requires it, because a preview can be wrong. continues: its
 * weights are read next.
 */
export async function openWhole(
  from: Source | readonly Source[] | GgufFile,
  options: LoadOptions,
  continues = true,
): Promise<OpenFile> {
  if (isOpened(from)) {
    const file = from as OpenFile
    await file.completeHeader({ signal: options.signal })
    return file
  }
  const opening = Object.entries(options).filter(
    ([name]) => Object.hasOwn(kOpenChecks, name) && name !== 'onProgress' && name !== 'cache',
  )
  const addresses = from as Source | readonly Source[]
  const stored = options.cache ? await storedSources(addresses, options) : undefined
  const sources = stored ?? (continues ? continuedSource(addresses, options) : undefined) ?? addresses
  return (await open(sources, { ...Object.fromEntries(opening), preview: 'full' })) as OpenFile
}
