// The projector in the folder of a local model.
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pickProjector } from '../hub/projector.js'
import { variantsOf } from '../hub/variants.js'
import { NodeFileSource } from './node-file.js'

/** undefined if the folder has none. */
async function projectorInFolder(model: string): Promise<NodeFileSource | undefined> {
  const folder = dirname(model)
  const names = (await readdir(folder)).filter((name) => /\.gguf$/i.test(name))
  const files = names.map(async (name) => {
    const path = join(folder, name)
    // Links may lead nowhere, such as those of a cache that was cleaned.
    const there = await stat(path).catch(() => undefined)
    return there?.isFile() ? [{ path: name, size: there.size, url: path }] : []
  })
  const found = pickProjector(variantsOf((await Promise.all(files)).flat()), basename(model))
  return found && new NodeFileSource(found.files[0]!.url)
}

/** For 'auto' and a model on disk the projector in its folder; anything else unchanged. */
export async function localProjector<T>(
  model: unknown,
  projector: T,
): Promise<T | NodeFileSource | undefined> {
  const first: unknown = Array.isArray(model) ? model[0] : model
  return projector === 'auto' && first instanceof NodeFileSource
    ? await projectorInFolder(first.path)
    : projector
}
