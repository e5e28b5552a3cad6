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
import { GgufError, quoted } from '../api/errors.js'
import { parseHubAddress } from './address.js'
import { kHubs } from './hubs.js'
import { pickProjector, placeOf } from './projector.js'
import { onServer } from './request.js'
import type { FoundModel, HubAddress, HubOptions, HubVariant, Repository } from './types.js'
import { pickVariant, variantsOf } from './variants.js'

export { parseHubAddress } from './address.js'
export { pickProjector } from './projector.js'
export { pickVariant, quantizationOf, variantsOf } from './variants.js'
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
    `${quoted(address)} names no repository. Give owner/name, hf:owner/name, ms:owner/name, ollama:name:tag, or its page.`,
  )
}

/**
 * Lists a repository: its GGUF files with sizes, grouped into models. It takes one request, or more for long
 * listings. Errors: 'invalid-argument', 'not-found' if there is no GGUF file, 'no-such-file', 'unauthorized' and
 * 'forbidden' from the hub, and those of the network.
 */
export async function listRepository(
  address: string | HubAddress,
  options: HubOptions = {},
): Promise<Repository> {
  checkOptions('listRepository()', options, kHubChecks)
  const { hub: name, id, revision: given, server } = parsed(address)
  const hub = kHubs[name]
  const revision = given ?? hub.revision
  const asked = { ...options, server: options.server ?? server }
  const files = (await hub.list(id, revision, asked)).filter(({ path }) => /\.gguf$/i.test(path))
  const page = onServer(asked.server, hub.site ?? hub.server, hub.page(id, revision)).href
  if (files.length === 0) throw new GgufError('not-found', `${id} holds no GGUF file. Its page: ${page}`)
  return { hub: name, id, revision, page, files, variants: variantsOf(files) }
}

/**
 * The model that an address refers to: "owner/name:Q4_K_M" the one with that quantization, "owner/name" the default
 * choice. The addresses of its files can be passed to open() and load(). Errors of listRepository; 'not-found' lists
 * the available quantizations.
 */
export async function findVariant(
  address: string | HubAddress,
  options: HubOptions = {},
): Promise<HubVariant> {
  checkOptions('findVariant()', options, kHubChecks)
  const { quantization } = parsed(address)
  const { id, variants } = await listRepository(address, options)
  const found = pickVariant(variants, quantization)
  if (found) return found
  const there = variants.map(({ name }) => name).join(', ')
  const wanted = quantization === undefined ? 'model that is whole' : quoted(quantization)
  throw new GgufError('not-found', `${id} has no ${wanted}. It has: ${there}.`)
}

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
    return pickProjector((await listRepository(place.repository, options)).variants, place.path)
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
