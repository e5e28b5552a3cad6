// Reads the scales and minimums of quantized blocks.
import { blockTypes, type BlockType } from './block-types.ts'

type Scales = NonNullable<BlockType['scales']>

/** Scales of a block's sub-blocks: integers to be multiplied by the block's own scale. */
interface Parts {
  scales: number[]
  minimums?: number[]
}

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

/** Types whose blocks have scales of sub-blocks. */
const unpack: Partial<Record<string, (block: Uint8Array, littleEndian: boolean) => Parts>> = {
  Q2_K: nibbles,
  Q3_K: q3k,
  Q4_K: q4k,
  Q5_K: q4k,
  Q6_K: signed,
  IQ4_XS: iq4xs,
}

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

function read(bytes: DataView, { kind, offset }: Scales, i: number, littleEndian: boolean): number {
  switch (kind) {
    case 'f16':
      return half(bytes.getUint16(offset + 2 * i, littleEndian))
    case 'f32':
      return bytes.getFloat32(offset + 4 * i, littleEndian)
    case 'e8m0':
      return 2 ** (bytes.getUint8(offset + i) - 127)
    case 'ue4m3':
      return ue4m3(bytes.getUint8(offset + i))
    case 'iq1m': {
      // The scale's bits are in the upper nibbles of four 16-bit numbers.
      const nibble = (k: number) => bytes.getUint16(offset + 2 * k, littleEndian) >> 12
      return half(nibble(0) | (nibble(1) << 4) | (nibble(2) << 8) | (nibble(3) << 12))
    }
  }
}

export interface BlockScales {
  /** the scales of the whole block */
  fields: { name: 'scale' | 'minimum' | 'scale times sum'; values: number[] }[]
  parts: Parts | undefined
}

/** The scales that a block stores; undefined for a type without scales. */
export function scalesOf(type: string, bytes: Uint8Array, littleEndian: boolean): BlockScales | undefined {
  const row = blockTypes.get(type)?.scales
  if (!row) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const from = (first: number, count: number) =>
    Array.from({ length: count }, (_, i) => read(view, row, first + i, littleEndian))
  const fields: BlockScales['fields'] = [{ name: 'scale', values: from(0, row.count) }]
  if (row.minimums > 0) fields.push({ name: 'minimum', values: from(row.count, row.minimums) })
  if (type === 'Q8_1') fields.push({ name: 'scale times sum', values: from(1, 1) })
  return { fields, parts: unpack[type]?.(bytes, littleEndian) }
}
