// The known formats, which are imported on demand, so that open() stays small.
import { GgufError } from '../api/errors.js'

type KnownFormats = typeof import('./known-formats.js')

let known: KnownFormats | undefined

export async function loadKnownFormats(): Promise<KnownFormats> {
  return (known ??= await import('./known-formats.js'))
}

/** The known formats if they are loaded. */
export const loadedFormats = (): KnownFormats | undefined => known

export function knownFormats(): KnownFormats {
  if (known) return known
  throw new GgufError('not-found', 'The known formats are not loaded: await file.loadTokenizer() first.')
}
