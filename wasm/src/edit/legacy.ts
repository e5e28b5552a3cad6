// Containers from before GGUF as the GGUF files that today's programs read: their names of tensors, the keys they need.
// A row an architecture; of any other one names stay as they are.
import type { ByteSource } from '../api/source.js'
import { byteLevelVocabulary, type ByteLevelVocabulary } from './gpt2-vocabulary.js'
import type { FileTensor, KeyEntry, TensorEntry } from './entries.js'
import { encodeValue } from './values.js'
import { pieceVocabulary } from './piece-vocabulary.js'
import type { WriteType, WriteValue } from '../api/edit.js'
import { whisperVocabulary } from './whisper-vocabulary.js'

type Key = readonly [key: string, value: WriteValue, type: WriteType]
type Reshape = (shape: readonly number[]) => readonly number[]

/** What the old file says. */
interface Old {
  /** of a tensor by its old name; empty where there is none */
  shape(name: string): readonly number[]
  /** 0 where there is no such key */
  number(key: string): number
  /** the vocabulary, as bytes */
  words(): readonly Uint8Array[]
}

interface LegacyRow {
  /** as the legacy header says */
  readonly from: string
  readonly to: string
  /** $1: the layer */
  readonly names: readonly (readonly [pattern: RegExp, name: string, shape?: Reshape])[]
  /** tensors that today's loaders want although nothing uses them: copies of others */
  readonly copies?: readonly (readonly [name: string, of: string])[]
  /** vectors of F32 that are one tensor today, in this order */
  readonly joined?: { readonly parts: readonly RegExp[]; readonly name: string }
  /** keys that the old header lacks */
  keys(old: Old): readonly Key[]
}

const flat: Reshape = (shape) => [shape.reduce((product, n) => product * n, 1)]
const u32 = (key: string, value: number | undefined): readonly Key[] =>
  value === undefined ? [] : [[key, value, 'u32']]

const byteLevelKeys = ({ tokens, types, merges, end }: ByteLevelVocabulary): readonly Key[] => [
  ['tokenizer.ggml.model', 'gpt2', 'string'],
  ['tokenizer.ggml.pre', 'gpt-2', 'string'],
  ['tokenizer.ggml.tokens', tokens, { arrayOf: 'string' }],
  ['tokenizer.ggml.token_type', types, { arrayOf: 'i32' }],
  ['tokenizer.ggml.merges', merges, { arrayOf: 'string' }],
  ...(end < 0
    ? []
    : [...u32('tokenizer.ggml.bos_token_id', end), ...u32('tokenizer.ggml.eos_token_id', end)]),
]

/** Of speech models whose text comes of SentencePiece; without scores the tokens can be shown, but no text cut. */
const pieceKeys = (words: readonly Uint8Array[]): readonly Key[] => {
  const { tokens, types, scores } = pieceVocabulary(words)
  const id = (key: string, token: string): readonly Key[] =>
    tokens.includes(token) ? u32(`tokenizer.ggml.${key}_token_id`, tokens.indexOf(token)) : []
  return [
    ['tokenizer.ggml.model', scores ? 'llama' : 'none', 'string'],
    ['tokenizer.ggml.tokens', tokens, { arrayOf: 'string' }],
    ['tokenizer.ggml.token_type', types, { arrayOf: 'i32' }],
    ...(scores ? [['tokenizer.ggml.scores', scores, { arrayOf: 'f32' }] as const] : []),
    ...id('unknown', '<unk>'),
    ...id('bos', '<s>'),
    ...id('eos', '</s>'),
    // Text is what such a model gives, not what it takes.
    ['tokenizer.ggml.add_bos_token', false, 'bool'],
    ['tokenizer.ggml.add_eos_token', false, 'bool'],
  ]
}

/** Of the programs that ggml came with: keys, and the vocabulary of GPT-2. */
const ofGpt2 = (from: string, feedForward: string, embedding: string): LegacyRow['keys'] => {
  return ({ shape, words }) => {
    const vocabulary = byteLevelVocabulary(words(), shape(embedding)[1] ?? 0)
    return [
      ...u32(`${from}.feed_forward_length`, shape(feedForward)[1]),
      [`${from}.attention.layer_norm_epsilon`, 1e-5, 'f32'],
      ...(vocabulary.tokens.length > 0
        ? byteLevelKeys(vocabulary)
        : [['tokenizer.ggml.model', 'none', 'string'] as const]),
    ]
  }
}

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
  [/^blocks\.(\d+)\.att\.(key|value|receptance|gate|output)\.weight$/, 'blk.$1.time_mix_$2.weight'],
  [/^blocks\.(\d+)\.att\.x_rwkvag$/, 'blk.$1.time_mix_lerp_fused.weight', ([n = 0]) => [n, 1, 1, 6]],
  [/^blocks\.(\d+)\.att\.([wav]0|k_k|k_a|r_k)$/, 'blk.$1.time_mix_$2.weight', flat],
  [/^blocks\.(\d+)\.att\.([wavg][12])$/, 'blk.$1.time_mix_$2.weight'],
  [/^blocks\.(\d+)\.att\.time_maa_([wkvrgx])$/, 'blk.$1.time_mix_lerp_$2.weight'],
  [/^blocks\.(\d+)\.att\.time_maa_(w[12])$/, 'blk.$1.time_mix_$2.weight'],
  [/^blocks\.(\d+)\.att\.time_decay$/, 'blk.$1.time_mix_decay.weight', flat],
  [/^blocks\.(\d+)\.att\.time_(decay_w[12])$/, 'blk.$1.time_mix_$2.weight'],
  [/^blocks\.(\d+)\.att\.time_faaaa$/, 'blk.$1.time_mix_first.weight', ([, ...shape]) => shape],
  [/^blocks\.(\d+)\.ffn\.(?:x|time_maa)_([kr])$/, 'blk.$1.channel_mix_lerp_$2.weight', flat],
  [/^blocks\.(\d+)\.ffn\.(key|value|receptance)\.weight$/, 'blk.$1.channel_mix_$2.weight'],
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
  {
    from: 'gpt2',
    to: 'gpt2',
    names: [
      [/^model\/wte$/, 'token_embd.weight'],
      [/^model\/wpe$/, 'position_embd.weight'],
      [/^model\/lm_head$/, 'output.weight'],
      [/^model\/ln_f\/g$/, 'output_norm.weight'],
      [/^model\/ln_f\/b$/, 'output_norm.bias'],
      [/^model\/h(\d+)\/ln_1\/g$/, 'blk.$1.attn_norm.weight'],
      [/^model\/h(\d+)\/ln_1\/b$/, 'blk.$1.attn_norm.bias'],
      [/^model\/h(\d+)\/ln_2\/g$/, 'blk.$1.ffn_norm.weight'],
      [/^model\/h(\d+)\/ln_2\/b$/, 'blk.$1.ffn_norm.bias'],
      [/^model\/h(\d+)\/attn\/c_attn\/w$/, 'blk.$1.attn_qkv.weight'],
      [/^model\/h(\d+)\/attn\/c_attn\/b$/, 'blk.$1.attn_qkv.bias'],
      [/^model\/h(\d+)\/attn\/c_proj\/w$/, 'blk.$1.attn_output.weight'],
      [/^model\/h(\d+)\/attn\/c_proj\/b$/, 'blk.$1.attn_output.bias'],
      [/^model\/h(\d+)\/mlp\/c_fc\/w$/, 'blk.$1.ffn_up.weight'],
      [/^model\/h(\d+)\/mlp\/c_fc\/b$/, 'blk.$1.ffn_up.bias'],
      [/^model\/h(\d+)\/mlp\/c_proj\/w$/, 'blk.$1.ffn_down.weight'],
      [/^model\/h(\d+)\/mlp\/c_proj\/b$/, 'blk.$1.ffn_down.bias'],
    ],
    keys: ofGpt2('gpt2', 'model/h0/mlp/c_fc/w', 'model/wte'),
  },
  {
    from: 'gptj',
    to: 'gptj',
    names: [
      [/^transformer\.wte\.weight$/, 'token_embd.weight'],
      [/^transformer\.ln_f\.(weight|bias)$/, 'output_norm.$1'],
      [/^lm_head\.(weight|bias)$/, 'output.$1'],
      [/^transformer\.h\.(\d+)\.ln_1\.(weight|bias)$/, 'blk.$1.attn_norm.$2'],
      [/^transformer\.h\.(\d+)\.attn\.([qkv])_proj\.weight$/, 'blk.$1.attn_$2.weight'],
      [/^transformer\.h\.(\d+)\.attn\.out_proj\.weight$/, 'blk.$1.attn_output.weight'],
      [/^transformer\.h\.(\d+)\.mlp\.fc_in\.(weight|bias)$/, 'blk.$1.ffn_up.$2'],
      [/^transformer\.h\.(\d+)\.mlp\.fc_out\.(weight|bias)$/, 'blk.$1.ffn_down.$2'],
    ],
    keys: ofGpt2('gptj', 'transformer.h.0.mlp.fc_in.weight', 'transformer.wte.weight'),
  },
  {
    // The specification has its sizes, which the reader gives in its words, and no names of tensors: they keep those of
    // the checkpoints, as whisper.cpp and other programs know them, and the old header's mel filters their keys.
    from: 'whisper',
    to: 'whisper',
    names: [],
    keys: ({ number, words }) => byteLevelKeys(whisperVocabulary(words(), number('whisper.vocab_size'))),
  },
  {
    // No specification has its sizes: they and the tensors keep the names of the reader and of whisper.cpp.
    from: 'parakeet',
    to: 'parakeet',
    names: [],
    keys: ({ words }) => pieceKeys(words()),
  },
  specified(4),
  specified(5),
  {
    from: 'rwkv6',
    to: 'rwkv6',
    names: kRwkvBlocks,
    joined: {
      parts: [...'wkvrg'].map((which) => new RegExp(`^(blk\\.\\d+\\.time_mix_lerp_)${which}\\.weight$`)),
      name: '$1fused.weight',
    },
    keys: ({ shape }) => [
      ['rwkv6.context_length', 1_048_576, 'u32'],
      ['rwkv6.attention.head_count', 0, 'u32'],
      ['rwkv6.attention.layer_norm_epsilon', 1e-5, 'f32'],
      // rwkv.cpp's files hold the weights as they were trained.
      ['rwkv6.rescale_every_n_layers', 0, 'u32'],
      ...u32('rwkv6.wkv.head_size', shape('blocks.0.att.time_faaaa')[1]),
      ...u32('rwkv6.feed_forward_length', shape('blocks.0.ffn.key.weight')[1]),
      ...u32('rwkv6.time_mix_extra_dim', shape('blocks.0.att.time_maa_w2')[0]),
      ...u32('rwkv6.time_decay_extra_dim', shape('blocks.0.att.time_decay_w2')[0]),
      ['tokenizer.ggml.model', 'none', 'string'],
    ],
  },
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

/** The bytes of tensors of a file one behind the other. */
function chained(parts: readonly FileTensor[]): ByteSource {
  const size = parts.reduce((sum, { info }) => sum + info.byteLength, 0)
  return {
    size,
    async read(offset, length, options) {
      const out = new Uint8Array(length)
      let begin = 0
      for (const { part, info } of parts) {
        const from = Math.max(offset, begin)
        const to = Math.min(offset + length, begin + info.byteLength)
        if (from < to)
          out.set(await part.source.read(info.offset + from - begin, to - from, options), from - offset)
        begin += info.byteLength
      }
      return out
    },
  }
}

/** Puts one tensor in the place of the first of those that it is made of, where all are there and alike. */
function join(tensors: TensorEntry[], { parts, name }: NonNullable<LegacyRow['joined']>): void {
  for (const first of tensors.filter((entry) => parts[0]!.test(entry.name))) {
    const target = first.name.replace(parts[0]!, name)
    const found = parts.map((part) =>
      tensors.find((entry) => part.test(entry.name) && entry.name.replace(part, name) === target),
    )
    const files = found.flatMap((entry) =>
      entry && 'file' in entry.from && entry.type === 'F32' && entry.shape[0] === first.shape[0]
        ? [entry.from]
        : [],
    )
    if (files.length < parts.length) continue
    const from = { source: chained(files), type: 'F32' }
    const shape = [first.shape[0] ?? 0, 1, 1, parts.length]
    tensors.splice(tensors.indexOf(first), 1, { ...first, name: target, shape, from })
    for (const entry of found) if (entry !== first) tensors.splice(tensors.indexOf(entry!), 1)
  }
}

export interface Modernized {
  readonly keys: KeyEntry[]
  readonly tensors: TensorEntry[]
}

/** numberOf: of a key of the old header; words: its vocabulary. */
export function modernize(
  architecture: string | undefined,
  keys: readonly KeyEntry[],
  tensors: readonly TensorEntry[],
  numberOf: (key: string) => number | undefined,
  words: () => readonly Uint8Array[],
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
    words,
  }
  if (row.joined) join(renamed, row.joined)
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
