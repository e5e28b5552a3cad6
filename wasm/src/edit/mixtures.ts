// The type of each tensor in llama.cpp's mixtures (Q4_K_M, ...). Most tensors get the main type, the most sensitive
// ones a wider type. One row for each mixture, one column for each kind of tensor. The first rule of a cell whose
// conditions hold gives the type; if there is none, the tensor gets the main type.

export type TensorKind =
  | 'output'
  | 'embedding'
  | 'attn_q'
  | 'attn_k'
  | 'attn_v'
  | 'attn_output'
  | 'ffn_gate'
  | 'ffn_up'
  | 'ffn_down'

/** A tensor's position in the model, and properties of the model. */
export interface Place {
  /** number of tensors of its kind before it, in the order of llama.cpp's loader */
  readonly order: number
  /** the same as order; for feed-forward tensors of a model with experts the number in the name */
  readonly layer: number
  /** number of attn_v tensors for attn_v; otherwise number of blocks of the model */
  readonly layers: number
  /** query heads that share one key, in the first block */
  readonly groupedHeads: number
  readonly experts: number
  readonly architecture: string | undefined
  /** whether llama.cpp treats the model as a 70B model */
  readonly is70B: boolean
  readonly hasImportance: boolean
}

const first =
  (part: number) =>
  ({ layer, layers }: Place): boolean =>
    layer < Math.floor(layers / part)
const last = ({ layer, layers }: Place): boolean => layer >= Math.floor((7 * layers) / 8)
const isFalcon = ({ architecture }: Place): boolean => architecture === 'falcon'

const kConditions = {
  '8 experts': ({ experts }: Place) => experts === 8,
  '4 or more experts': ({ experts }: Place) => experts >= 4,
  '4 or more heads a key': ({ groupedHeads }: Place) => groupedHeads >= 4,
  '70B': ({ is70B }: Place) => is70B,
  'no imatrix': ({ hasImportance }: Place) => !hasImportance,
  imatrix: ({ hasImportance }: Place) => hasImportance,
  Falcon: isFalcon,
  'not Falcon': (at: Place) => !isFalcon(at),
  'first two': ({ layer }: Place) => layer < 2,
  'first four': ({ layer }: Place) => layer < 4,
  'first 8th': first(8),
  'first 8th in order': ({ order, layers }: Place) => order < Math.floor(layers / 8),
  'first 16th': first(16),
  'middle six 8ths': (at: Place) => !first(8)(at) && !last(at),
  /** the first 8th, the last one, and each third layer between */
  outer: (at: Place) => first(8)(at) || last(at) || (at.layer - Math.floor(at.layers / 8)) % 3 === 2,
} as const satisfies Record<string, (at: Place) => boolean>
type Condition = keyof typeof kConditions

/** A type, with optional conditions: "Q6_K", "Q6_K if outer", "Q4_K if Falcon and outer" */
type Rule = Choice | `${Choice} if ${Condition}` | `${Choice} if ${Condition} and ${Condition}`
type Choice = `Q${2 | 3 | 4 | 5 | 6}_K` | 'Q8_0' | 'Q4_1' | 'Q5_1' | 'IQ2_XXS' | 'IQ2_S' | 'IQ3_XXS' | 'IQ3_S'
type Cells = { readonly [Kind in TensorKind]?: readonly Rule[] }

export interface Mixture {
  /** general.file_type */
  readonly fileType: number
  readonly type: string
  readonly kinds: Cells
}

const row = (fileType: number, type: string, kinds: Cells = {}): Mixture => ({ fileType, type, kinds })

// In models with eight experts attention is a small part of the weights, so it keeps more bits.
const kV8 = 'Q8_0 if 8 experts'
const kEight: Cells = { attn_v: [kV8], attn_k: [kV8] }
const kOutput8 = 'Q5_K if 8 experts'
const kIq4: Cells = {
  ...kEight,
  attn_v: [kV8, 'Q5_K if 4 or more heads a key'],
  attn_output: ['Q5_K if 8 experts and not Falcon'],
  ffn_down: ['Q5_K if first 8th and no imatrix'],
}
/** Below 3 bits a weight. */
const tiny = (better: 'Q2_K' | 'IQ3_S', attentionOutput: readonly Rule[]): Cells => ({
  output: ['Q8_0 if Falcon', 'Q5_K'],
  embedding: [better],
  attn_v: ['Q4_K if 4 or more heads a key', 'Q4_K if 4 or more experts', better],
  attn_k: ['Q4_K if 8 experts'],
  attn_output: [kOutput8, ...attentionOutput],
  ffn_down: [`${better} if first 8th in order`],
})

// prettier-ignore
export const kMixtures: Readonly<Record<string, Mixture>> = {
  F32: row(0, 'F32'),
  F16: row(1, 'F16'),
  BF16: row(32, 'BF16'),
  Q8_0: row(7, 'Q8_0', kEight),
  Q4_0: row(2, 'Q4_0', { ...kEight, ffn_down: ['Q4_1 if first 8th and imatrix'] }),
  Q4_1: row(3, 'Q4_1', kEight),
  Q5_0: row(8, 'Q5_0', { ...kEight, ffn_down: ['Q5_1 if first 8th and imatrix'] }),
  Q5_1: row(9, 'Q5_1', kEight),
  Q2_K: row(10, 'Q2_K', {
    attn_v: [kV8, 'Q5_K if 70B', 'Q4_K if 4 or more heads a key', 'Q3_K'],
    attn_k: [kV8],
    attn_output: ['Q2_K if Falcon', kOutput8, 'Q3_K'],
    ffn_down: ['Q3_K'],
  }),
  Q2_K_S: row(21, 'Q2_K', {
    attn_v: [kV8, 'Q5_K if 70B and 4 or more heads a key', 'Q4_K if 4 or more heads a key'],
    attn_k: [kV8],
    ffn_down: ['Q4_K if first 8th'],
  }),
  Q3_K_S: row(11, 'Q3_K', {
    attn_v: [kV8, 'Q5_K if 70B'],
    attn_k: [kV8],
    attn_output: ['Q5_K if 8 experts and not Falcon'],
  }),
  Q3_K_M: row(12, 'Q3_K', {
    attn_v: [kV8, 'Q5_K if 70B', 'Q5_K if first two', 'Q4_K'],
    attn_k: [kV8],
    attn_output: ['Q3_K if Falcon', kOutput8, 'Q4_K'],
    ffn_down: ['Q5_K if first 16th', 'Q4_K if not Falcon', 'Q4_K if outer'],
  }),
  Q3_K_L: row(13, 'Q3_K', {
    attn_v: [kV8, 'Q5_K'],
    attn_k: [kV8],
    attn_output: ['Q4_K if Falcon', 'Q3_K if 8 experts', 'Q5_K'],
    ffn_down: ['Q4_K if Falcon', 'Q5_K'],
  }),
  Q4_K_S: row(14, 'Q4_K', {
    attn_v: [kV8, 'Q5_K if 70B', 'Q5_K if first four'],
    attn_k: [kV8],
    attn_output: ['Q5_K if 8 experts and not Falcon'],
    ffn_down: ['Q5_K if first 8th and not Falcon'],
  }),
  Q4_K_M: row(15, 'Q4_K', {
    attn_v: [kV8, 'Q6_K if outer', 'Q5_K if 70B'],
    attn_k: [kV8],
    attn_output: ['Q5_K if 8 experts and not Falcon'],
    ffn_down: ['Q6_K if first 16th and Falcon', 'Q5_K if outer and Falcon', 'Q6_K if outer and not Falcon'],
  }),
  Q5_K_S: row(16, 'Q5_K', kEight),
  Q5_K_M: row(17, 'Q5_K', { ...kEight, attn_v: [kV8, 'Q6_K if outer'], ffn_down: ['Q6_K if outer'] }),
  Q6_K: row(18, 'Q6_K', kEight),
  IQ1_S: row(24, 'IQ1_S', tiny('Q2_K', ['IQ2_XXS'])),
  IQ1_M: row(31, 'IQ1_M', tiny('Q2_K', ['IQ2_XXS'])),
  IQ2_XXS: row(19, 'IQ2_XXS', tiny('Q2_K', [])),
  IQ2_XS: row(20, 'IQ2_XS', tiny('Q2_K', [])),
  IQ2_S: row(28, 'IQ2_XS', tiny('IQ3_S', ['IQ3_S'])),
  IQ2_M: row(29, 'IQ2_S', tiny('IQ3_S', ['IQ3_S'])),
  IQ3_XXS: row(23, 'IQ3_XXS', {
    output: ['Q8_0 if Falcon', 'Q5_K'],
    embedding: ['IQ3_S'],
    attn_v: [kV8, 'Q5_K if 70B and 4 or more heads a key', 'Q4_K if 4 or more heads a key', 'IQ3_S if no imatrix'],
    attn_k: [kV8, 'IQ2_S'],
    attn_q: ['IQ2_S'],
    attn_output: ['IQ3_XXS if Falcon', kOutput8, 'IQ3_S'],
    ffn_down: ['Q4_K if first 8th and no imatrix', 'Q3_K if no imatrix'],
  }),
  IQ3_XS: row(22, 'IQ3_S', {
    attn_v: [kV8, 'Q5_K if 70B and 4 or more heads a key', 'Q4_K if 4 or more heads a key'],
    attn_k: [kV8, 'IQ3_XXS'],
    attn_q: ['IQ3_XXS'],
    attn_output: ['Q5_K if 8 experts and not Falcon'],
    ffn_gate: ['IQ3_XXS if middle six 8ths'],
    ffn_up: ['IQ3_XXS if middle six 8ths'],
  }),
  IQ3_S: row(26, 'IQ3_S', {
    attn_v: [kV8, 'Q5_K if 70B and 4 or more heads a key', 'Q4_K if 4 or more heads a key'],
    attn_k: [kV8],
    attn_output: ['Q5_K if 8 experts and not Falcon'],
  }),
  IQ3_M: row(27, 'IQ3_S', {
    attn_v: [kV8, 'Q5_K if 70B', 'Q4_K'],
    attn_k: [kV8],
    attn_output: ['IQ3_S if Falcon', kOutput8, 'Q4_K'],
    ffn_down: ['Q4_K if first 8th', 'Q4_K if 8 experts and outer'],
  }),
  IQ4_NL: row(25, 'IQ4_NL', kIq4),
  IQ4_XS: row(30, 'IQ4_XS', kIq4),
  TQ1_0: row(36, 'TQ1_0', { ...kEight, embedding: ['Q4_K'] }),
  TQ2_0: row(37, 'TQ2_0', { ...kEight, embedding: ['Q4_K'] }),
  MXFP4_MOE: row(38, 'MXFP4', { output: ['Q8_0'] }),
  NVFP4: row(39, 'NVFP4', kEight),
  Q1_0: row(40, 'Q1_0', kEight),
  Q2_0: row(41, 'Q2_0', { ...kEight, embedding: ['Q4_K'] }),
}

/** Aliases of mixtures. */
const kOtherNames: Readonly<Record<string, string>> = {
  Q3_K: 'Q3_K_M',
  Q4_K: 'Q4_K_M',
  Q5_K: 'Q5_K_M',
}

export function mixtureOf(name: string): Mixture | undefined {
  const known = kOtherNames[name] ?? name
  return Object.hasOwn(kMixtures, known) ? kMixtures[known] : undefined
}

/** If a row is not a multiple of a type's block size, a type with smaller blocks is used; after blocks of 32, F16. */
export const kFallbacks: Readonly<Record<string, string>> = {
  Q2_0: 'Q4_0',
  TQ1_0: 'Q4_0',
  TQ2_0: 'Q4_0',
  Q2_K: 'Q4_0',
  Q3_K: 'Q4_0',
  Q4_K: 'Q5_0',
  Q5_K: 'Q5_1',
  Q6_K: 'Q8_0',
  IQ1_S: 'IQ4_NL',
  IQ1_M: 'IQ4_NL',
  IQ2_XXS: 'IQ4_NL',
  IQ2_XS: 'IQ4_NL',
  IQ2_S: 'IQ4_NL',
  IQ3_XXS: 'IQ4_NL',
  IQ3_S: 'IQ4_NL',
  IQ4_XS: 'IQ4_NL',
}

/** Types with large errors without an importance matrix. Embeddings and the output have no entry and are exempt. */
const kNeedImportance = new Set(['IQ1_S', 'IQ1_M', 'IQ2_XXS', 'IQ2_XS', 'IQ2_S', 'IQ3_XXS'])
export const needsImportance = (mixture: Mixture, type: string): boolean =>
  kNeedImportance.has(type) || (mixture === kMixtures['Q2_K_S'] && type === 'Q2_K')

/** Numbers of blocks that llama.cpp treats as 70B; true: only with grouped-query attention, otherwise it is 65B. */
const k70B: Readonly<Record<string, readonly [layers: number, shared: boolean]>> = {
  llama: [80, true],
  'llama-embed': [80, true],
  deci: [80, false],
  qwen2: [80, false],
  olmo: [80, false],
  jais2: [68, false],
}
export function is70B(architecture: string | undefined, layers: number, sharedKeys: boolean): boolean {
  const known =
    architecture !== undefined && Object.hasOwn(k70B, architecture) ? k70B[architecture] : undefined
  return known !== undefined && known[0] === layers && (sharedKeys || !known[1])
}

/** The type of a tensor, before fallbacks. rowsFit: its rows are whole blocks of the main type. */
export function typeIn(mixture: Mixture, kind: TensorKind | undefined, at: Place, rowsFit: boolean): string {
  const { type } = mixture
  if (/^B?F\d/.test(type)) return type
  if (kind === 'output' && !rowsFit) return 'Q8_0'
  for (const rule of (kind && mixture.kinds[kind]) ?? []) {
    const [chosen, conditions] = rule.split(' if ') as [string, string?]
    if (conditions?.split(' and ').every((one) => kConditions[one as Condition](at)) ?? true) return chosen
  }
  if (kind !== 'output' || type === 'Q8_0') return type
  return isFalcon(at) ? 'Q8_0' : 'Q6_K'
}
