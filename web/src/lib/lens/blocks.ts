// Reads the scales and minimums of quantized blocks. Their offsets are those of ggml's structures, as in
// core/types/types.inc.

type Kind = 'f16' | 'f32' | 'e8m0' | 'ue4m3' | 'iq1m'

interface Field {
  name: string
  offset: number
  kind: Kind
  count: number
}

/** Scales of a block's sub-blocks: integers to be multiplied by the block's own scale. */
interface Parts {
  scales: number[]
  minimums?: number[]
}

interface BlockType {
  elements: number
  bytes: number
  fields: readonly Field[]
  parts?: (block: Uint8Array, littleEndian: boolean) => Parts
}

const one = (name: string, offset: number, kind: Kind = 'f16', count = 1): Field => ({
  name,
  offset,
  kind,
  count,
})
const scale = [one('scale', 0)]
const scaleAndMinimum = [one('scale', 0), one('minimum', 2)]

/** Unpacks eight scales and eight minimums of 6 bits from 12 bytes. */
function q4k(block: Uint8Array): Parts {
  const at = (i: number) => block[4 + i] ?? 0
  const each = Array.from({ length: 8 }, (_, i) => i)
  return {
    scales: each.map((i) => (i < 4 ? at(i) & 63 : (at(i + 4) & 15) | ((at(i - 4) >> 6) << 4))),
    minimums: each.map((i) => (i < 4 ? at(i + 4) & 63 : (at(i + 4) >> 4) | ((at(i) >> 6) << 4))),
  }
}

/** Unpacks sixteen scales of 6 bits with an offset of 32: low nibbles in 8 bytes, the upper two bits in 4. */
function q3k(block: Uint8Array): Parts {
  const at = (i: number) => block[96 + i] ?? 0
  const scales = Array.from({ length: 16 }, (_, i) => {
    const low = i < 8 ? at(i) & 15 : at(i - 8) >> 4
    return (low | (((at(8 + (i % 4)) >> (2 * Math.floor(i / 4))) & 3) << 4)) - 32
  })
  return { scales }
}

function iq4xs(block: Uint8Array, littleEndian: boolean): Parts {
  const high = new DataView(block.buffer, block.byteOffset).getUint16(2, littleEndian)
  const scales = Array.from({ length: 8 }, (_, i) => {
    const low = ((block[4 + (i >> 1)] ?? 0) >> (4 * (i % 2))) & 15
    return (low | (((high >> (2 * i)) & 3) << 4)) - 32
  })
  return { scales }
}

const nibbles = (block: Uint8Array): Parts => ({
  scales: [...block.subarray(0, 16)].map((byte) => byte & 15),
  minimums: [...block.subarray(0, 16)].map((byte) => byte >> 4),
})
const signed = (block: Uint8Array): Parts => ({ scales: [...new Int8Array(block.slice(192, 208).buffer)] })

const plain = (bytes: number): BlockType => ({ elements: 1, bytes, fields: [] })
const block = (
  elements: number,
  bytes: number,
  fields: readonly Field[],
  parts?: BlockType['parts'],
): BlockType => ({
  elements,
  bytes,
  fields,
  ...(parts ? { parts } : {}),
})

export const blockTypes: ReadonlyMap<string, BlockType> = new Map(
  Object.entries({
    F64: plain(8), F32: plain(4), F16: plain(2), BF16: plain(2), I8: plain(1), I16: plain(2), I32: plain(4), I64: plain(8),
    Q4_0: block(32, 18, scale),
    Q4_1: block(32, 20, scaleAndMinimum),
    Q5_0: block(32, 22, scale),
    Q5_1: block(32, 24, scaleAndMinimum),
    Q8_0: block(32, 34, scale),
    Q8_1: block(32, 36, [one('scale', 0), one('scale times sum', 2)]),
    Q2_K: block(256, 84, [one('scale', 80), one('minimum', 82)], nibbles),
    Q3_K: block(256, 110, [one('scale', 108)], q3k),
    Q4_K: block(256, 144, scaleAndMinimum, q4k),
    Q5_K: block(256, 176, scaleAndMinimum, q4k),
    Q6_K: block(256, 210, [one('scale', 208)], signed),
    Q8_K: block(256, 292, [one('scale', 0, 'f32')]),
    IQ1_S: block(256, 50, scale),
    IQ1_M: block(256, 56, [one('scale', 48, 'iq1m')]),
    IQ2_XXS: block(256, 66, scale),
    IQ2_XS: block(256, 74, scale),
    IQ2_S: block(256, 82, scale),
    IQ3_XXS: block(256, 98, scale),
    IQ3_S: block(256, 110, scale),
    IQ4_NL: block(32, 18, scale),
    IQ4_XS: block(256, 136, scale, iq4xs),
    TQ1_0: block(256, 54, [one('scale', 52)]),
    TQ2_0: block(256, 66, [one('scale', 64)]),
    MXFP4: block(32, 17, [one('scale', 0, 'e8m0')]),
    NVFP4: block(64, 36, [one('scale', 0, 'ue4m3', 4)]),
    Q1_0: block(128, 18, scale),
    Q2_0: block(64, 18, scale),
  }),
) // prettier-ignore

function half(bits: number): number {
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  const size =
    exponent === 31
      ? fraction > 0
        ? NaN
        : Infinity
      : exponent === 0
        ? fraction * 2 ** -24
        : (1 + fraction / 1024) * 2 ** (exponent - 15)
  return bits & 0x8000 ? -size : size
}

/** Decodes an unsigned E4M3 float; 0x7f is zero. */
function ue4m3(byte: number): number {
  const exponent = (byte >> 3) & 15
  if (byte === 0 || byte === 0x7f) return 0
  return exponent === 0 ? (byte & 7) * 2 ** -9 : (1 + (byte & 7) / 8) * 2 ** (exponent - 7)
}

function read(bytes: DataView, kind: Kind, offset: number, littleEndian: boolean): number {
  switch (kind) {
    case 'f16':
      return half(bytes.getUint16(offset, littleEndian))
    case 'f32':
      return bytes.getFloat32(offset, littleEndian)
    case 'e8m0':
      return 2 ** (bytes.getUint8(offset) - 127)
    case 'ue4m3':
      return ue4m3(bytes.getUint8(offset))
    case 'iq1m': {
      // The scale's bits are in the upper nibbles of four 16-bit numbers.
      const nibble = (i: number) => bytes.getUint16(offset + 2 * i, littleEndian) >> 12
      return half(nibble(0) | (nibble(1) << 4) | (nibble(2) << 8) | (nibble(3) << 12))
    }
  }
}

export interface BlockScales {
  /** the scales of the whole block */
  fields: { name: string; values: number[] }[]
  parts: Parts | undefined
}

/** The scales that a block stores; undefined for an unknown type. */
export function scalesOf(type: string, bytes: Uint8Array, littleEndian: boolean): BlockScales | undefined {
  const row = blockTypes.get(type)
  if (!row) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const fields = row.fields.map(({ name, offset, kind, count }) => ({
    name,
    values: Array.from({ length: count }, (_, i) => read(view, kind, offset + i, littleEndian)),
  }))
  return { fields, parts: row.parts?.(bytes, littleEndian) }
}
