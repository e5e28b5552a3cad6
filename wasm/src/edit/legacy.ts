// Converts older containers (GGML, GGMF, GGJT) to GGUF with the tensor names and keys that current programs read. One
// row for each architecture; the names of other architectures are not changed.
import type { ByteSource } from '../api/source.js'
import { byteLevelVocabulary, type ByteLevelVocabulary } from './gpt2-vocabulary.js'
import type { FileTensor, KeyEntry, TensorEntry } from './entries.js'
import { encodeValue } from './values.js'
import { pieceVocabulary } from './piece-vocabulary.js'
import type { WriteType, WriteValue } from '../api/edit.js'
import { whisperVocabulary } from './whisper-vocabulary.js'

type Key = readonly [key: string, value: WriteValue, type: WriteType]
type Reshape = (shape: readonly number[]) => readonly number[]

/** Access to the content of the old file. */
interface Old {
  /** shape of a tensor by its old name; empty if the file lacks it */
  shape(name: string): readonly number[]
  /** value of a key of the old header; 0 if it is missing */
  number(key: string): number
  /** the bytes of each token of the vocabulary */
  words(): readonly Uint8Array[]
}

interface LegacyRow {
  /** the architecture's name in the old header */
  readonly from: string
  readonly to: string
  /** patterns of old names, and new names; $1 is the layer */
  readonly names: readonly (readonly [pattern: RegExp, name: string, shape?: Reshape])[]
  /** tensors that current loaders require but do not use: copies of others */
  readonly copies?: readonly (readonly [name: string, of: string])[]
  /** F32 vectors that are joined to one tensor, in this order */
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

/** SentencePiece vocabulary of speech models. Without scores, ids can be decoded, but text cannot be tokenized. */
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
    // Such a model writes text; it does not read text.
    ['tokenizer.ggml.add_bos_token', false, 'bool'],
    ['tokenizer.ggml.add_eos_token', false, 'bool'],
  ]
}

/** Files of ggml's example programs: keys, and the vocabulary of GPT-2. */
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

// Keys of ggufscope that hold values of the old header.
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

/** RWKV versions 4 and 5: the architecture "rwkv" of the specification, with the tensor names of the checkpoints. */
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
        // Defaults of llama.cpp's converter, because the old files lack these. The epsilon is 1e-6 in Llama 1, 1e-5 in
        // Llama 2.
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
    // The specification defines keys for Whisper's sizes, but no tensor names. Tensors keep the checkpoints' names,
    // which whisper.cpp and other programs use. The mel filters keep the keys of the old header.
    from: 'whisper',
    to: 'whisper',
    names: [],
    keys: ({ number, words }) => byteLevelKeys(whisperVocabulary(words(), number('whisper.vocab_size'))),
  },
  {
    // The specification does not define Parakeet: sizes and tensors keep whisper.cpp's names.
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
      // rwkv.cpp's files hold the weights without rescaling.
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
    // The first layer does not mix with a value residual.
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
        // rwkv.cpp's files contain no vocabulary.
        ['tokenizer.ggml.model', 'none', 'string'],
      ]
    },
  },
]

/** The current type for a block layout of 2023; if there is none, a type with a small error. */
function todaysType(type: string): string {
  if (/^Q4_[23]_V1$/.test(type)) return 'Q8_0'
  return type.replace(/_V[12]$/, '')
}

/** A source of the concatenated bytes of several tensors. */
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

/** Replaces vectors by one joined tensor, at the place of the first, if all of them exist and have the same shape. */
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

interface Modernized {
  readonly keys: KeyEntry[]
  readonly tensors: TensorEntry[]
}

/** numberOf: returns the value of a key of the old header; words: its vocabulary. */
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
