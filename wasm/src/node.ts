// The entry ggufscope/node: everything, and functions that also take paths.
import { fileURLToPath } from 'node:url'
import { load as loadAnywhere, type LoadedModel, type LoadOptions, type Model } from './engine/index.js'
import { open as openAnywhere, paths } from './file/open.js'
import { isOpened } from './file/opened.js'
import { kShort } from './sources/addresses.js'
import { NodeFileSource } from './sources/node-file.js'
import type { WriteFileOptions } from './edit/write-file.js'
import type { WrittenFile } from './api/edit.js'
import type { GgufFile, OpenOptions } from './api/file.js'
import type { Source } from './api/source.js'

export * from './index.js'
export * from './audit/index.js'
export * from './edit/index.js'
export * from './engine/index.js'
export * from './store/index.js'
// These two entries have their own versions here.
export { GgufBuilder } from './edit/index.js'
export type { StreamOptions } from './api/source.js'
export { NodeFileSource } from './sources/node-file.js'
export type { WriteFileOptions } from './edit/write-file.js'

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

const allWithPaths = (source: Source | readonly Source[]): Source | readonly Source[] =>
  Array.isArray(source) ? (source as readonly Source[]).map(withPaths) : withPaths(source as Source)

/** open() of "ggufscope" that also accepts paths: a string without http(s):, hf:, blob: or data: is a path. */
export function open(source: Source | readonly Source[], options: OpenOptions = {}): Promise<GgufFile> {
  return openAnywhere(allWithPaths(source), options)
}

/** 'auto' is no path. */
const projectorSource = (projector: LoadOptions['projector']): LoadOptions['projector'] =>
  projector === undefined || projector === 'auto' || isOpened(projector)
    ? projector
    : withPaths(projector as Source)

/**
 * load() of "ggufscope/engine" that also accepts paths, like open(). Adapters that are set later may be paths, too.
 */
export async function load<Loaded extends LoadedModel = Model>(
  source: Source | readonly Source[] | GgufFile,
  options: LoadOptions = {},
): Promise<Loaded> {
  // What is no object of options is refused there.
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return await loadAnywhere<Loaded>(source, options)
  paths.resolve = withPaths
  const draft =
    options.draft === undefined || isOpened(options.draft)
      ? options.draft
      : allWithPaths(options.draft as Source | readonly Source[])
  const from = isOpened(source) ? source : allWithPaths(source as Source | readonly Source[])
  const { localProjector } = await import('./sources/node-projector.js')
  return await loadAnywhere<Loaded>(from, {
    ...options,
    draft,
    projector: await localProjector(from, projectorSource(options.projector)),
  })
}

/** Writes the result of a GgufBuilder to disk, completely or not at all. */
export async function writeFile(
  path: string,
  file: WrittenFile,
  options: WriteFileOptions = {},
): Promise<void> {
  const { writeFile } = await import('./edit/write-file.js')
  await writeFile(path, file, options)
}
