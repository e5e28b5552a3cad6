// Checks the data of tensors.
import { callBack } from '../api/callbacks.js'
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import { kMaxFindings, printable, type OpenedFile } from '../file/opened.js'
import { Heap } from '../runtime/heap.js'
import { flawText } from './flaws.js'
import { quantModule } from '../runtime/module.js'
import type { Finding } from '../api/findings.js'
import type { LintDataOptions } from '../api/file.js'
import type { TensorInfo } from '../api/tensors.js'

const kReadBytes = 1 << 23

type Range = ReturnType<OpenedFile['rowRange']>

/** Reasons why a tensor has no data to check. lint() reports them. */
const kSaidByLint: ReadonlySet<string> = new Set(['unsupported', 'bad-shape', 'missing-shard'])

function dataOf(file: OpenedFile, tensor: TensorInfo): Range | undefined {
  try {
    const range = file.rowRange(tensor, {})
    const { size } = range.source
    return size !== undefined && range.offset + range.byteLength > size ? undefined : range
  } catch (error) {
    if (error instanceof GgufError && kSaidByLint.has(error.code)) return undefined
    throw error
  }
}

function finding(
  { tensor, type, offset, rowLength, byteLength }: Range,
  count: number,
  first: number,
  flaw: number,
): Finding {
  const blocks = byteLength / type.blockBytes
  const all = counted(blocks, type.blockSize === 1 ? 'element' : 'block')
  const where = flawText(type, rowLength, first, flaw)
  return {
    level: 'error',
    code: 'tensor-data-invalid',
    message: `tensor ${printable(tensor.name)} of ${type.name} is damaged in ${count} of ${all}: ${where}`,
    offset: offset + first * type.blockBytes,
    shard: tensor.shard,
  }
}

export async function lintData(file: OpenedFile, options: LintDataOptions): Promise<Finding[]> {
  const { signal, onProgress } = options
  const module = await quantModule(file.hosting)
  signal?.throwIfAborted()
  const ranges = file.tensors.flatMap((tensor) => dataOf(file, tensor) ?? [])
  const total = ranges.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const bigEndian = file.endianness === 'big'
  const heap = new Heap(module)
  try {
    const place = heap.reserve(kReadBytes)
    const findings: Finding[] = []
    let invalidTensors = 0
    let loaded = 0
    for (const range of ranges) {
      const { tensor, type, source, offset, byteLength, small } = range
      const readBytes = Math.floor(kReadBytes / type.blockBytes) * type.blockBytes
      let invalid = 0
      let where: readonly [first: number, flaw: number] = [0, 0]
      for (let at = 0; at < byteLength; at += readBytes) {
        const bytes = await source.read(offset + at, Math.min(readBytes, byteLength - at), { signal })
        signal?.throwIfAborted()
        heap.put(place, bytes)
        const blocks = bytes.length / type.blockBytes
        const [count, first, flaw] = module.invalidBlocks(tensor.typeId, place, blocks, bigEndian, small)
        if (invalid === 0 && count > 0) where = [at / type.blockBytes + first, flaw]
        invalid += count
        loaded += bytes.length
        await callBack(onProgress, loaded, total)
      }
      if (invalid > 0 && ++invalidTensors <= kMaxFindings) findings.push(finding(range, invalid, ...where))
    }
    const last = findings.at(-1)
    if (last && invalidTensors > kMaxFindings) {
      const message = `${last.message} (and ${invalidTensors - kMaxFindings} more tensors)`
      findings[findings.length - 1] = { ...last, message }
    }
    return findings
  } finally {
    heap.free()
  }
}
