// Files that were split into pieces without headers: "model.gguf.part1of3", "model.gguf-split-a".
import { GgufError } from '../api/errors.js'
import type { OpenOptions } from '../api/file.js'
import type { ByteSource, ReadOptions } from '../api/source.js'
import { checkRange, streamByReads } from '../sources/bytes.js'

/** The names of all pieces if the name contains their number; otherwise a function for the name of piece i. */
interface Pieces {
  /** name of the joined file */
  readonly whole: string
  readonly count: number | undefined
  name(i: number): string
}

const kLetters = 'abcdefghijklmnopqrstuvwxyz'

function piecesOf(name: string): Pieces | undefined {
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
  readonly #pieces: readonly { readonly source: ByteSource; readonly from: number; readonly size: number }[]

  constructor(name: string, sources: readonly ByteSource[]) {
    let size = 0
    this.name = name
    this.#pieces = sources.map((source) => {
      const piece = { source, from: size, size: source.size! }
      size += piece.size
      return piece
    })
    this.size = size
  }

  async read(offset: number, length: number, options: ReadOptions): Promise<Uint8Array> {
    checkRange(offset, length, this.size)
    const end = offset + length
    const inside = this.#pieces.filter(({ from, size }) => from < end && from + size > offset)
    const read = inside.map(({ source, from, size }) => {
      const start = Math.max(offset, from)
      return source.read(start - from, Math.min(end, from + size) - start, options)
    })
    if (read.length === 1) return await read[0]!
    const bytes = new Uint8Array(length)
    let at = 0
    for (const piece of await Promise.all(read)) {
      bytes.set(piece, at)
      at += piece.length
    }
    return bytes
  }

  stream(offset: number, options: ReadOptions): AsyncIterable<Uint8Array> {
    return streamByReads(this, offset, options)
  }

  close(): void {
    for (const { source } of this.#pieces) source.close?.()
  }
}

/** A piece whose first byte was read, so that its size is known. */
async function probed(source: ByteSource, { signal }: OpenOptions): Promise<ByteSource> {
  if (source.size === undefined) await source.read(0, 1, { signal })
  if (source.size === undefined)
    throw new GgufError(
      'unsupported',
      `The size of ${source.name} is not known: download it, and open the copy.`,
    )
  return source
}

/** The joined file. Any piece can be given if the others are next to it. */
export async function joinPieces(given: readonly ByteSource[], options: OpenOptions): Promise<ByteSource> {
  const [first] = given
  const pieces = piecesOf(first!.name ?? '')!
  const sources: ByteSource[] = []
  for (let i = 0; i < (pieces.count ?? kLetters.length); i++) {
    const name = pieces.name(i)
    const source = given.find((one) => one.name === name) ?? first!.sibling?.(name)
    try {
      if (!source) throw new GgufError('no-such-file', name)
      sources.push(await probed(source, options))
    } catch (error) {
      if (!(error instanceof GgufError && error.code === 'no-such-file')) throw error
      // If the name contains no number, the last piece is the one without a successor.
      if (i > 0 && (pieces.count === undefined || options.allowMissingShards)) break
      for (const one of sources) one.close?.()
      throw new GgufError(
        'missing-shard',
        `${first!.name} is a piece of ${pieces.whole}, which was cut into ${pieces.count ?? 'several'}: ${name} is missing.`,
      )
    }
  }
  const unused = given.find((one) => !sources.includes(one))
  if (unused && given.length > 1)
    throw new GgufError('invalid-argument', `${unused.name} is no piece of ${pieces.whole}.`)
  return new JoinedSource(pieces.whole, sources)
}
