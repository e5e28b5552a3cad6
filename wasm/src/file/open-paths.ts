// open() that also takes paths, under Node. The command line loads this, not the whole of ggufscope/node.
import type { GgufFile, OpenOptions } from '../api/file.js'
import type { Source } from '../api/source.js'
import { allWithPaths } from '../sources/node-paths.js'
import { open as openAnywhere } from './open.js'

/** open() of "ggufscope" that also accepts paths: a string without http(s):, hf:, blob: or data: is a path. */
export function open(source: Source | readonly Source[], options: OpenOptions = {}): Promise<GgufFile> {
  return openAnywhere(allWithPaths(source), options)
}
