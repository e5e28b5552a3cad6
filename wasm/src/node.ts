// The entry ggufscope/node: everything, and functions that also take paths.
import { load as loadAnywhere, type LoadedModel, type LoadOptions, type Model } from './engine/index.js'
import { paths } from './file/open.js'
import { isOpened } from './file/opened.js'
import { allWithPaths, withPaths } from './sources/node-paths.js'
import type { WriteFileOptions } from './edit/write-file.js'
import type { WrittenFile } from './api/edit.js'
import type { GgufFile } from './api/file.js'
import type { Source } from './api/source.js'

export * from './index.js'
export * from './audit/index.js'
export * from './edit/index.js'
export * from './engine/index.js'
export * from './store/index.js'
// These two entries have their own versions here.
export { GgufBuilder } from './edit/index.js'
export type { StreamOptions } from './api/source.js'
export { open } from './file/open-paths.js'
export { NodeFileSource } from './sources/node-file.js'
export { withPaths } from './sources/node-paths.js'
export type { WriteFileOptions } from './edit/write-file.js'

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
