// Which sources are paths, under Node.
import { fileURLToPath } from 'node:url'
import type { Source } from '../api/source.js'
import { kShort } from './addresses.js'
import { NodeFileSource } from './node-file.js'

/**
 * Converts paths and file: addresses to sources and leaves other values unchanged, also addresses that begin with a hub's
 * name. A scheme has at least two letters, so "C:\x" is a path.
 */
export function withPaths(source: Source): Source {
  if (source instanceof URL)
    return source.protocol === 'file:' ? new NodeFileSource(fileURLToPath(source)) : source
  if (typeof source !== 'string' || /^(https?|blob|data|hf):/i.test(source) || kShort.test(source))
    return source
  return new NodeFileSource(/^file:/i.test(source) ? fileURLToPath(source) : source)
}

/** withPaths() of one source or of several. */
export const allWithPaths = (source: Source | readonly Source[]): Source | readonly Source[] =>
  Array.isArray(source) ? (source as readonly Source[]).map(withPaths) : withPaths(source as Source)
