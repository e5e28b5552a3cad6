// Which type each tensor of a model gets, by the names that people know the mixtures of llama.cpp by: most tensors get
// the main type, those that errors hurt most a wider one. A row a mixture.

export type TensorKind =
  'output' | 'embedding' | 'attn_q' | 'attn_k' | 'attn_v' | 'attn_output' | 'ffn_gate' | 'ffn_up' | 'ffn_down'

/** Where a tensor stands. */
export interface Place {
  readonly layer: number
  readonly layers: number
  /** query heads that share one key */
  readonly groupedHeads: number
  readonly experts: number
  readonly falcon: boolean
  /** 80 layers, keys shared by 8: the 70B models of Llama 2 and 3, whose small attn_v is cheap to keep */
  readonly large: boolean
  readonly hasImportance: boolean
}

type Choice = string | ((at: Place) => string | undefined)

export interface Mixture {
  /** general.file_type */
  readonly fileType: number
  readonly type: string
  readonly kinds?: { readonly [Kind in TensorKind]?: Choice }
}

/** The first layers, the last ones and each third between. */
const inSensitiveLayers = ({ layer, layers }: Place): boolean => {
  const eighth = Math.floor(layers / 8)
  return layer < eighth || layer >= Math.floor((7 * layers) / 8) || (layer - eighth) % 3 === 2
}
const sensitive =
  (type: string): Choice =>
  (at) =>
    inSensitiveLayers(at) ? type : undefined
/** In the first 1/nth of the layers. */
const early = ({ layer, layers }: Place, n: number): boolean => layer < Math.floor(layers / n)
const grouped =
  (type: string, otherwise?: string): Choice =>
  ({ groupedHeads }) =>
    groupedHeads >= 4 ? type : otherwise
/** Of models with eight experts the attention is a small part: it keeps more bits. */
const unlessEight =
  (eight: string, otherwise?: Choice): Choice =>
  (at) =>
    at.experts === 8 ? eight : typeof otherwise === 'function' ? otherwise(at) : otherwise
const largeOr =
  (large: string, otherwise: Choice): Choice =>
  (at) => {
    const type = typeof otherwise === 'function' ? otherwise(at) : otherwise
    return at.large && (type === undefined || type === 'Q3_K' || type === 'Q4_K') ? large : type
  }

/** Below 3 bits a weight. */
const tiny = (
  better: string,
  embedding: string,
  attentionOutput?: string,
): NonNullable<Mixture['kinds']> => ({
  output: 'Q5_K',
  embedding,
  attn_v: ({ groupedHeads, experts }) => (groupedHeads >= 4 || experts >= 4 ? 'Q4_K' : better),
  attn_k: unlessEight('Q4_K'),
  ffn_down: (at) => (early(at, 8) ? better : undefined),
  attn_output: unlessEight('Q5_K', attentionOutput),
})
const kIq4 = {
  attn_v: unlessEight('Q8_0', grouped('Q5_K')),
  attn_k: unlessEight('Q8_0'),
  ffn_down: (at: Place) => (early(at, 8) && !at.hasImportance ? 'Q5_K' : undefined),
  attn_output: unlessEight('Q5_K'),
}
const kIq3Middle = ({ layer, layers }: Place): string | undefined =>
  layer >= Math.floor(layers / 8) && layer < Math.floor((7 * layers) / 8) ? 'IQ3_XXS' : undefined
const kEight = { attn_v: unlessEight('Q8_0'), attn_k: unlessEight('Q8_0') }
const kExpertsOutput = unlessEight('Q5_K')

export const kMixtures: Readonly<Record<string, Mixture>> = {
  F32: { fileType: 0, type: 'F32' },
  F16: { fileType: 1, type: 'F16' },
  BF16: { fileType: 32, type: 'BF16' },
  Q8_0: { fileType: 7, type: 'Q8_0', kinds: kEight },
  Q4_0: {
    fileType: 2,
    type: 'Q4_0',
    kinds: { ...kEight, ffn_down: (at) => (at.hasImportance && early(at, 8) ? 'Q4_1' : undefined) },
  },
  Q4_1: { fileType: 3, type: 'Q4_1', kinds: kEight },
  Q5_0: {
    fileType: 8,
    type: 'Q5_0',
    kinds: { ...kEight, ffn_down: (at) => (at.hasImportance && early(at, 8) ? 'Q5_1' : undefined) },
  },
  Q5_1: { fileType: 9, type: 'Q5_1', kinds: kEight },
  Q2_K: {
    fileType: 10,
    type: 'Q2_K',
    kinds: {
      attn_v: unlessEight('Q8_0', largeOr('Q5_K', grouped('Q4_K', 'Q3_K'))),
      attn_k: unlessEight('Q8_0'),
      ffn_down: 'Q3_K',
      attn_output: unlessEight('Q5_K', 'Q3_K'),
    },
  },
  Q2_K_S: {
    fileType: 21,
    type: 'Q2_K',
    kinds: {
      attn_v: unlessEight('Q8_0', grouped('Q4_K')),
      attn_k: unlessEight('Q8_0'),
      ffn_down: (at) => (early(at, 8) ? 'Q4_K' : undefined),
    },
  },
  Q3_K_S: {
    fileType: 11,
    type: 'Q3_K',
    kinds: {
      attn_v: unlessEight(
        'Q8_0',
        largeOr('Q5_K', () => undefined),
      ),
      attn_k: unlessEight('Q8_0'),
      attn_output: kExpertsOutput,
    },
  },
  Q3_K_M: {
    fileType: 12,
    type: 'Q3_K',
    kinds: {
      attn_v: unlessEight(
        'Q8_0',
        largeOr('Q5_K', ({ layer }) => (layer < 2 ? 'Q5_K' : 'Q4_K')),
      ),
      attn_k: unlessEight('Q8_0'),
      ffn_down: (at) => (early(at, 16) ? 'Q5_K' : !at.falcon || inSensitiveLayers(at) ? 'Q4_K' : undefined),
      attn_output: unlessEight('Q5_K', 'Q4_K'),
    },
  },
  Q3_K_L: {
    fileType: 13,
    type: 'Q3_K',
    kinds: {
      attn_v: unlessEight('Q8_0', 'Q5_K'),
      attn_k: unlessEight('Q8_0'),
      ffn_down: ({ falcon }) => (falcon ? 'Q4_K' : 'Q5_K'),
      attn_output: ({ experts }) => (experts === 8 ? undefined : 'Q5_K'),
    },
  },
  Q4_K_S: {
    fileType: 14,
    type: 'Q4_K',
    kinds: {
      attn_v: unlessEight(
        'Q8_0',
        largeOr('Q5_K', ({ layer }) => (layer < 4 ? 'Q5_K' : undefined)),
      ),
      attn_k: unlessEight('Q8_0'),
      ffn_down: (at) => (!at.falcon && early(at, 8) ? 'Q5_K' : undefined),
      attn_output: kExpertsOutput,
    },
  },
  Q4_K_M: {
    fileType: 15,
    type: 'Q4_K',
    kinds: {
      attn_v: unlessEight('Q8_0', largeOr('Q5_K', sensitive('Q6_K'))),
      attn_k: unlessEight('Q8_0'),
      ffn_down: (at) =>
        at.falcon
          ? early(at, 16)
            ? 'Q6_K'
            : inSensitiveLayers(at)
              ? 'Q5_K'
              : undefined
          : inSensitiveLayers(at)
            ? 'Q6_K'
            : undefined,
      attn_output: kExpertsOutput,
    },
  },
  Q5_K_S: { fileType: 16, type: 'Q5_K', kinds: kEight },
  Q5_K_M: {
    fileType: 17,
    type: 'Q5_K',
    kinds: {
      attn_v: unlessEight('Q8_0', sensitive('Q6_K')),
      attn_k: unlessEight('Q8_0'),
      ffn_down: sensitive('Q6_K'),
    },
  },
  Q6_K: { fileType: 18, type: 'Q6_K', kinds: kEight },
  IQ1_S: { fileType: 24, type: 'IQ1_S', kinds: tiny('Q2_K', 'Q2_K', 'IQ2_XXS') },
  IQ1_M: { fileType: 31, type: 'IQ1_M', kinds: tiny('Q2_K', 'Q2_K', 'IQ2_XXS') },
  IQ2_XXS: { fileType: 19, type: 'IQ2_XXS', kinds: tiny('Q2_K', 'Q2_K') },
  IQ2_XS: { fileType: 20, type: 'IQ2_XS', kinds: tiny('Q2_K', 'Q2_K') },
  IQ2_S: { fileType: 28, type: 'IQ2_XS', kinds: tiny('IQ3_S', 'IQ3_S', 'IQ3_S') },
  IQ2_M: { fileType: 29, type: 'IQ2_S', kinds: tiny('IQ3_S', 'IQ3_S', 'IQ3_S') },
  IQ3_XXS: {
    fileType: 23,
    type: 'IQ3_XXS',
    kinds: {
      output: 'Q5_K',
      embedding: 'IQ3_S',
      attn_v: unlessEight('Q8_0', (at) =>
        at.groupedHeads >= 4 ? 'Q4_K' : at.hasImportance ? undefined : 'IQ3_S',
      ),
      attn_k: unlessEight('Q8_0', 'IQ2_S'),
      attn_q: 'IQ2_S',
      ffn_down: (at) => (at.hasImportance ? undefined : early(at, 8) ? 'Q4_K' : 'Q3_K'),
      attn_output: unlessEight('Q5_K', 'IQ3_S'),
    },
  },
  IQ3_XS: {
    fileType: 22,
    type: 'IQ3_S',
    kinds: {
      attn_v: unlessEight('Q8_0', grouped('Q4_K')),
      attn_k: unlessEight('Q8_0', 'IQ3_XXS'),
      attn_q: 'IQ3_XXS',
      attn_output: kExpertsOutput,
      ffn_gate: kIq3Middle,
      ffn_up: kIq3Middle,
    },
  },
  IQ3_S: {
    fileType: 26,
    type: 'IQ3_S',
    kinds: {
      attn_v: unlessEight('Q8_0', grouped('Q4_K')),
      attn_k: unlessEight('Q8_0'),
      attn_output: kExpertsOutput,
    },
  },
  IQ3_M: {
    fileType: 27,
    type: 'IQ3_S',
    kinds: {
      attn_v: unlessEight('Q8_0', 'Q4_K'),
      attn_k: unlessEight('Q8_0'),
      ffn_down: (at) => (early(at, 8) || (at.experts === 8 && inSensitiveLayers(at)) ? 'Q4_K' : undefined),
      attn_output: unlessEight('Q5_K', 'Q4_K'),
    },
  },
  IQ4_NL: { fileType: 25, type: 'IQ4_NL', kinds: kIq4 },
  IQ4_XS: { fileType: 30, type: 'IQ4_XS', kinds: kIq4 },
  TQ1_0: { fileType: 36, type: 'TQ1_0', kinds: { ...kEight, embedding: 'Q4_K' } },
  TQ2_0: { fileType: 37, type: 'TQ2_0', kinds: { ...kEight, embedding: 'Q4_K' } },
  MXFP4_MOE: { fileType: 38, type: 'MXFP4' },
  NVFP4: { fileType: 39, type: 'NVFP4' },
  Q1_0: { fileType: 40, type: 'Q1_0', kinds: kEight },
  Q2_0: { fileType: 41, type: 'Q2_0', kinds: { ...kEight, embedding: 'Q4_K' } },
}

/** Names that people also give. */
export const kOtherNames: Readonly<Record<string, string>> = {
  Q3_K: 'Q3_K_M',
  Q4_K: 'Q4_K_M',
  Q5_K: 'Q5_K_M',
}

/** Rows that are no whole blocks of a type take one of smaller blocks. */
export const kSmallerBlocks: Readonly<Record<string, string>> = {
  TQ1_0: 'Q4_0',
  TQ2_0: 'Q4_0',
  IQ1_S: 'IQ4_NL',
  IQ1_M: 'IQ4_NL',
  IQ2_XXS: 'IQ4_NL',
  IQ2_XS: 'IQ4_NL',
  IQ2_S: 'IQ4_NL',
  IQ3_XXS: 'IQ4_NL',
  IQ3_S: 'IQ4_NL',
  IQ4_XS: 'IQ4_NL',
  Q2_K: 'IQ4_NL',
  Q3_K: 'IQ4_NL',
  Q4_K: 'Q5_0',
  Q5_K: 'Q5_1',
  Q6_K: 'Q8_0',
}

// Small or sensitive beyond their size: they stay what they are.
const kKept = [
  '_norm.weight',
  'ffn_gate_inp.weight',
  'altup',
  'laurel',
  'per_layer_model_proj',
  'ssm_conv1d',
  'shortconv.conv.weight',
  'time_mix_first.weight',
  'time_mix_w0.weight',
  'time_mix_w1.weight',
  'time_mix_w2.weight',
  'time_mix_v0.weight',
  'time_mix_v1.weight',
  'time_mix_v2.weight',
  'time_mix_a0.weight',
  'time_mix_a1.weight',
  'time_mix_a2.weight',
  'time_mix_g1.weight',
  'time_mix_g2.weight',
  'time_mix_decay_w1.weight',
  'time_mix_decay_w2.weight',
  'time_mix_lerp_fused.weight',
  'attn_rel_b.weight',
  '.position_embd',
]
const kKeptWhole = new Set(['position_embd.weight', 'token_types.weight'])

/** Whether a mixture says anything of the tensor: matrices of weights, but for those that the rest depends on. */
export function isWeights(name: string, shape: readonly number[]): boolean {
  const dimensions = shape.findLastIndex((n) => n !== 1) + 1
  return (
    dimensions >= 2 &&
    name.endsWith('weight') &&
    !kKeptWhole.has(name) &&
    !kKept.some((part) => name.includes(part))
  )
}

const kKinds: readonly (readonly [part: string, kind: TensorKind])[] = [
  // Where one matrix gives queries, keys and values, the values decide.
  ['attn_qkv.weight', 'attn_v'],
  ['attn_kv_b.weight', 'attn_v'],
  ['attn_v.weight', 'attn_v'],
  ['attn_k.weight', 'attn_k'],
  ['attn_q.weight', 'attn_q'],
  ['attn_output.weight', 'attn_output'],
  ['ffn_down', 'ffn_down'],
  ['ffn_gate', 'ffn_gate'],
  ['ffn_up', 'ffn_up'],
]

/** tied: there is no output.weight, so that the embeddings are that as well. */
export function kindOf(name: string, tied: boolean): TensorKind | undefined {
  if (name === 'output.weight' || (tied && name === 'token_embd.weight')) return 'output'
  if (name === 'token_embd.weight' || name === 'per_layer_token_embd.weight') return 'embedding'
  return kKinds.find(([part]) => name.includes(part))?.[1]
}

/** The type of a tensor of that kind; before rows are looked at. */
export function typeIn(mixture: Mixture, kind: TensorKind | undefined, at: Place): string {
  // Falcon's output of the attention stays, but for this one.
  if (kind === 'attn_output' && at.falcon) return mixture.fileType === 13 ? 'Q4_K' : mixture.type
  const choice = kind && mixture.kinds?.[kind]
  const type = typeof choice === 'function' ? choice(at) : choice
  if (type !== undefined) return type
  if (kind !== 'output' || mixture.type === 'Q8_0') return mixture.type
  if (['F32', 'F16', 'BF16'].includes(mixture.type)) return mixture.type
  return at.falcon || mixture.fileType === 38 ? 'Q8_0' : 'Q6_K'
}
