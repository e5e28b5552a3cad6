// The types that the weights of a planned file have: their shares, what they lose together, and the name of the file.
import type { QuantizedTensor, QuantizeReport } from 'ggufscope/edit'
import { kMixtures, mixtureOf } from '../../../../wasm/src/edit/mixtures'

interface Share {
  readonly type: string
  /** of all weights */
  readonly share: number
  readonly bits: number
}

/** The types of weights, those of most weights first. */
export function sharesOf(tensors: readonly QuantizedTensor[]): readonly Share[] {
  const sums = new Map<string, { elements: number; bytes: number }>()
  let all = 0
  for (const { to, shape, toBytes } of tensors) {
    const elements = shape.reduce((product, n) => product * n, 1)
    const before = sums.get(to)
    sums.set(to, { elements: elements + (before?.elements ?? 0), bytes: toBytes + (before?.bytes ?? 0) })
    all += elements
  }
  return [...sums]
    .map(([type, { elements, bytes }]) => ({ type, share: elements / all, bits: (8 * bytes) / elements }))
    .toSorted((a, b) => b.share - a.share)
}

/** The bits of the type in the middle: half of the weights have no more. A few weights of many bits do not raise them. */
export function middleBits(shares: readonly Share[]): number {
  let rest = 0.5
  for (const { share, bits } of shares.toSorted((a, b) => a.bits - b.bits)) {
    rest -= share
    if (rest <= 0) return bits
  }
  return 0
}

/** The mixture that the file is: that of most weights, if no row is whole blocks of the chosen one's type. */
export function writtenMixture({ mixture, tensors }: QuantizeReport): { name: string; fileType: number } {
  const chosen = mixtureOf(mixture)!
  const [most] = tensors.some(({ to }) => to === chosen.type) ? [] : sharesOf(tensors)
  const other = most && kMixtures[most.type]
  return other ? { name: most.type, fileType: other.fileType } : { name: mixture, fileType: chosen.fileType }
}
