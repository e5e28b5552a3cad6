// The worker's part of lintLoad(): opens headers in the engine and keeps nothing.
import { EngineError } from './engine-error.js'
import type { WasmLoader } from './module.js'
import type { FileHeader } from './protocol.js'
import type { CreatedEngine } from './variants.js'

export interface CheckedHeaders {
  readonly headers: readonly FileHeader[]
  /** The last header is of an mmproj file. */
  readonly withProjector: boolean
}

/**
 * Throws what openModel throws for these headers, and returns why the model, although it loads, continues no text: '' of an
 * encoder, whose architecture or head says so. put passes bytes to an engine; check throws its error.
 */
export function checkHeaders(
  { headers, withProjector }: CheckedHeaders,
  module: CreatedEngine['engine'] | undefined,
  put: (bytes: Uint8Array, engine: WasmLoader) => void,
  check: (good: boolean, engine: WasmLoader) => void,
): string {
  if (!module) throw new EngineError('closed', 'The engine was not started.')
  const speech = headers[0]?.speech
  const engine = speech && module.Speech ? new module.Speech() : new module.Engine()
  try {
    for (const { bytes, fileSize } of headers) {
      put(bytes, engine)
      if ('addHeader' in engine) engine.addHeader(bytes.length, fileSize ?? -1)
      else check(engine.openHeader(bytes.length, fileSize ?? -1, speech === 'legacy', 1), engine)
    }
    if (!('addHeader' in engine)) return ''
    check(engine.open(1, withProjector), engine)
    if (withProjector && headers.length === 1) return ''
    const { encoder, generationRefusal } = engine.facts()
    return encoder ? '' : generationRefusal
  } finally {
    engine.delete()
  }
}
