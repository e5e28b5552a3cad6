// The projector for images or audio that lies beside a model.
import { fileOf, kQuantization, stemOf } from './kinds.js'
import { variantList } from './variants.js'
import { checkArgument, text } from '../api/checks.js'
import { kHubs } from './hubs.js'
import { parseHubAddress } from './address.js'
import { decoded } from '../sources/addresses.js'
import type { HubAddress, HubVariant } from './types.js'

/** The order in which one of several projectors of a folder is chosen: small, but without visible loss. */
const kUsual = ['F16', 'BF16', 'Q8_0', 'F32']

const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1)
/** The folder for whose models a projector is: projectors may have a folder of their own in it. */
const homeOf = ({ files }: HubVariant) =>
  folderOf(files[0]!.path).replace(/(?<=^|\/)(mmproj|projectors?)\/$/i, '')

/** What a file's name says about the model: words of letters, versions such as "3.2" after a word, and sizes as "4b". */
interface NameParts {
  readonly words: ReadonlySet<string>
  readonly versions: ReadonlyMap<string, string>
  readonly sizes: ReadonlySet<string>
}

const kSize = /^[ea]?\d+(\.\d+)?[bm]$|^\d+x\d+(\.\d+)?b$/
// These words say nothing about the model.
const kGeneric = /^(mm|mmproj|proj|projector|model|ggml|gguf|it|instruct|chat|vision|text|encoder|v)$/

function partsOf(path: string): NameParts {
  const name = fileOf(stemOf(path))
    .replace(kQuantization, '')
    .toLowerCase()
    .replace(/(\d)_(?=\d)/g, '$1.')
  const words = new Set<string>()
  const versions = new Map<string, string>()
  const sizes = new Set<string>()
  let before = ''
  for (const token of name.split(/[-_\s]+|\.(?!\d)|(?<!\d)\./)) {
    if (kSize.test(token)) sizes.add(token)
    else {
      const [, letters = '', number = ''] = /^(\p{L}*)(\d+(?:\.\d+)*)?/u.exec(token) ?? []
      const word = letters || before
      if (number !== '' && word !== '' && !versions.has(word)) versions.set(word, number)
      if (letters !== '' && !kGeneric.test(letters)) words.add(letters)
      before = number === '' ? letters : ''
    }
  }
  return { words, versions, sizes }
}

/** How many parts of the names agree; undefined if they are those of different models. */
function agreement(model: NameParts, projector: NameParts): number | undefined {
  const shared = (of: 'words' | 'sizes') => [...projector[of]].filter((one) => model[of].has(one)).length
  const sizes = shared('sizes')
  if (sizes === 0 && model.sizes.size > 0 && projector.sizes.size > 0) return undefined
  let versions = 0
  for (const [word, version] of projector.versions) {
    const other = model.versions.get(word)
    if (other !== undefined && other !== version) return undefined
    if (other !== undefined) versions++
  }
  const all = [...model.words].join(' ')
  const similar = [...projector.words].filter(
    (one) => all.includes(one) || [...model.words].some((word) => one.includes(word)),
  )
  if (similar.length === 0 && model.words.size > 0 && projector.words.size > 0) return undefined
  return sizes + versions + shared('words') - (projector.words.size - similar.length) / 100
}

/**
 * The projector among a repository's or folder's variants for the model file at `path`: the nearest one, in the same
 * folder or one above it, whose name does not say that it belongs to another model. F16 comes first, then BF16, Q8_0,
 * F32, and any other. undefined if there is none.
 */
export function pickProjector(variants: readonly HubVariant[], path: string): HubVariant | undefined {
  checkArgument('pickProjector()', 'list', variants, variantList)
  checkArgument('pickProjector()', 'path', path, text)
  const whole = variants.filter(({ missing }) => missing === 0)
  const ours = partsOf(path)
  const others = whole
    .filter(({ kind, files }) => kind === 'model' && files.every((file) => file.path !== path))
    .map(({ files }) => partsOf(files[0]!.path))
  const candidates = whole.flatMap((one) => {
    if (one.kind !== 'projector') return []
    const theirs = partsOf(one.files[0]!.path)
    const score = path === '' ? 0 : agreement(ours, theirs)
    // A projector belongs to the model whose name agrees most with its own.
    const isOthers = others.some((other) => (agreement(other, theirs) ?? -1) > (score ?? 0))
    return score === undefined || (path !== '' && isOthers) ? [] : [{ one, score }]
  })
  for (let folder = folderOf(path); ; folder = folderOf(folder.slice(0, -1))) {
    const here = candidates.filter(({ one }) => homeOf(one) === folder)
    const best = Math.max(...here.map(({ score }) => score))
    const closest = here.filter(({ score }) => score === best).map(({ one }) => one)
    for (const usual of kUsual) {
      const found = closest.find(({ quantization }) => quantization === usual)
      if (found) return found
    }
    if (closest[0]) return closest[0]
    if (folder === '') return undefined
  }
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
