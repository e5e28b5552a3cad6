import { GgufError } from './errors.js'
import type { GgufFile, OpenOptions, Source } from './types.js'

/** Opens a GGUF file: resolves when its header is whole. Everything else is read when it is asked for. */
export async function open(source: Source | readonly Source[], options: OpenOptions = {}): Promise<GgufFile> {
  options.signal?.throwIfAborted()
  throw new GgufError('unsupported', `cannot open ${String(source)} before the parser is there`)
}
