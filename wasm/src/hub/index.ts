// ggufscope/hub: the files in repositories of model hubs.
import {
  callback,
  checkArgument,
  checkOptions,
  integer,
  object,
  signal,
  text,
  type Check,
} from '../api/checks.js'
import { counted } from '../api/counted.js'
import { GgufError, quoted } from '../api/errors.js'
import { parseHubAddress } from './address.js'
import { kHubs } from './hubs.js'
import { isGguf } from './kinds.js'
import { pickProjector, placeOf } from './projector.js'
import { onlyFirst, onServer } from './request.js'
import type { FoundModel, HubAddress, HubOptions, HubVariant, Repository } from './types.js'
import { pickVariant, variantsNamed } from './pick.js'
import { variantsOf } from './variants.js'

export { parseHubAddress } from './address.js'
export { pickProjector } from './projector.js'
export { pickVariant } from './pick.js'
export { quantizationOf, variantsOf } from './variants.js'
export type * from './types.js'

const kHubChecks: Readonly<Record<keyof HubOptions, Check>> = {
  server: (value) =>
    URL.canParse(String(value), globalThis.location?.href) &&
    (text(value) === undefined || value instanceof URL)
      ? undefined
      : 'an address',
  token: text,
  signal,
  fetch: callback,
}

function parsed(address: string | HubAddress): HubAddress {
  if (typeof address !== 'string') {
    if (object(address) === undefined && Object.hasOwn(kHubs, address.hub) && text(address.id) === undefined)
      return address
    throw new GgufError(
      'invalid-argument',
      `A repository is a text, or what parseHubAddress() returns, not ${String(address)}.`,
    )
  }
  const found = parseHubAddress(address)
  if (found) return found
  throw new GgufError(
    'invalid-argument',
    `${quoted(address)} names no repository. Give owner/name, hf:owner/name, ms:owner/name, ollama:name:tag, github:owner/name@tag, or its page.`,
  )
}

/**
 * Lists a repository, or the folder of it that an address names: its GGUF files with sizes, grouped into models. It takes
 * one request, or more for long listings. Errors: 'invalid-argument', 'not-found' if there is no GGUF file,
 * 'no-such-file', 'unauthorized' and 'forbidden' from the hub, and those of the network.
 */
export async function listRepository(
  address: string | HubAddress,
  options: HubOptions = {},
): Promise<Repository> {
  checkOptions('listRepository()', options, kHubChecks)
  const { hub: name, id, revision: given, server, folder } = parsed(address)
  const hub = kHubs[name]
  const revision = given ?? hub.revision
  const asked = { ...options, server: options.server ?? server }
  const files = onlyFirst(await hub.list(id, revision, asked), ({ path }) => path).filter(
    ({ path }) => isGguf(path) && (folder === undefined || path.startsWith(`${folder}/`)),
  )
  const page = onServer(asked.server, hub.site ?? hub.server, hub.page(id, revision)).href
  if (files.length === 0) {
    const place = folder === undefined ? id : `The folder ${folder} of ${id}`
    throw new GgufError('not-found', `${place} holds no GGUF file. Its page: ${page}`)
  }
  return { hub: name, id, revision, page, files, variants: variantsOf(files) }
}

/** The variant with a file of that path, or the only one with a file of that name. */
function variantOfFile(
  variants: readonly HubVariant[],
  { file = '', folder }: HubAddress,
): HubVariant | undefined {
  const withFile = (path: string) => variants.filter(({ files }) => files.some((one) => one.path === path))
  const named = variants.filter(({ files }) => files.some(({ path }) => path.endsWith(`/${file}`)))
  return withFile(file)[0] ?? withFile(`${folder}/${file}`)[0] ?? (named.length === 1 ? named[0] : undefined)
}

const namesOf = (variants: readonly HubVariant[]) => variants.map(({ name }) => name).join(', ')

/**
 * The model that an address refers to: "owner/name:Q4_K_M" the one with that quantization, "owner/name" the default
 * choice, a page that shows a file the model of this file. The addresses of its files can be passed to open() and
 * load(). Errors of listRepository; 'not-found' lists what is available.
 */
export async function findVariant(
  address: string | HubAddress,
  options: HubOptions = {},
): Promise<HubVariant> {
  checkOptions('findVariant()', options, kHubChecks)
  const place = parsed(address)
  const { file, quantization } = place
  const { id, variants } = await listRepository(
    file === undefined ? place : { ...place, folder: undefined },
    options,
  )
  const there = `It has: ${namesOf(variants)}.`
  if (file !== undefined) {
    const found = variantOfFile(variants, place)
    if (found && found.missing === 0) return found
    if (!found) throw new GgufError('not-found', `${id} has no file ${quoted(file)}. ${there}`)
    throw incomplete(id, found)
  }
  const found = pickVariant(variants, quantization)
  if (found) return found
  if (quantization === undefined)
    throw new GgufError('not-found', `${id} has no model that is whole. ${there}`)
  const named = variantsNamed(variants, quantization)
  const [only] = named
  if (only && named.length === 1) throw incomplete(id, only)
  // Docker's name of the default.
  const standard = quantization === 'latest' && !only ? pickVariant(variants) : undefined
  if (standard) return standard
  throw new GgufError(
    'not-found',
    only
      ? `${quoted(quantization)} of ${id} may be any of: ${namesOf(named)}.`
      : `${id} has no ${quoted(quantization)}. ${there}`,
  )
}

const incomplete = (id: string, { name, missing, files }: HubVariant) =>
  new GgufError(
    'not-found',
    `${name} of ${id} is not whole: ${missing} of its ${counted(missing + files.length, 'file')} ${missing === 1 ? 'is' : 'are'} missing.`,
  )

/**
 * The projector for images or audio that lies beside a model in its repository. The address is that of the model's
 * file, or any that listRepository takes. undefined if the repository has none, or if the address belongs to no hub.
 * Errors of the network, and 'unauthorized' and 'forbidden' from the hub.
 */
export async function findProjector(
  address: string,
  options: HubOptions = {},
): Promise<HubVariant | undefined> {
  checkOptions('findProjector()', options, kHubChecks)
  checkArgument('findProjector()', 'address', address, text)
  const place = placeOf(address)
  if (!place) return undefined
  try {
    const { folder: _, ...repository } = place.repository
    const { variants } = await listRepository(repository, options)
    const { file, quantization } = repository
    const model =
      file === undefined ? pickVariant(variants, quantization) : variantOfFile(variants, place.repository)
    return pickProjector(variants, place.path || (model?.files[0]!.path ?? ''))
  } catch (error) {
    // A server that has the addresses of a hub need not list its files.
    if (error instanceof GgufError && /^(not-found|no-such-file|json|http-error)$/.test(error.code))
      return undefined
    throw error
  }
}

/** Searches models with GGUF files, sorted by downloads. Only on Hugging Face and servers with its protocol. */
export async function searchModels(
  query: string,
  options: HubOptions & { limit?: number | undefined } = {},
): Promise<FoundModel[]> {
  checkArgument('searchModels()', 'query', query, text)
  checkOptions('searchModels()', options, { ...kHubChecks, limit: integer(1, 1000) })
  return await kHubs.huggingface.search!(query, options.limit ?? 20, options)
}
