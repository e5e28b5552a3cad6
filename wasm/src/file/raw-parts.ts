// Files that were split into parts without headers: "model.gguf.part1of3", "model.gguf-split-a".
import { GgufError } from '../api/errors.js'
import type { OpenOptions } from '../api/file.js'
import type { ByteSource, ReadOptions } from '../api/source.js'
import { checkRange, streamByReads } from '../sources/bytes.js'

/** The names of all parts if the name contains their number; otherwise a function for the name of part i. */
interface RawParts {
  /** name of the joined file */
  readonly whole: string
  readonly count: number | undefined
  name(i: number): string
}

const kLetters = 'abcdefghijklmnopqrstuvwxyz'

function rawPartsOf(name: string): RawParts | undefined {
  const numbered = /^(.+)\.part(\d+)of(\d+)$/i.exec(name)
  if (numbered) {
    const [, whole, digits, count] = numbered
    const word = name.slice(whole!.length, whole!.length + 5)
    return {
      whole: whole!,
      count: Number(count),
      name: (i) => `${whole}${word}${String(i + 1).padStart(digits!.length, '0')}of${count}`,
    }
  }
  const lettered = /^(.+\.gguf)-split-[a-z]$/i.exec(name)
  return lettered
    ? { whole: lettered[1]!, count: undefined, name: (i) => `${lettered[1]}-split-${kLetters[i]}` }
    : undefined
}

/** The concatenation of several sources. */
class JoinedSource implements ByteSource {
  readonly name: string
  readonly size: number
  readonly #parts: readonly { readonly source: ByteSource; readonly from: number; readonly size: number }[]

  constructor(name: string, sources: readonly ByteSource[]) {
    let size = 0
    this.name = name
    this.#parts = sources.map((source) => {
      const part = { source, from: size, size: source.size! }
      size += part.size
      return part
    })
    this.size = size
  }

  async read(offset: number, length: number, options: ReadOptions): Promise<Uint8Array> {
    checkRange(offset, length, this.size)
    const end = offset + length
    const inside = this.#parts.filter(({ from, size }) => from < end && from + size > offset)
    const read = inside.map(({ source, from, size }) => {
      const start = Math.max(offset, from)
      return source.read(start - from, Math.min(end, from + size) - start, options)
    })
    if (read.length === 1) return await read[0]!
    const bytes = new Uint8Array(length)
    let at = 0
    for (const part of await Promise.all(read)) {
      bytes.set(part, at)
      at += part.length
    }
    return bytes
  }

  stream(offset: number, options: ReadOptions): AsyncIterable<Uint8Array> {
    return streamByReads(this, offset, options)
  }

  close(): void {
    for (const { source } of this.#parts) source.close?.()
  }
}

/** A part whose first byte was read, so that its size is known. */
async function probed(source: ByteSource, { signal }: OpenOptions): Promise<ByteSource> {
  if (source.size === undefined) await source.read(0, 1, { signal })
  if (source.size === undefined)
    throw new GgufError(
      'unsupported',
      `The size of ${source.name} is not known: download it, and open the copy.`,
    )
  return source
}

/** The joined file. Any part can be given if the others are next to it. */
export async function joinRawParts(given: readonly ByteSource[], options: OpenOptions): Promise<ByteSource> {
  const [first] = given
  const parts = rawPartsOf(first!.name ?? '')!
  const sources: ByteSource[] = []
  for (let i = 0; i < (parts.count ?? kLetters.length); i++) {
    const name = parts.name(i)
    const source = given.find((one) => one.name === name) ?? first!.sibling?.(name)
    try {
      if (!source) throw new GgufError('no-such-file', name)
      sources.push(await probed(source, options))
    } catch (error) {
      if (!(error instanceof GgufError && error.code === 'no-such-file')) throw error
      // If the name contains no number, the last part is the one without a successor.
      if (i > 0 && (parts.count === undefined || options.allowMissingShards)) break
      for (const one of sources) one.close?.()
      throw new GgufError(
        'missing-shard',
        `${first!.name} is a part of ${parts.whole}, which was cut into ${parts.count ?? 'several'}: ${name} is missing.`,
      )
    }
  }
  const unused = given.find((one) => !sources.includes(one))
  if (unused && given.length > 1)
    throw new GgufError('invalid-argument', `${unused.name} is no part of ${parts.whole}.`)
  return new JoinedSource(parts.whole, sources)
}
