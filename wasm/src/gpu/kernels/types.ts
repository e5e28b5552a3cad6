// How WGSL reads each type of weights: a row per ggml type with the statements that return 16 elements of a matrix.
// The layouts are those of core/gpu/streams.inc; the formulas those of ggml's reference (ggml-quants.c).
//
// The statements see: q, mid, sc (where the streams of the matrix begin: q in vec4<u32>, the others in words), b (the
// block's number), s (which 16 elements of the block). They end with `return`. Products in floats and those in integers
// share them: see Unit.
import { kWeightTypes } from '../layout.js'
import type { Shader } from './common.js'

/** Helpers that the rows below share. Sixteen: elements 0..15 as four vectors. */
const kTypeHelpers = /* wgsl */ `
alias Sixteen = array<vec4<f32>, 4>;
fn word(at: u32) -> u32 { return weights[at >> 2u][at & 3u]; }
fn half(at: u32, i: u32) -> f32 { return unpack2x16float(word(at + (i >> 1u)))[i & 1u]; }
fn byte(at: u32, i: u32) -> u32 { return extractBits(word(at + (i >> 2u)), 8u * (i & 3u), 8u); }
// Bits first .. first + 3 of v.
fn bits_of(v: u32, first: u32) -> vec4<f32> {
  return vec4<f32>((vec4<u32>(v) >> (vec4<u32>(0u, 1u, 2u, 3u) + first)) & vec4<u32>(1u));
}
fn scaled4(a: f32, q: Sixteen, c: f32) -> Sixteen {
  return Sixteen(a * q[0] + c, a * q[1] + c, a * q[2] + c, a * q[3] + c);
}
// Sixteen bytes of 4, 2 or 1 bits, of which the lowest is bit \`shift\` of each byte.
fn nibbles(v: vec4<u32>, shift: u32) -> vec4<u32> { return (v >> vec4<u32>(shift)) & vec4<u32>(0x0f0f0f0fu); }
fn pairs(v: vec4<u32>, shift: u32) -> vec4<u32> { return (v >> vec4<u32>(shift)) & vec4<u32>(0x03030303u); }
fn bits(v: vec4<u32>, shift: u32) -> vec4<u32> { return (v >> vec4<u32>(shift)) & vec4<u32>(0x01010101u); }
// A byte for each of the lowest sixteen bits.
fn spread(v: u32) -> vec4<u32> {
  return (((vec4<u32>(v) >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(15u)) * 0x00204081u) & vec4<u32>(0x01010101u);
}
`

/** Entries of a table of sixteen signed bytes, packed into four words, by nibbles. */
const table16 = (name: string, values: readonly number[]): string => {
  const words = [0, 4, 8, 12].map((at) =>
    values.slice(at, at + 4).reduce((word, value, i) => (word | ((value & 255) << (8 * i))) >>> 0, 0),
  )
  return /* wgsl */ `
fn ${name}(v: u32, shift: u32) -> vec4<f32> {
  let table = vec4<u32>(${words.map((word) => `${word}u`).join(', ')});
  let q = unpack4xU8((v >> shift) & 0x0f0f0f0fu);
  let w = vec4<u32>(table[q.x >> 2u], table[q.y >> 2u], table[q.z >> 2u], table[q.w >> 2u]);
  return vec4<f32>(bitcast<vec4<i32>>(w << (vec4<u32>(24u) - 8u * (q & vec4<u32>(3u)))) >> vec4<u32>(24u));
}
`
}

const kIq4 = table16('iq4', [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113])
const kE2m1 = table16('e2m1', [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12])

/** Codebooks: codes of 16 bits in the vectors' buffer, from codes_at of the matrix on, two in a word. */
const kCodes = /* wgsl */ `
fn code(at: u32, i: u32) -> u32 { return (bitcast<u32>(vector_at(at + (i >> 1u))) >> (16u * (i & 1u))) & 0xffffu; }
fn signs(bits: u32, first: u32) -> vec4<f32> { return 1.0 - 2.0 * bits_of(bits, first); }
fn even_signs(bits7: u32) -> u32 { return bits7 | ((countOneBits(bits7) & 1u) << 7u); }
`
/** Elements first .. first + 3 of a code whose elements have two bits: level 0, 1, 2 -> a, a + b, ... */
const kCodes2 = /* wgsl */ `
fn levels2(code: u32, first: u32) -> vec4<f32> {
  return vec4<f32>((vec4<u32>(code) >> (2u * (vec4<u32>(0u, 1u, 2u, 3u) + first))) & vec4<u32>(3u));
}
// The magnitudes 8, 25, 43.
fn iq2(code: u32, first: u32) -> vec4<f32> {
  let q = levels2(code, first);
  return 8.0 + 17.0 * q + 0.5 * q * (q - 1.0);
}
fn iq2_16(a: u32, b: u32, signs_a: u32, signs_b: u32, d: f32) -> Sixteen {
  return Sixteen(d * iq2(a, 0u) * signs(signs_a, 0u), d * iq2(a, 4u) * signs(signs_a, 4u),
                 d * iq2(b, 0u) * signs(signs_b, 0u), d * iq2(b, 4u) * signs(signs_b, 4u));
}
fn iq1_8(code: u32, first: u32, d: f32, shift: f32) -> vec4<f32> { return d * (levels2(code, first) - 1.0 + shift); }
`
const kCodes3 = /* wgsl */ `
fn levels3(code: u32) -> vec4<f32> {
  return vec4<f32>((vec4<u32>(code) >> vec4<u32>(0u, 3u, 6u, 9u)) & vec4<u32>(7u));
}
`
/** Scale and minimum t of Q4_K and Q5_K, whose first vector is v: 12 bytes with 8 pairs of 6 bits. */
const kScaleMin = /* wgsl */ `
fn scale_min(v: vec4<u32>, t: u32) -> vec2<f32> {
  let dm = unpack2x16float(v.x);
  let i = 8u * (t & 3u);
  let a = extractBits(v.y, i, 8u);
  let b = extractBits(v.z, i, 8u);
  let c = extractBits(v.w, i, 8u);
  if (t < 4u) { return vec2<f32>(dm.x * f32(a & 63u), dm.y * f32(b & 63u)); }
  return vec2<f32>(dm.x * f32((c & 15u) | ((a >> 6u) << 4u)), dm.y * f32((c >> 4u) | ((b >> 6u) << 4u)));
}
`

/** 0 behind the end of a row. */
const kTail = /* wgsl */ `
fn tail(has: bool, v: vec4<f32>) -> vec4<f32> { return select(vec4<f32>(0.0), v, has); }
`

/** Either `linear` or `read`. */
interface TypeRow {
  /** statements that return linear(d, q, c): 16 elements d * byte + c, or linear_signed(d, q) for signed bytes without c */
  readonly linear?: string
  /** statements that return 16 elements as Sixteen */
  readonly read?: string
  /** functions that they call */
  readonly helpers?: readonly string[]
  /**
   * of types without blocks: vectors of 8 elements. Their rows have a multiple of 8 elements, so the last 8 may be missing (of F32 a
   * multiple of 4, of which the readers leave out what is behind the end);
   * the statements see `first` (the first vector) and `both` (whether all 16 elements exist) instead of b and s.
   */
  readonly vectors?: number
}

const kSubBlocks = /* wgsl */ `let n = s >> 3u; let j = (s >> 1u) & 3u; let i = s & 1u;`

/** The rows by ggml's names. */
const kTypeRows: Readonly<Record<string, TypeRow>> = {
  F32: {
    read: /* wgsl */ `return Sixteen(floats(first), floats(first + 1u), tail(both, floats(first + 2u)), tail(both, floats(first + 3u)));`,
    helpers: [
      kTail,
      /* wgsl */ `
fn floats(at: u32) -> vec4<f32> { return bitcast<vec4<f32>>(weights[at]); }
`,
    ],
    vectors: 2,
  },
  F16: {
    read: /* wgsl */ `let v = weights[first]; let z = weights[first + 1u];
    return Sixteen(halves(v.xy), halves(v.zw), tail(both, halves(z.xy)), tail(both, halves(z.zw)));`,
    helpers: [
      kTail,
      /* wgsl */ `
fn halves(v: vec2<u32>) -> vec4<f32> { return vec4<f32>(unpack2x16float(v.x), unpack2x16float(v.y)); }
`,
    ],
    vectors: 1,
  },
  BF16: {
    read: /* wgsl */ `let v = weights[first]; let z = weights[first + 1u];
    return Sixteen(bf16(v.xy), bf16(v.zw), tail(both, bf16(z.xy)), tail(both, bf16(z.zw)));`,
    helpers: [
      kTail,
      /* wgsl */ `
fn bf16(v: vec2<u32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(vec4<u32>(v.x << 16u, v.x & 0xffff0000u, v.y << 16u, v.y & 0xffff0000u));
}
`,
    ],
    vectors: 1,
  },
  Q4_0: {
    linear: /* wgsl */ `let d = half(sc, b); return linear(d, nibbles(weights[q + b], 4u * s), -8.0 * d);`,
  },
  Q4_1: {
    linear: /* wgsl */ `let d = unpack2x16float(word(mid + b)); return linear(d.x, nibbles(weights[q + b], 4u * s), d.y);`,
  },
  Q5_0: {
    linear: /* wgsl */ `let d = half(sc, b); let high = spread(word(mid + b) >> (16u * s));
    return linear(d, nibbles(weights[q + b], 4u * s) | (high << vec4<u32>(4u)), -16.0 * d);`,
  },
  Q5_1: {
    linear: /* wgsl */ `let d = unpack2x16float(word(mid + 2u * b)); let high = spread(word(mid + 2u * b + 1u) >> (16u * s));
    return linear(d.x, nibbles(weights[q + b], 4u * s) | (high << vec4<u32>(4u)), d.y);`,
  },
  Q8_0: { linear: /* wgsl */ `return linear_signed(half(sc, b), weights[q + 2u * b + s]);` },
  Q8_1: {
    linear: /* wgsl */ `return linear_signed(unpack2x16float(word(mid + b)).x, weights[q + 2u * b + s]);`,
  },
  Q2_K: {
    linear: /* wgsl */ `${kSubBlocks}
    let scale = byte(mid + 5u * b, s); let d = unpack2x16float(word(mid + 5u * b + 4u));
    return linear(d.x * f32(scale & 15u), pairs(weights[q + 4u * b + 2u * n + i], 2u * j), -d.y * f32(scale >> 4u));`,
  },
  Q3_K: {
    linear: /* wgsl */ `${kSubBlocks}
    let low = byte(mid + 3u * b, s & 7u) >> (4u * (s >> 3u));
    let high = byte(mid + 3u * b, 8u + (s & 3u)) >> (2u * (s >> 2u));
    let d = half(sc, b) * (f32((low & 15u) | ((high & 3u) << 4u)) - 32.0);
    let third = bits(weights[q + 6u * b + i], 4u * n + j);
    return linear(d, pairs(weights[q + 6u * b + 2u + 2u * n + i], 2u * j) | (third << vec4<u32>(2u)), -4.0 * d);`,
  },
  Q4_K: {
    linear: /* wgsl */ `let t = s >> 1u; let d = scale_min(weights[q + 9u * b], t);
    return linear(d.x, nibbles(weights[q + 9u * b + 1u + 2u * (t >> 1u) + (s & 1u)], 4u * (t & 1u)), -d.y);`,
    helpers: [kScaleMin],
  },
  Q5_K: {
    linear: /* wgsl */ `let t = s >> 1u; let d = scale_min(weights[q + 11u * b], t);
    let low = nibbles(weights[q + 11u * b + 3u + 2u * (t >> 1u) + (s & 1u)], 4u * (t & 1u));
    return linear(d.x, low | (bits(weights[q + 11u * b + 1u + (s & 1u)], t) << vec4<u32>(4u)), -d.y);`,
    helpers: [kScaleMin],
  },
  Q6_K: {
    linear: /* wgsl */ `${kSubBlocks}
    let scale = f32(extractBits(bitcast<i32>(word(mid + 4u * b + (s >> 2u))), 8u * (s & 3u), 8u));
    let d = half(sc, b) * scale;
    let low = nibbles(weights[q + 12u * b + 4u * n + 2u * (j & 1u) + i], 4u * (j >> 1u));
    let high = pairs(weights[q + 12u * b + 8u + 2u * n + i], 2u * j);
    return linear(d, low | (high << vec4<u32>(4u)), -32.0 * d);`,
  },
  Q8_K: {
    linear: /* wgsl */ `return linear_signed(bitcast<f32>(word(mid + b)), weights[q + 16u * b + s]);`,
  },
  IQ4_NL: {
    read: /* wgsl */ `let v = weights[q + b]; let t = 4u * s;
    return scaled4(half(sc, b), Sixteen(iq4(v.x, t), iq4(v.y, t), iq4(v.z, t), iq4(v.w, t)), 0.0);`,
    helpers: [kIq4],
  },
  IQ4_XS: {
    read: /* wgsl */ `let t = s >> 1u; let first = word(mid + 2u * b);
    let low = extractBits(word(mid + 2u * b + 1u), 4u * t, 4u); let high = extractBits(first, 16u + 2u * t, 2u);
    let d = unpack2x16float(first).x * (f32(low | (high << 4u)) - 32.0);
    let v = weights[q + 8u * b + t]; let shift = 4u * (s & 1u);
    return scaled4(d, Sixteen(iq4(v.x, shift), iq4(v.y, shift), iq4(v.z, shift), iq4(v.w, shift)), 0.0);`,
    helpers: [kIq4],
  },
  TQ1_0: {
    read: /* wgsl */ `let d = half(sc, b);
    if (s == 15u) {
      let h = word(mid + b);
      return scaled4(d, Sixteen(trits(h, 1u), trits(h, 3u), trits(h, 9u), trits(h, 27u)), -d);
    }
    let n = select(s - 10u, s >> 1u, s < 10u);
    let v = weights[q + 3u * b + select(2u, s & 1u, s < 10u)];
    let power = array<u32, 5>(1u, 3u, 9u, 27u, 81u)[n];
    return scaled4(d, Sixteen(trits(v.x, power), trits(v.y, power), trits(v.z, power), trits(v.w, power)), -d);`,
    helpers: [
      /* wgsl */ `
fn trits(v: u32, power: u32) -> vec4<f32> {
  return vec4<f32>((((unpack4xU8(v) * power) & vec4<u32>(255u)) * 3u) >> vec4<u32>(8u));
}
`,
    ],
  },
  TQ2_0: {
    linear: /* wgsl */ `${kSubBlocks}
    let d = half(sc, b); return linear(d, pairs(weights[q + 4u * b + 2u * n + i], 2u * j), -d);`,
  },
  MXFP4: {
    read: /* wgsl */ `let e = byte(sc, b);
    let d = select(bitcast<f32>((e - 1u) << 23u), bitcast<f32>(0x00200000u << e), e < 2u);
    let v = weights[q + b]; let t = 4u * s;
    return scaled4(d, Sixteen(e2m1(v.x, t), e2m1(v.y, t), e2m1(v.z, t), e2m1(v.w, t)), 0.0);`,
    helpers: [kE2m1],
  },
  NVFP4: {
    read: /* wgsl */ `let d = half_ue4m3(byte(mid + b, s));
    let all = weights[q + 2u * b + (s >> 1u)]; let v = select(all.xy, all.zw, (s & 1u) != 0u);
    return scaled4(d, Sixteen(e2m1(v.x, 0u), e2m1(v.y, 0u), e2m1(v.x, 4u), e2m1(v.y, 4u)), 0.0);`,
    helpers: [
      kE2m1,
      /* wgsl */ `
// Half of an unsigned E4M3. 0 and 127 (NaN) are 0, as in ggml.
fn half_ue4m3(x: u32) -> f32 {
  if (x == 0u || x == 127u) { return 0.0; }
  let e = (x >> 3u) & 15u;
  if (e == 0u) { return f32(x & 7u) * 0.0009765625; }
  return bitcast<f32>(((e + 119u) << 23u) | ((x & 7u) << 20u));
}
`,
    ],
  },
  Q1_0: {
    read: /* wgsl */ `let d = half(sc, b); let v = word(4u * (q + b) + (s >> 1u)) >> (16u * (s & 1u));
    return scaled4(2.0 * d, Sixteen(bits_of(v, 0u), bits_of(v, 4u), bits_of(v, 8u), bits_of(v, 12u)), -d);`,
  },
  Q2_0: {
    read: /* wgsl */ `let d = half(sc, b); let v = weights[q + b][s];
    return scaled4(d, Sixteen(fields2(v, 0u), fields2(v, 8u), fields2(v, 16u), fields2(v, 24u)), -d);`,
    helpers: [
      /* wgsl */ `
fn fields2(v: u32, first: u32) -> vec4<f32> {
  return vec4<f32>((vec4<u32>(v) >> (vec4<u32>(0u, 2u, 4u, 6u) + first)) & vec4<u32>(3u));
}
`,
    ],
  },
  IQ2_XXS: {
    read: /* wgsl */ `let at = 4u * (q + 4u * b) + 2u * (s >> 1u); let l = 2u * (s & 1u);
    let index = word(at); let rest = word(at + 1u);
    let d = half(sc, b) * (0.5 + f32(rest >> 28u)) * 0.25;
    return iq2_16(code(codes, extractBits(index, 8u * l, 8u)), code(codes, extractBits(index, 8u * l + 8u, 8u)),
      even_signs(extractBits(rest, 7u * l, 7u)), even_signs(extractBits(rest, 7u * l + 7u, 7u)), d);`,
    helpers: [kCodes, kCodes2],
  },
  IQ2_XS: {
    read: /* wgsl */ `let v = word(4u * (q + 4u * b) + s);
    let scale = (byte(mid + 2u * b, s >> 1u) >> (4u * (s & 1u))) & 15u;
    let d = half(sc, b) * (0.5 + f32(scale)) * 0.25;
    return iq2_16(code(codes, v & 511u), code(codes, (v >> 16u) & 511u), even_signs((v >> 9u) & 127u),
      even_signs(v >> 25u), d);`,
    helpers: [kCodes, kCodes2],
  },
  IQ2_S: {
    read: /* wgsl */ `let at = 4u * (q + 4u * b); let shift = 16u * (s & 1u);
    let low = word(at + (s >> 1u)) >> shift; let sign = word(at + 8u + (s >> 1u)) >> shift;
    let high = byte(mid + 4u * b, s >> 1u) >> (4u * (s & 1u));
    let scale = (byte(mid + 4u * b + 2u, s >> 1u) >> (4u * (s & 1u))) & 15u;
    let d = half(sc, b) * (0.5 + f32(scale)) * 0.25;
    return iq2_16(code(codes, (low & 255u) | ((high & 3u) << 8u)), code(codes, ((low >> 8u) & 255u) | ((high & 12u) << 6u)),
      sign & 255u, (sign >> 8u) & 255u, d);`,
    helpers: [kCodes, kCodes2],
  },
  IQ3_XXS: {
    read: /* wgsl */ `let index = word(4u * (q + 6u * b) + s); let rest = word(4u * (q + 6u * b) + 16u + (s >> 1u));
    let d = half(sc, b) * (0.5 + f32(rest >> 28u)) * 0.5; let l = 14u * (s & 1u);
    let a = even_signs(extractBits(rest, l, 7u)); let c = even_signs(extractBits(rest, l + 7u, 7u));
    return Sixteen(d * iq3_xxs(code(codes, index & 255u)) * signs(a, 0u),
      d * iq3_xxs(code(codes, (index >> 8u) & 255u)) * signs(a, 4u),
      d * iq3_xxs(code(codes, (index >> 16u) & 255u)) * signs(c, 0u),
      d * iq3_xxs(code(codes, index >> 24u)) * signs(c, 4u));`,
    helpers: [
      kCodes,
      kCodes3,
      /* wgsl */ `
// The magnitudes 4, 12, 20, 28, 36, 44, 52, 62.
fn iq3_xxs(code: u32) -> vec4<f32> {
  let q = levels3(code);
  return 4.0 + 8.0 * q + select(vec4<f32>(0.0), vec4<f32>(2.0), q == vec4<f32>(7.0));
}
`,
    ],
  },
  IQ3_S: {
    read: /* wgsl */ `let at = 4u * (q + 6u * b);
    let index = word(at + s); let sign = word(at + 16u + (s >> 1u)) >> (16u * (s & 1u));
    let high = byte(mid + 3u * b, s >> 1u) >> (4u * (s & 1u));
    let scale = (byte(mid + 3u * b + 2u, s >> 2u) >> (4u * ((s >> 1u) & 1u))) & 15u;
    let d = half(sc, b) * f32(1u + 2u * scale);
    return Sixteen(d * iq3_s(code(codes, (index & 255u) | ((high & 1u) << 8u))) * signs(sign, 0u),
      d * iq3_s(code(codes, ((index >> 8u) & 255u) | ((high & 2u) << 7u))) * signs(sign, 4u),
      d * iq3_s(code(codes, ((index >> 16u) & 255u) | ((high & 4u) << 6u))) * signs(sign, 8u),
      d * iq3_s(code(codes, (index >> 24u) | ((high & 8u) << 5u))) * signs(sign, 12u));`,
    helpers: [
      kCodes,
      kCodes3,
      /* wgsl */ `
fn iq3_s(code: u32) -> vec4<f32> { return 1.0 + 2.0 * levels3(code); }
`,
    ],
  },
  IQ1_S: {
    read: /* wgsl */ `let at = 4u * (q + 3u * b);
    let low = word(at + (s >> 1u)) >> (16u * (s & 1u));
    let h = word(at + 8u + (s >> 2u)) >> (16u * ((s >> 1u) & 1u)); let high = h >> (6u * (s & 1u));
    let d = half(sc, b) * f32(2u * ((h >> 12u) & 7u) + 1u); let shift = select(0.125, -0.125, (h & 0x8000u) != 0u);
    let a = code(codes, (low & 255u) | ((high & 7u) << 8u)); let c = code(codes, ((low >> 8u) & 255u) | ((high & 56u) << 5u));
    return Sixteen(iq1_8(a, 0u, d, shift), iq1_8(a, 4u, d, shift), iq1_8(c, 0u, d, shift), iq1_8(c, 4u, d, shift));`,
    helpers: [kCodes, kCodes2],
  },
  IQ1_M: {
    read: /* wgsl */ `let at = 4u * (q + 3u * b);
    let low = word(at + (s >> 1u)) >> (16u * (s & 1u)); let high = byte(at + 8u, s);
    let first = word(mid + 2u * b); let second = word(mid + 2u * b + 1u);
    let bits = ((first >> 12u) & 15u) | ((first >> 24u) & 0xf0u) | ((second >> 4u) & 0xf00u) | ((second >> 16u) & 0xf000u);
    let group = select(first, second, s >= 8u) >> (16u * ((s >> 2u) & 1u));
    let d = unpack2x16float(bits).x * f32(2u * ((group >> (3u * (s & 3u))) & 7u) + 1u);
    let a = code(codes, (low & 255u) | ((high & 7u) << 8u)); let c = code(codes, ((low >> 8u) & 255u) | ((high & 0x70u) << 4u));
    let x = select(0.125, -0.125, (high & 8u) != 0u); let y = select(0.125, -0.125, (high & 128u) != 0u);
    return Sixteen(iq1_8(a, 0u, d, x), iq1_8(a, 4u, d, x), iq1_8(c, 0u, d, y), iq1_8(c, 4u, d, y));`,
    helpers: [kCodes, kCodes2],
  },
}

/** Unit: 16 elements as a product reads them, here as floats. unit_of() makes it of activations. */
const kFloatUnits = /* wgsl */ `
alias Unit = Sixteen;
fn linear(d: f32, q: vec4<u32>, c: f32) -> Unit {
  return Unit(d * vec4<f32>(unpack4xU8(q.x)) + c, d * vec4<f32>(unpack4xU8(q.y)) + c,
              d * vec4<f32>(unpack4xU8(q.z)) + c, d * vec4<f32>(unpack4xU8(q.w)) + c);
}
fn linear_signed(d: f32, q: vec4<u32>) -> Unit {
  return Unit(d * vec4<f32>(unpack4xI8(q.x)), d * vec4<f32>(unpack4xI8(q.y)),
              d * vec4<f32>(unpack4xI8(q.z)), d * vec4<f32>(unpack4xI8(q.w)));
}
fn unit_of(v: Sixteen) -> Unit { return v; }
fn dot16(a: Unit, b: Unit) -> f32 {
  return dot(a[0], b[0]) + dot(a[1], b[1]) + dot(a[2], b[2]) + dot(a[3], b[3]);
}
`
/**
 * Or as signed bytes: of weights d * byte + c, of activations d * byte, of which c is the sum. A unit has a scale of its own,
 * so no lane needs another's.
 */
const kIntegerUnits = /* wgsl */ `
struct Unit { q: vec4<u32>, d: f32, c: f32 }
fn linear(d: f32, q: vec4<u32>, c: f32) -> Unit { return Unit(q, d, c); }
fn linear_signed(d: f32, q: vec4<u32>) -> Unit { return Unit(q, d, 0.0); }
fn dot_bytes(a: vec4<u32>, b: vec4<u32>) -> i32 {
  return dot4I8Packed(a.x, b.x) + dot4I8Packed(a.y, b.y) + dot4I8Packed(a.z, b.z) + dot4I8Packed(a.w, b.w);
}
fn unit_of(v: Sixteen) -> Unit {
  let all = max(max(abs(v[0]), abs(v[1])), max(abs(v[2]), abs(v[3])));
  let d = max(max(all.x, all.y), max(all.z, all.w)) / 127.0;
  let f = select(0.0, 1.0 / d, d > 0.0);
  let q = vec4<u32>(pack4xI8(vec4<i32>(round(f * v[0]))), pack4xI8(vec4<i32>(round(f * v[1]))),
                    pack4xI8(vec4<i32>(round(f * v[2]))), pack4xI8(vec4<i32>(round(f * v[3]))));
  return Unit(q, d, d * f32(dot_bytes(q, vec4<u32>(0x01010101u))));
}
fn dot16(a: Unit, b: Unit) -> f32 { return a.d * b.d * f32(dot_bytes(a.q, b.q)) + a.c * b.c; }
`

/** Whether the variant multiplies integers: that is asked for, and all types are linear. */
export const isInteger = ({ kernel, variant, options }: Shader): boolean =>
  options.integers &&
  kernel !== 'embed' &&
  variant.types.every((type) => kTypeRows[kWeightTypes.get(type)!.name]!.linear)

/** Whether the type needs a codebook. */
const hasCodes = (type: number): boolean => /^IQ[123]/.test(kWeightTypes.get(type)!.name)

/**
 * The function `read16(m, row, u)`: elements 16u .. 16u + 15 of row `row` of matrix m, where row counts from the
 * beginning of its streams. Elements behind the row's end are 0. It returns a Unit; dot16() multiplies two of them.
 */
export function readWeights(shader: Shader, nIn = 'p.n_in'): string {
  const { types } = shader.variant
  const unique = [...new Set(types)]
  const helpers = new Set<string>([kTypeHelpers, isInteger(shader) ? kIntegerUnits : kFloatUnits])
  const functions = unique.map((id) => {
    const { name, elements } = kWeightTypes.get(id)!
    const row = kTypeRows[name]!
    for (const helper of row.helpers ?? []) helpers.add(helper)
    const place =
      row.vectors === undefined
        ? `let b = row * (${nIn} / ${elements}u) + u / ${elements / 16}u;
  let s = u % ${elements / 16}u;`
        : `let first = q + row * (${nIn} / ${8 / row.vectors}u) + ${2 * row.vectors}u * u;
  let both = 16u * u + 8u < ${nIn};`
    return /* wgsl */ `
fn read_${name.toLowerCase()}(m: u32, row: u32, u: u32) -> Unit {
  let q = p.matrices[m].quants_at >> 2u;
  let mid = p.matrices[m].middles_at;
  let sc = p.matrices[m].scales_at;
  ${hasCodes(id) ? 'let codes = p.matrices[m].codes_at;' : ''}
  ${place}
  ${row.linear ?? row.read}
}
`
  })
  const calls = types.map((id) => `read_${kWeightTypes.get(id)!.name.toLowerCase()}(m, row, u)`)
  const cases = calls.slice(1).map((call, i) => `if (m == ${i + 1}u) { return ${call}; }`)
  const body = unique.length === 1 ? '' : cases.join('\n  ')
  return `${[...helpers].join('')}${functions.join('')}
fn read16(m: u32, row: u32, u: u32) -> Unit {
  ${body}
  return ${calls[0]};
}
`
}
