// Colours of ggml types within one file: warm and light where there are few bits, cool and dark where there are many.
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

/** The shares as they come, each with a colour; ranked by bits, so that neighbours on the scale differ visibly. */
export function colored(shares: readonly TypeShare[]): ColoredType[] {
  const bits = (share: TypeShare) => (share.elements > 0 ? (share.bytes * 8) / share.elements : 0)
  const ranked = shares.filter((share) => !(share.type in floats)).sort((a, b) => bits(a) - bits(b))
  return shares.map((share) => {
    const at = ranked.indexOf(share)
    const t = ranked.length > 1 ? at / (ranked.length - 1) : 0.45
    const scale = `oklch(${(0.77 - 0.24 * t).toFixed(3)} 0.105 ${Math.round(78 + 172 * t)})`
    return {
      ...share,
      bitsPerWeight: bits(share),
      color: Object.hasOwn(floats, share.type) ? (floats[share.type] ?? scale) : scale,
    }
  })
}
