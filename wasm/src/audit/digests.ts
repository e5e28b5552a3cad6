// The hash functions, one row for each: incremental, in Node those of its crypto module.
import { isNode, nodeModule } from '../runtime/node-module.js'
import { Sha256 } from '../store/sha256.js'
import { Sha1 } from './sha1.js'
import type { HashAlgorithm, Hashes } from './types.js'
import { Xxh64 } from './xxh64.js'

interface Digest {
  update(bytes: Uint8Array): void
  /** in lower-case hexadecimal; ends the digest */
  hex(): string
}

interface Crypto {
  createHash(name: string): { update(bytes: Uint8Array): void; digest(form: 'hex'): string }
}

/** Node's own implementation, several times as fast; undefined elsewhere. */
function nodeDigest(name: string): Digest | undefined {
  if (!isNode()) return undefined
  const hash = nodeModule<Crypto>('node:crypto').createHash(name)
  return { update: (bytes) => hash.update(bytes), hex: () => hash.digest('hex') }
}

/** uuid.uuid5(uuid.NAMESPACE_URL, 'en.wikipedia.org/wiki/Llama.cpp'), the name space of llama-gguf-hash */
const kNameSpace = Uint8Array.of(
  ...[0xef, 0x00, 0x12, 0x06, 0xda, 0xdc, 0x5f, 0x6d, 0xa1, 0x5f, 0x33, 0x59, 0xe5, 0x77, 0xd4, 0xe5],
)

/** A UUID of version 5 (RFC 9562): the first 16 bytes of a SHA-1, with the version and the variant. */
class Uuid implements Digest {
  readonly #sha1 = kDigests.sha1()

  constructor() {
    this.#sha1.update(kNameSpace)
  }

  update(bytes: Uint8Array): void {
    this.#sha1.update(bytes)
  }

  hex(): string {
    const hash = this.#sha1.hex()
    const variant = ((parseInt(hash[16]!, 16) & 3) | 8).toString(16)
    const text = `${hash.slice(0, 12)}5${hash.slice(13, 16)}${variant}${hash.slice(17, 32)}`
    return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
}

const kDigests: Readonly<Record<HashAlgorithm, () => Digest>> = {
  sha256: () => nodeDigest('sha256') ?? new Sha256(),
  sha1: () => nodeDigest('sha1') ?? new Sha1(),
  xxh64: () => new Xxh64(),
  uuid: () => new Uuid(),
}

export const kHashAlgorithms = Object.keys(kDigests) as HashAlgorithm[]

/** Several hashes of the same bytes. */
export class Digests {
  readonly #digests: readonly (readonly [HashAlgorithm, Digest])[]

  constructor(algorithms: readonly HashAlgorithm[]) {
    this.#digests = algorithms.map((name) => [name, kDigests[name]()])
  }

  update(bytes: Uint8Array): void {
    for (const [, digest] of this.#digests) digest.update(bytes)
  }

  hashes(): Hashes {
    return Object.fromEntries(this.#digests.map(([name, digest]) => [name, digest.hex()]))
  }
}
