// What a model stores of earlier tokens in each layer: the widths of keys and values, and the states of recurrent
// layers.
import { kSpeaksAlone } from '../api/abilities.js'
import type { GgufFile } from '../api/file.js'
import type { TensorInfo } from '../api/tensors.js'
import { ModelKeys } from './keys.js'
import { kCachedEncoders, kDiffusion, kEncoders } from './rules.js'
import { soundBytes } from './sound.js'
import { windowsOf } from './windows.js'

/** One cache of a layer. k and v: elements in a cell; one cell represents `ratio` tokens. */
export interface CacheShape {
  readonly k: number
  readonly v: number
  /** number of cells that does not depend on the context */
  readonly cells?: number | undefined
  readonly window?: number | undefined
  readonly ratio?: number | undefined
}

export interface LayerShape {
  readonly tensors: readonly TensorInfo[]
  /** the tensors that the layer computes with, if they are others: those of a layer that runs again */
  readonly computes?: readonly TensorInfo[] | undefined
  readonly caches: readonly CacheShape[]
  /** F32 elements of state for each sequence */
  readonly state: number
  /** bytes of the cache that do not depend on the context: positions that are not compressed yet */
  readonly pending: number
  /** number of query heads, and of those of keys */
  readonly heads: number
  readonly keyHeads: number
}

export interface ModelShape {
  readonly architecture: string
  readonly layers: readonly LayerShape[]
  /** the embedding and other tensors before the layers; always on the CPU */
  readonly input: readonly TensorInfo[]
  readonly output: readonly TensorInfo[]
  /** if there is no separate tensor: the embedding is also the output matrix, and a device needs its own copy */
  readonly tied: TensorInfo | undefined
  readonly embedding: number
  readonly vocabulary: number
  /** the output is an embedding for each token, not logits */
  readonly encoder: boolean
  /** attention is to the same batch only */
  readonly cacheless: boolean
  /** some layers have an attention window */
  readonly windowed: boolean
  /** what a batch may hold: tokens, or tokens or embeddings, or a mixture of both */
  readonly takes: 'tokens' | 'one kind' | 'mixtures'
  /** number of layers that are computed: those that predict further tokens are not */
  readonly executed: number
  readonly expertsUsed: number
  /** positions of a block that is selected together; 0: none are */
  readonly blockSize: number
  /** positions of a pool of keys (Qwen 4), and how many are selected; 0: there are no pools */
  readonly poolSize: number
  readonly selected: number
  /** keys that an indexer scores together (GLM 5 Next); 1: each alone */
  readonly keysInPool: number
  readonly trainedContext: number | undefined
  /** of a model that speaks by itself, on the CPU: bytes of intermediate results */
  readonly sound?: number | undefined
}

/** Without a cache: these attend to a whole text at once. */
const withoutCache = (keys: ModelKeys) =>
  (kEncoders.has(keys.architecture) && !kCachedEncoders.has(keys.architecture)) ||
  kDiffusion.has(keys.architecture) ||
  decidesWhole(keys)
/** A decision head behind a body that reads a whole text at once. */
const decidesWhole = (keys: ModelKeys) =>
  keys.has('decision.block_count') && keys.number('attention.causal') === 0

/** A file that declares more layers is damaged. */
const kMaxLayers = 4096

const kRecurrent = /^(ssm_|shortconv|time_mix_)/
const kAttention = /^(attn_k|attn_qkv|attn_kv_a|attn_v)/

interface Block {
  readonly tensors: TensorInfo[]
  readonly recurrent: boolean
  readonly attends: boolean
  readonly indexed: boolean
}

function blockOf(tensors: TensorInfo[], prefix: string): Block {
  const names = tensors.map(({ name }) => name.slice(prefix.length))
  const recurrent = names.some((name) => kRecurrent.test(name))
  // Delta nets also have a fused projection of that name.
  const own = recurrent ? names.filter((name) => !/^attn_(qkv|k_|q_)/.test(name)) : names
  return {
    tensors,
    recurrent,
    attends: own.some((name) => kAttention.test(name)) && !names.some((name) => name.startsWith('time_mix_')),
    indexed: names.some((name) => name.startsWith('indexer')),
  }
}

/** F32 elements that a recurrent layer stores: the last inputs of its convolution, and its state. */
function stateOf(keys: ModelKeys, embedding: number, heads: number): number {
  const n = (key: string, missing = 0) => keys.number(key) ?? missing
  const head = n('wkv.head_size')
  if (head > 0) return n('token_shift_count', 2) * embedding + embedding * head
  const taps = n('shortconv.l_cache')
  if (taps > 0) return embedding * (taps - 1)
  const kernel = Math.max(0, n('ssm.conv_kernel') - 1)
  const delta = n('kda.head_dim')
  if (delta > 0) return kernel * 3 * heads * delta + delta * delta * heads
  const inner = n('ssm.inner_size')
  const size = n('ssm.state_size')
  return kernel * (inner + 2 * n('ssm.group_count') * size) + size * inner
}

/** The last inputs of the convolution over n-grams, which are as far apart as n-grams are long. */
function ngramState(tensors: readonly TensorInfo[], length: number): number {
  const { shape } = tensors.find(({ name }) => name.endsWith('.ple_conv1d.weight')) ?? {}
  return shape ? Math.max(0, shape[0]! - 1) * length * (shape[1] ?? 1) : 0
}

/** Layers from this one on read the keys and values of earlier ones. */
function ownLayers(keys: ModelKeys, count: number): number {
  if (keys.architecture === 'gemma3n') return Math.min(20, count)
  if (keys.architecture === 'gemma4-assistant') return 0 // it reads its target's cache
  const shared = keys.number('attention.shared_kv_layers') ?? 0
  return Math.max(0, count - shared - headLayers(keys))
}

/** Layers that are heads for further tokens. An assistant consists of them. */
const headLayers = (keys: ModelKeys): number =>
  keys.architecture === 'gemma4-assistant' ? 0 : (keys.number('nextn_predict_layers') ?? 0)

interface Heads {
  readonly count: readonly number[]
  readonly key: (windowed: boolean) => number
  readonly value: (windowed: boolean) => number
  readonly latent: boolean
}

function headsOf(keys: ModelKeys, embedding: number, count: number): Heads {
  const queries = keys.layers('attention.head_count', count) ?? Array<number>(count).fill(0)
  const first = queries.find((one) => one > 0)
  const usual = first ? Math.floor(embedding / first) : 0
  const key = keys.number('attention.key_length') ?? usual
  const value = keys.number('attention.value_length') ?? usual
  const windowedKey = keys.number('attention.key_length_swa') ?? key
  const windowedValue = keys.number('attention.value_length_swa') ?? value
  return {
    count: keys.layers('attention.head_count_kv', count) ?? queries,
    key: (windowed) => (windowed ? windowedKey : key),
    value: (windowed) => (windowed ? windowedValue : value),
    latent: keys.has('attention.key_length_mla') && keys.has('attention.value_length_mla'),
  }
}

/** Qwen 4: how many keys a pool has, in all layers that select pools. */
const poolSize = (keys: ModelKeys, count: number): number =>
  keys.architecture === 'qwen4exp'
    ? Math.max(0, ...(keys.layers('attention.compress_ratios', count) ?? []))
    : 0

/** Additional caches of sparse attention: the keys of the indexer that selects positions. */
function sparseCaches(
  keys: ModelKeys,
  heads: Heads,
  index: number,
  count: number,
  block: Block,
): CacheShape[] {
  const indexer = keys.number('attention.indexer.key_length') ?? 0
  const ratio = keys.layers('attention.compress_ratios', count)?.[index] ?? 0
  if (keys.architecture === 'deepseek4') {
    if (ratio === 0) return []
    const compressed = { k: heads.key(false), v: 0, ratio }
    return ratio === 4 ? [compressed, { k: indexer, v: 0, ratio }] : [compressed]
  }
  if (indexer === 0) return []
  const types = keys.layers('attention.indexer.types', count)
  if (!(types ? types[index] === 1 : block.indexed)) return []
  // GLM 5 Next also stores a gate for each key and the pool's key, Qwen 4 the pool's key, and MiniMax the values of one
  // head.
  const gated = (keys.number('attention.indexer.kpool') ?? 0) > 0
  const vectors = gated ? 3 : poolSize(keys, count) > 0 ? 2 : 1
  const value = keys.architecture.startsWith('minimax') ? heads.value(false) : 0
  return [{ k: vectors * indexer, v: value }]
}

function cachesOf(keys: ModelKeys, blocks: readonly Block[], embedding: number): CacheShape[][] {
  const count = blocks.length
  const heads = headsOf(keys, embedding, count)
  const windows = windowsOf(keys, count)
  const own = ownLayers(keys, count)
  const latent = heads.latent || keys.architecture === 'deepseek4'
  const caches = blocks.map((block, i): CacheShape[] => {
    // Layers without heads of keys are recurrent, whatever their matrices are called.
    if (!block.attends || i >= own || withoutCache(keys) || (block.recurrent && heads.count[i] === 0))
      return []
    const windowed = windows?.layers[i] === true
    const n = heads.count[i]!
    const main = { k: heads.key(windowed) * n, v: latent ? 0 : heads.value(windowed) * n }
    const further = sparseCaches(keys, heads, i, count, block)
    return [{ ...main, window: windowed ? windows.length : undefined }, ...further]
  })
  // Granite Switch has one additional head, which selects its adapters.
  if (keys.has('adapters.router_gain')) caches.at(-1)?.push({ k: heads.key(false), v: heads.value(false) })
  return caches
}

/** Compressed attention keeps the last positions of a block, and their scores, until the block is complete. */
function pendingOf(tensors: readonly TensorInfo[], caches: readonly CacheShape[]): number {
  const ratio = caches[1]?.ratio
  if (ratio === undefined) return 0
  // Blocks of 4 positions overlap.
  const positions = ratio === 4 ? 2 * ratio : ratio
  const widths = tensors
    .filter(({ name }) => /compressor_kv\.weight$/.test(name))
    .map(({ shape }) => shape[1] ?? 0)
  return widths.reduce((sum, width) => sum + 2 * positions * width * 4, 0)
}

/**
 * HRM-Text: the layers of two stacks run again and again, each time with a cache of their own: in each high cycle the
 * low stack so many times, then the high one. Returns the block that layer i runs.
 */
function blockOfPass(keys: ModelKeys, i: number): number {
  const stack = keys.number('hrm.layers_per_stack') ?? 0
  if (stack === 0) return i
  const low = stack * (keys.number('hrm.l_cycles') ?? 0)
  const at = i % (low + stack)
  return at < low ? at % stack : stack + (at - low)
}

/** What speech models have not. */
const kNothingElse = {
  encoder: false,
  cacheless: false,
  windowed: false,
  takes: 'tokens',
  executed: 0,
  expertsUsed: 0,
  blockSize: 0,
  poolSize: 0,
  selected: 0,
  keysInPool: 1,
} as const

/** Whisper: the layers are the decoder's, which also store keys and values of the encoder's output. */
function speechShape(file: GgufFile, keys: ModelKeys): ModelShape {
  const n = (key: string) => keys.number(key) ?? 0
  const count = Math.min(n('decoder.block_count'), kMaxLayers)
  const { blocks, rest } = groupTensors(file.tensors, ['decoder.blocks.'], count)
  const embedding = n('decoder.embedding_length')
  const cache = { k: embedding, v: embedding }
  const heads = n('decoder.attention.head_count')
  return {
    architecture: keys.architecture,
    layers: blocks.map((tensors) => ({
      tensors,
      caches: [cache, { ...cache, cells: n('encoder.context_length') }],
      state: 0,
      pending: 0,
      heads,
      keyHeads: heads,
    })),
    input: rest,
    output: [],
    tied: file.tensor('decoder.token_embedding.weight'),
    embedding,
    vocabulary: file.tensor('decoder.token_embedding.weight')?.shape[1] ?? 0,
    trainedContext: keys.number('decoder.context_length'),
    ...kNothingElse,
    executed: count,
  }
}

/** A model that speaks by itself has no layers that store something. */
function soundShape(file: GgufFile, keys: ModelKeys): ModelShape {
  return {
    architecture: keys.architecture,
    layers: [],
    input: file.tensors,
    output: [],
    tied: undefined,
    embedding: 0,
    vocabulary: 0,
    trainedContext: keys.number('duration_predictor.albert.context_length'),
    sound: soundBytes(file, keys),
    ...kNothingElse,
    cacheless: true,
  }
}

export async function shapeOf(file: GgufFile): Promise<ModelShape> {
  const keys = await ModelKeys.of(file)
  if (keys.architecture === kSpeaksAlone) return soundShape(file, keys)
  if (keys.architecture === 'whisper') return speechShape(file, keys)
  // A decision head may have blocks of that name without an encoder.
  const encoder = ['dec.blk.', 'enc.blk.'].every((prefix) =>
    file.tensors.some(({ name }) => name.startsWith(prefix)),
  )
  const declared =
    (encoder ? keys.number('decoder_block_count') : undefined) ?? keys.number('block_count') ?? 0
  const count = Math.min(declared, kMaxLayers)
  const prefixes = encoder ? ['dec.blk.', 'enc.blk.'] : ['blk.', 'enc.blk.']
  const grouped = groupTensors(file.tensors, prefixes, count)
  const embedding = keys.number('embedding_length') ?? 0
  const heads = keys.layers('attention.head_count', count) ?? Array<number>(count).fill(0)
  const keyHeads = keys.layers('attention.head_count_kv', count) ?? heads
  const blocks = grouped.blocks.map((_, i) => {
    const tensors = grouped.blocks[blockOfPass(keys, i)] ?? []
    return blockOf(tensors, tensors[0] ? prefixOf(tensors[0].name) : '')
  })
  const caches = cachesOf(keys, blocks, embedding)
  const state = stateOf(keys, embedding, Math.max(0, ...heads))
  const token = file.tensor('token_embd.weight')
  const cacheless = withoutCache(keys) || !file.tensors.some(({ name }) => /^(dec\.)?blk\./.test(name))
  const output = grouped.rest.filter(({ name }) => /^(output|dec\.output|cls)/.test(name))
  return {
    architecture: keys.architecture,
    layers: blocks.map(({ tensors, recurrent }, i) => ({
      tensors: grouped.blocks[i]!,
      computes: tensors,
      caches: caches[i]!,
      state:
        recurrent && !withoutCache(keys)
          ? state + ngramState(tensors, keys.number('ple.ngram_size') ?? 0)
          : 0,
      pending: pendingOf(tensors, caches[i]!),
      heads: heads[i]!,
      keyHeads: keyHeads[i]!,
    })),
    input: grouped.rest.filter((tensor) => !output.includes(tensor)),
    output,
    tied: file.tensor('output.weight') || withoutCache(keys) ? undefined : token,
    embedding,
    vocabulary: (file.tensor('output.weight') ?? token)?.shape[1] ?? 0,
    encoder: (kEncoders.has(keys.architecture) || decidesWhole(keys)) && cacheless,
    cacheless,
    // llama.cpp makes the mask of windows for LFM2's decision models, too, which have none.
    windowed: windowsOf(keys, count) !== undefined || decidesWhole(keys),
    takes: keys.has('adapters.router_gain')
      ? 'tokens'
      : keys.has('hyper_connection.count') && !keys.has('hyper_connection.low_rank')
        ? 'one kind'
        : 'mixtures',
    executed: Math.max(0, count - headLayers(keys)),
    expertsUsed: keys.number('expert_used_count') ?? 0,
    blockSize: keys.number('attention.indexer.block_size') ?? 0,
    poolSize: poolSize(keys, count),
    selected: keys.number('attention.indexer.top_k') ?? 0,
    keysInPool: Math.max(1, keys.number('attention.indexer.kpool') ?? 1),
    trainedContext: keys.number('context_length'),
  }
}

const prefixOf = (name: string) => /^(?:\w+\.)?blk\.\d+\./.exec(name)?.[0] ?? ''

function groupTensors(tensors: readonly TensorInfo[], prefixes: readonly string[], count: number) {
  const blocks: TensorInfo[][] = Array.from({ length: count }, () => [])
  const rest: TensorInfo[] = []
  for (const tensor of tensors) {
    const prefix = prefixes.find((one) => tensor.name.startsWith(one))
    const index = prefix === undefined ? NaN : Number.parseInt(tensor.name.slice(prefix.length), 10)
    const block = blocks[index]
    if (block) block.push(tensor)
    else rest.push(tensor)
  }
  // The decoder's tensors come first, because they determine what a layer stores.
  for (const block of blocks) block.sort((a, b) => prefixes.indexOf(kind(a)) - prefixes.indexOf(kind(b)))
  return { blocks, rest }
}

const kind = ({ name }: TensorInfo) => name.slice(0, name.indexOf('blk.') + 4)
