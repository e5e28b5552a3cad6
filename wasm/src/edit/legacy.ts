// Containers from before GGUF as the GGUF files that today's programs read: their names of tensors, the keys they need.
// A row an architecture; of any other one names stay as they are.
import { encodeValue } from './values.js'
import type { KeyEntry, TensorEntry } from './layout.js'
import type { WriteType, WriteValue } from './types.js'

type Key = readonly [key: string, value: WriteValue, type: WriteType]
type Reshape = (shape: readonly number[]) => readonly number[]

/** What the old file says. */
interface Old {
  /** of a tensor by its old name; empty where there is none */
  shape(name: string): readonly number[]
  /** 0 where there is no such key */
  number(key: string): number
}

interface LegacyRow {
  /** as the legacy header says */
  readonly from: string
  readonly to: string
  /** $1: the layer */
  readonly names: readonly (readonly [pattern: RegExp, name: string, shape?: Reshape])[]
  /** tensors that today's loaders want although nothing uses them: copies of others */
  readonly copies?: readonly (readonly [name: string, of: string])[]
  /** keys that the old header lacks */
  keys(old: Old): readonly Key[]
}

const flat: Reshape = (shape) => [shape.reduce((product, n) => product * n, 1)]
const u32 = (key: string, value: number | undefined): readonly Key[] =>
  value === undefined ? [] : [[key, value, 'u32']]

// Keys of ours that show what the old header said.
const kDropped = /^legacy\./

const kRwkvBlocks: LegacyRow['names'] = [
  [/^emb\.weight$/, 'token_embd.weight'],
  [/^head\.weight$/, 'output.weight'],
  [/^ln_out\.(weight|bias)$/, 'output_norm.$1'],
  [/^blocks\.0\.ln0\.(weight|bias)$/, 'token_embd_norm.$1'],
  [/^blocks\.(\d+)\.ln1\.(weight|bias)$/, 'blk.$1.attn_norm.$2'],
  [/^blocks\.(\d+)\.ln2\.(weight|bias)$/, 'blk.$1.attn_norm_2.$2'],
  [/^blocks\.(\d+)\.att\.ln_x\.(weight|bias)$/, 'blk.$1.time_mix_ln.$2'],
  [/^blocks\.(\d+)\.att\.(key|value|receptance|output)\.weight$/, 'blk.$1.time_mix_$2.weight'],
  [/^blocks\.(\d+)\.att\.x_rwkvag$/, 'blk.$1.time_mix_lerp_fused.weight', ([n = 0]) => [n, 1, 1, 6]],
  [/^blocks\.(\d+)\.att\.([wav]0|k_k|k_a|r_k)$/, 'blk.$1.time_mix_$2.weight', flat],
  [/^blocks\.(\d+)\.att\.([wavg][12])$/, 'blk.$1.time_mix_$2.weight'],
  [/^blocks\.(\d+)\.ffn\.x_k$/, 'blk.$1.channel_mix_lerp_k.weight', flat],
  [/^blocks\.(\d+)\.ffn\.(key|value)\.weight$/, 'blk.$1.channel_mix_$2.weight'],
]

/** Of versions 4 and 5, which the specification has as "rwkv", with the names of the checkpoints. */
const specified = (version: number): LegacyRow => ({
  from: `rwkv${version}`,
  to: 'rwkv',
  names: [],
  keys: ({ shape }) => [
    ['rwkv.architecture_version', version, 'u32'],
    ['rwkv.context_length', 1024, 'u32'],
    ...u32('rwkv.feed_forward_length', shape('blocks.0.ffn.key.weight')[1]),
  ],
})

const kRows: readonly LegacyRow[] = [
  {
    from: 'llama',
    to: 'llama',
    names: [
      [/^tok_embeddings\.weight$/, 'token_embd.weight'],
      [/^norm\.weight$/, 'output_norm.weight'],
      [/^layers\.(\d+)\.attention\.w([qkv])\.weight$/, 'blk.$1.attn_$2.weight'],
      [/^layers\.(\d+)\.attention\.wo\.weight$/, 'blk.$1.attn_output.weight'],
      [/^layers\.(\d+)\.attention_norm\.weight$/, 'blk.$1.attn_norm.weight'],
      [/^layers\.(\d+)\.ffn_norm\.weight$/, 'blk.$1.ffn_norm.weight'],
      [/^layers\.(\d+)\.feed_forward\.w1\.weight$/, 'blk.$1.ffn_gate.weight'],
      [/^layers\.(\d+)\.feed_forward\.w2\.weight$/, 'blk.$1.ffn_down.weight'],
      [/^layers\.(\d+)\.feed_forward\.w3\.weight$/, 'blk.$1.ffn_up.weight'],
    ],
    keys({ shape, number }) {
      const heads = number('llama.attention.head_count')
      const width = number('llama.embedding_length')
      const values = shape('layers.0.attention.wv.weight')[1] ?? width
      return [
        // What llama.cpp's own converter takes for what those files do not say: Llama 1 was made with 1e-6, 2 with 1e-5.
        ['llama.context_length', 2048, 'u32'],
        ['llama.attention.layer_norm_rms_epsilon', 5e-6, 'f32'],
        ['llama.attention.head_count_kv', Math.round((heads * values) / width), 'u32'],
        ...u32('llama.feed_forward_length', shape('layers.0.feed_forward.w1.weight')[1]),
      ]
    },
  },
  specified(4),
  specified(5),
  {
    from: 'rwkv7',
    to: 'rwkv7',
    names: kRwkvBlocks,
    // The first layer has no residual value to mix with.
    copies: ['0', '1', '2'].map(
      (i) => [`blk.0.time_mix_v${i}.weight`, `blk.0.time_mix_a${i}.weight`] as const,
    ),
    keys({ shape }) {
      const rank = (name: string): number | undefined => shape(`blocks.1.att.${name}1`)[1]
      return [
        ['rwkv7.context_length', 1_048_576, 'u32'],
        ['rwkv7.attention.head_count', 0, 'u32'],
        ['rwkv7.attention.layer_norm_epsilon', 1e-5, 'f32'],
        ...u32('rwkv7.wkv.head_size', shape('blocks.0.att.r_k')[0]),
        ...u32('rwkv7.feed_forward_length', shape('blocks.0.ffn.key.weight')[1]),
        ...u32('rwkv7.attention.decay_lora_rank', rank('w')),
        ...u32('rwkv7.attention.iclr_lora_rank', rank('a')),
        ...u32('rwkv7.attention.value_residual_mix_lora_rank', rank('v')),
        ...u32('rwkv7.attention.gate_lora_rank', rank('g')),
        // rwkv.cpp's files have no vocabulary.
        ['tokenizer.ggml.model', 'none', 'string'],
      ]
    },
  },
]

/** The type of today for the block layouts of 2023; where there is none, one that loses little. */
function todaysType(type: string): string {
  if (/^Q4_[23]_V1$/.test(type)) return 'Q8_0'
  return type.replace(/_V[12]$/, '')
}

export interface Modernized {
  readonly keys: KeyEntry[]
  readonly tensors: TensorEntry[]
}

/** numberOf: of a key of the old header. */
export function modernize(
  architecture: string | undefined,
  keys: readonly KeyEntry[],
  tensors: readonly TensorEntry[],
  numberOf: (key: string) => number | undefined,
): Modernized {
  const row = kRows.find(({ from }) => from === architecture)
  const renamed = tensors.map((entry): TensorEntry => {
    const type = todaysType(entry.type)
    for (const [pattern, name, reshape] of row?.names ?? []) {
      if (!pattern.test(entry.name)) continue
      const shape = reshape ? reshape(entry.shape) : entry.shape
      return { ...entry, type, name: entry.name.replace(pattern, name), shape }
    }
    return { ...entry, type }
  })
  const kept = keys.filter(({ key }) => !kDropped.test(key))
  if (!row) return { keys: kept, tensors: renamed }
  const find = (name: string): TensorEntry | undefined => renamed.find((entry) => entry.name === name)
  const old: Old = {
    shape: (name) => tensors.find((entry) => entry.name === name)?.shape ?? [],
    number: (key) => numberOf(key) ?? 0,
  }
  for (const [name, of] of row.copies ?? []) {
    const original = find(of)
    if (original && !find(name)) renamed.push({ ...original, name })
  }
  const made = new Map<string, KeyEntry>()
  for (const entry of kept) {
    const key = entry.key.startsWith(`${row.from}.`) ? row.to + entry.key.slice(row.from.length) : entry.key
    made.set(key, { ...entry, key })
  }
  const set = (key: string, value: WriteValue, type: WriteType): void =>
    void made.set(key, { key, from: encodeValue(value, type, key) })
  set('general.architecture', row.to, 'string')
  if (renamed.some(({ type }) => /^Q\d/.test(type))) set('general.quantization_version', 2, 'u32')
  for (const [key, value, type] of row.keys(old)) set(key, value, type)
  return { keys: [...made.values()], tensors: renamed }
}
