// Colours of ggml types: warm for few bits, cool for many bits, grey for floats.
import type { TypeShare } from 'ggufscope'

export interface ColoredType extends TypeShare {
  color: string
  bitsPerWeight: number
}

const floats: Record<string, string> = {
  F64: 'oklch(0.5 0.012 230)',
  F32: 'oklch(0.58 0.012 230)',
  BF16: 'oklch(0.66 0.012 230)',
  F16: 'oklch(0.7 0.012 230)',
}

// Types with equal numbers of bits differ in lightness by their family.
const families: readonly [name: RegExp, lightness: number][] = [
  [/^(IQ|TQ)/, 0.58],
  [/_K/, 0.68],
  [/^(MXFP|NVFP)/, 0.82],
]
const min = 1.5
const max = 8.5

/** The colour of a type, the same in every file. Its hue shows the number of bits, from warm (few) to cool (many). */
export function colorOf(type: string, bits: number): string {
  if (Object.hasOwn(floats, type)) return floats[type] ?? ''
  const t = Math.max(0, Math.min(1, (bits - min) / (max - min)))
  const lightness = families.find(([name]) => name.test(type))?.[1] ?? 0.75
  return `oklch(${lightness} 0.105 ${Math.round(60 + 215 * t)})`
}

/** The shares in the given order, each with its colour. */
export function colored(shares: readonly TypeShare[]): ColoredType[] {
  const bits = (share: TypeShare) => (share.elements > 0 ? (share.bytes * 8) / share.elements : 0)
  return shares.map((share) => ({
    ...share,
    bitsPerWeight: bits(share),
    color: colorOf(share.type, bits(share)),
  }))
}
