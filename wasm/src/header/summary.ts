// The most important facts of a header, by name.
import type { Header } from './header.js'
import type { Summary, TypeShare } from '../api/file.js'
import type { LazyArray, Metadata, MetadataValue } from '../api/metadata.js'
import type { TensorInfo } from '../api/tensors.js'

function isArray(value: MetadataValue | undefined): value is LazyArray {
  return typeof value === 'object'
}

/** Typed look-ups. A missing key, or one of another type, gives undefined. */
class Keys {
  constructor(readonly metadata: Metadata) {}

  text(key: string): string | undefined {
    const value = this.metadata.get(key)
    return typeof value === 'string' && value !== '' ? value : undefined
  }

  number(key: string): number | undefined {
    const value = this.metadata.get(key)
    return typeof value === 'number' ? value : undefined
  }

  /** A number, or the largest of an array with one number for each layer. */
  max(key: string): number | undefined {
    const value = this.metadata.get(key)
    if (!isArray(value)) return this.number(key)
    const numbers = (value.loaded ? value.slice(0, 4096) : []).filter(
      (element) => typeof element === 'number',
    )
    return numbers.length === 0 ? undefined : Math.max(...numbers)
  }

  length(key: string): number | undefined {
    const value = this.metadata.get(key)
    return isArray(value) ? value.length : undefined
  }
}

function shares(tensors: readonly TensorInfo[]): TypeShare[] {
  const byType = new Map<string, { type: string; tensors: number; elements: number; bytes: number }>()
  for (const { type, elementCount, byteLength } of tensors) {
    const share = byType.get(type) ?? { type, tensors: 0, elements: 0, bytes: 0 }
    share.tensors++
    share.elements += elementCount
    share.bytes += byteLength
    byType.set(type, share)
  }
  return [...byType.values()].sort((a, b) => b.bytes - a.bytes || b.elements - a.elements)
}

const kExperts = /_exps\.(weight|bias)$/

export function summarize(header: Header, metadata: Metadata, tensors: readonly TensorInfo[]): Summary {
  const keys = new Keys(metadata)
  const architecture = keys.text('general.architecture')
  const own = (key: string) => `${architecture}.${key}`
  const quantization = shares(tensors)
  const sum = (list: readonly TensorInfo[]) =>
    list.reduce((total, { elementCount }) => total + elementCount, 0)
  const parameters = sum(tensors)
  const tensorBytes = quantization.reduce((total, { bytes }) => total + bytes, 0)

  const experts = keys.max(own('expert_count'))
  const expertsUsed = keys.max(own('expert_used_count'))
  const expertElements = sum(tensors.filter(({ name }) => kExperts.test(name)))
  const idle = experts && expertsUsed ? Math.max(0, 1 - expertsUsed / experts) : 0

  const heads = keys.max(own('attention.head_count'))
  const embeddingLength = keys.number(own('embedding_length'))
  const fileType = keys.number('general.file_type')
  return {
    kind: header.document.kind(),
    name: keys.text('general.name'),
    architecture,
    description: keys.text('general.description'),
    author: keys.text('general.author'),
    organization: keys.text('general.organization'),
    license: keys.text('general.license'),
    url: keys.text('general.url') ?? keys.text('general.repo_url') ?? keys.text('general.source.url'),
    sizeLabel: keys.text('general.size_label'),
    parameters,
    activeParameters: Math.round(parameters - expertElements * idle),
    fileType: fileType === undefined ? undefined : header.module.fileTypeName(fileType),
    quantization,
    bitsPerWeight: parameters === 0 ? 0 : (8 * tensorBytes) / parameters,
    tensorBytes,
    tensorCount: tensors.length,
    contextLength: keys.number(own('context_length')),
    embeddingLength,
    feedForwardLength: keys.max(own('feed_forward_length')),
    layers: keys.number(own('block_count')),
    heads,
    kvHeads: keys.max(own('attention.head_count_kv')) ?? heads,
    headLength:
      keys.max(own('attention.key_length')) ??
      (embeddingLength && heads ? embeddingLength / heads : undefined),
    experts,
    expertsUsed,
    slidingWindow: keys.max(own('attention.sliding_window')),
    ropeFrequencyBase: keys.number(own('rope.freq_base')),
    tokenizer: keys.text('tokenizer.ggml.model') ?? (keys.text('tokenizer.rwkv.world') && 'rwkv'),
    preTokenizer: keys.text('tokenizer.ggml.pre'),
    vocabularySize: keys.length('tokenizer.ggml.tokens') ?? keys.number(own('vocab_size')),
    hasChatTemplate: keys.text('tokenizer.chat_template') !== undefined,
  }
}
