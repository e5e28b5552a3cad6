// Hashes of files and tensors, computed while the bytes arrive.
import { callBack } from '../api/callbacks.js'
import { callback, checkArgument, checkOptions, either, listOf, oneOf, signal } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { TensorInfo } from '../api/tensors.js'
import { openedFile, printable, type OpenedFile, type Part } from '../file/opened.js'
import { Digests, kHashAlgorithms } from './digests.js'
import type { FileHashes, HashAlgorithm, Hashes, HashOptions, TensorHashes } from './types.js'

const kReadBytes = 1 << 23

const algorithm = oneOf(...kHashAlgorithms)
/** The check of one algorithm, or several. */
export const kAlgorithmCheck = either(algorithm, listOf(algorithm, 'an array of them'))

const algorithmsOf = (given: HashAlgorithm | readonly HashAlgorithm[]): readonly HashAlgorithm[] =>
  typeof given === 'string' ? [given] : [...new Set(given)]

/** Bytes that are read in a row. */
interface Stretch {
  readonly offset: number
  readonly end: number
  readonly tensor?: TensorInfo | undefined
  /** they count for the hash of the whole file */
  readonly ofFile: boolean
}

function checkTensor(file: OpenedFile, tensor: TensorInfo, size: number): void {
  const { name, offset, byteLength, elementCount, type } = tensor
  if (elementCount > 0 && byteLength === 0) {
    file.rowRange(tensor, {}) // says what is wrong with its shape or type
    throw new GgufError('bad-shape', `Tensor ${printable(name)} of ${type} has no bytes.`)
  }
  if (offset + byteLength > size)
    throw new GgufError('truncated', `The data of tensor ${printable(name)} is not all there.`, { offset })
}

/**
 * The stretches of a file. If the tensors lie in the order of the header, every byte is read once; else the file is
 * read once as a whole, and then the tensors.
 */
function stretchesOf(size: number, tensors: readonly TensorInfo[]): Stretch[] {
  const inOrder = tensors.every(
    ({ offset }, i) => i === 0 || offset >= tensors[i - 1]!.offset + tensors[i - 1]!.byteLength,
  )
  const data = tensors.map((tensor) => ({
    tensor,
    offset: tensor.offset,
    end: tensor.offset + tensor.byteLength,
    ofFile: inOrder,
  }))
  if (!inOrder) return [{ offset: 0, end: size, ofFile: true }, ...data]
  let at = 0
  const all = data.flatMap((stretch): Stretch[] => {
    const before = { offset: at, end: stretch.offset, ofFile: true }
    at = stretch.end
    return [before, stretch]
  })
  return [...all, { offset: at, end: size, ofFile: true }]
}

interface HashedPart {
  readonly hashes: Hashes
  readonly sha256: string
  readonly tensors: readonly TensorHashes[]
}

async function hashPart(
  { source }: Part,
  stretches: readonly Stretch[],
  algorithms: readonly HashAlgorithm[],
  { signal }: HashOptions,
  onRead: (bytes: number) => Promise<void>,
): Promise<HashedPart> {
  const ofTensors = algorithms.filter((name) => name !== 'uuid')
  const whole = new Digests(['sha256'])
  const data = new Digests(algorithms)
  const tensors: TensorHashes[] = []
  for (const { offset, end, tensor, ofFile } of stretches) {
    const own = tensor && new Digests(ofTensors)
    for (let at = offset; at < end; at += kReadBytes) {
      const bytes = await source.read(at, Math.min(kReadBytes, end - at), { signal })
      signal?.throwIfAborted()
      if (ofFile) whole.update(bytes)
      if (own) {
        own.update(bytes)
        data.update(bytes)
      }
      await onRead(bytes.length)
    }
    if (own) tensors.push({ name: tensor.name, shard: tensor.shard, hashes: own.hashes() })
  }
  return { hashes: data.hashes(), sha256: whole.hashes().sha256!, tensors }
}

/** The number of bytes that hashing a file reads. */
export async function hashPlan(
  file: OpenedFile,
): Promise<{ total: number; parts: { part: Part; stretches: Stretch[] }[] }> {
  const parts = file.parts.map((part, shard) => {
    if (!part) throw new GgufError('missing-shard', `A file of this split model is not there.`)
    const { size } = part.source
    if (size === undefined)
      throw new GgufError('unsupported', 'The size of the file is not known: download it, and open the copy.')
    const tensors = file.tensors.filter((tensor) => tensor.shard === shard)
    for (const tensor of tensors) checkTensor(file, tensor, size)
    return { part, stretches: stretchesOf(size, tensors) }
  })
  const total = parts
    .flatMap(({ stretches }) => stretches)
    .reduce((sum, { offset, end }) => sum + end - offset, 0)
  return { total, parts }
}

/**
 * Computes hashes of the data of each tensor, and of each physical file: over the data of all its tensors, as
 * llama-gguf-hash does, and SHA-256 over all its bytes. All bytes are read, in chunks, normally once. Errors:
 * 'truncated', 'bad-shape' or 'unsupported' for a tensor whose bytes are not known; 'missing-shard'.
 */
export async function hashFile(file: GgufFile, options: HashOptions = {}): Promise<FileHashes> {
  checkArgument('hashFile()', 'file', file, openedFile)
  checkOptions('hashFile()', options, { signal, onProgress: callback, algorithm: kAlgorithmCheck })
  const { onProgress, algorithm: given = 'sha256' } = options
  options.signal?.throwIfAborted()
  await file.completeHeader({ signal: options.signal })
  const { total, parts } = await hashPlan(file as OpenedFile)
  let loaded = 0
  const hashed: HashedPart[] = []
  for (const { part, stretches } of parts)
    hashed.push(
      await hashPart(part, stretches, algorithmsOf(given), options, async (bytes) => {
        loaded += bytes
        await callBack(onProgress, loaded, total)
      }),
    )
  return {
    files: hashed.map(({ hashes, sha256 }, i) => ({ name: parts[i]!.part.source.name, hashes, sha256 })),
    tensors: hashed.flatMap(({ tensors }) => tensors),
  }
}
