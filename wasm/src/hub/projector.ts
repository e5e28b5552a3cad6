// The projector for images or audio that lies beside a model.
import { variantList } from './variants.js'
import { checkArgument, text } from '../api/checks.js'
import { kHubs } from './hubs.js'
import { parseHubAddress } from './address.js'
import { decoded } from '../sources/addresses.js'
import type { HubAddress, HubVariant } from './types.js'

/** The order in which one of several projectors of a folder is chosen: small, but without visible loss. */
const kUsual = ['F16', 'BF16', 'Q8_0', 'F32']

const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1)

/**
 * The projector among a repository's variants for the model file at `path`: one in the same folder, otherwise one in
 * the repository's root. F16 comes first, then BF16, Q8_0, F32, and any other. undefined if there is none.
 */
export function pickProjector(variants: readonly HubVariant[], path: string): HubVariant | undefined {
  checkArgument('pickProjector()', 'list', variants, variantList)
  checkArgument('pickProjector()', 'path', path, text)
  const projectors = variants.filter(({ kind, missing }) => kind === 'projector' && missing === 0)
  for (const folder of new Set([folderOf(path), ''])) {
    const here = projectors.filter(({ files }) => folderOf(files[0]!.path) === folder)
    for (const usual of kUsual) {
      const found = here.find(({ quantization }) => quantization === usual)
      if (found) return found
    }
    if (here[0]) return here[0]
  }
  return undefined
}

/** A hub's repository, and the path of a file in it. The path of a repository's address is empty. */
export function placeOf(address: string): { repository: HubAddress; path: string } | undefined {
  const repository = parseHubAddress(address)
  if (repository) return { repository, path: '' }
  const file = /^(https?:\/\/[^/]+)\/(models\/)?([^/]+\/[^/]+)\/resolve\/([^/]+)\/([^?#]+)/.exec(address)
  if (!file) return undefined
  const [, server, models, id, revision, path] = file as unknown as [string, string, string?, ...string[]]
  const hub = models === undefined ? 'huggingface' : 'modelscope'
  // The hub's own server needs no mention.
  const own = new URL(kHubs[hub].server).origin === server
  return {
    repository: { hub, id: id!, revision: decoded(revision!), server: own ? undefined : server },
    path: decoded(path!),
  }
}
