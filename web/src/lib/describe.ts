// Describes a file in one to three plain sentences and a few figures.
import type { GgufFile, Scalar, Summary } from 'ggufscope'
import { bytes, compact, count, counted, oneLine, words } from './format'

const tokenizers: Record<string, string> = {
  llama: 'SentencePiece',
  gpt2: 'byte-level BPE',
  bert: 'WordPiece',
  t5: 'Unigram',
  rwkv: 'RWKV',
  plamo2: 'PLaMo 2',
}

/** Chooses "a" or "an" by the sound of the word. */
function article(word: string): string {
  return /^([aeio]|u(?!ni)|8|11)/i.test(word) ? 'an' : 'a'
}

function withArticle(phrase: string, capital = true): string {
  const text = `${article(phrase)} ${phrase}`
  return capital ? text.charAt(0).toUpperCase() + text.slice(1) : text
}

function tokenizerName(summary: Summary): string {
  const model = summary.tokenizer ?? ''
  return Object.hasOwn(tokenizers, model) ? (tokenizers[model] ?? model) : oneLine(model, 40)
}

function vocabulary(summary: Summary): string {
  const size = summary.vocabularySize
  if (size === undefined) return ''
  const name = tokenizerName(summary)
  return `${count(size)} ${name ? `${name} ` : ''}tokens`
}

function modelSentence(summary: Summary): string {
  const architecture = summary.architecture ? `${oneLine(summary.architecture, 40)} ` : ''
  const layers = summary.layers === undefined ? '' : ` in ${counted(summary.layers, 'layer')}`
  const type = summary.fileType ?? summary.quantization[0]?.type
  const stored = type === undefined ? '' : `, stored as ${oneLine(type, 40)}`
  const bits = summary.bitsPerWeight > 0 ? ` at ${summary.bitsPerWeight.toFixed(2)} bits per weight` : ''
  return `${withArticle(`${architecture}model`)} of ${words(summary.parameters)} parameters${layers}${stored}${bits}.`
}

const sentences: Record<Summary['kind'], (summary: Summary) => string> = {
  model: modelSentence,
  vocabulary: (summary) =>
    `The vocabulary of ${withArticle(`${oneLine(summary.architecture ?? 'language', 40)} model`, false)} alone, without weights${
      summary.vocabularySize === undefined ? '' : `: ${vocabulary(summary)}`
    }.`,
  adapter: (summary) => `An adapter: ${words(summary.parameters)} parameters to lay over a base model.`,
  projector: (summary) =>
    `A projector of ${words(summary.parameters)} parameters: it turns images or sound into what a language model reads.`,
  imatrix: (summary) =>
    `An importance matrix: statistics over ${counted(summary.tensorCount, 'tensor')} that guide quantization.`,
  'control-vector': (summary) =>
    `A control vector: ${counted(summary.tensorCount, 'direction')} that steer a model, ${words(summary.parameters)} numbers in all.`,
  metadata: () => 'A GGUF file of metadata alone: neither tensors nor a vocabulary.',
}

export function describe(summary: Summary): string {
  const parts = [sentences[summary.kind](summary)]
  if (summary.experts !== undefined && summary.experts > 1 && summary.expertsUsed !== undefined) {
    parts.push(
      `It is a mixture of ${counted(summary.experts, 'expert')} with ${count(summary.expertsUsed)} at work for each token, so that ${words(summary.activeParameters)} parameters are active.`,
    )
  }
  if (summary.kind === 'model') {
    const context =
      summary.contextLength === undefined
        ? ''
        : `takes up to ${counted(summary.contextLength, 'token')} of context`
    const tokens = vocabulary(summary)
    const knows = tokens ? `knows ${tokens}` : ''
    const both = [context, knows].filter(Boolean).join(' and ')
    if (both) parts.push(`It ${both}.`)
  }
  return parts.join(' ')
}

export interface Figure {
  label: string
  value: string
  exact?: string
}

/** The size of all files of a model in bytes; undefined if a server does not state it. */
export function sizeOf(file: GgufFile): number | undefined {
  if (file.shards.some(({ present, size }) => present && size === undefined)) return undefined
  return file.shards.reduce((sum, { size }) => sum + (size ?? 0), 0)
}

export function figures(file: GgufFile, summary: Summary): Figure[] {
  const size = sizeOf(file)
  const list: (Figure | undefined)[] = [
    summary.parameters > 0
      ? { label: 'parameters', value: compact(summary.parameters), exact: count(summary.parameters) }
      : undefined,
    size === undefined ? undefined : { label: 'file size', value: bytes(size), exact: counted(size, 'byte') },
    summary.bitsPerWeight > 0
      ? { label: 'bits per weight', value: summary.bitsPerWeight.toFixed(2) }
      : undefined,
    summary.contextLength === undefined
      ? undefined
      : { label: 'tokens of context', value: count(summary.contextLength) },
    summary.layers === undefined ? undefined : { label: 'layers', value: count(summary.layers) },
    summary.vocabularySize === undefined
      ? undefined
      : { label: 'tokens of vocabulary', value: count(summary.vocabularySize) },
    { label: 'tensors', value: count(summary.tensorCount) },
    { label: 'metadata keys', value: count(file.metadata.size) },
  ]
  return list.filter((figure) => figure !== undefined).slice(0, 6)
}

export interface Fact {
  label: string
  value: string
}

/** Describes a file by its first keys, while the rest of the header is loading. */
export function earlyFacts(keys: ReadonlyMap<string, Scalar>): Fact[] {
  const architecture = String(keys.get('general.architecture') ?? '')
  const own = (key: string) => keys.get(`${architecture}.${key}`)
  const rows: [string, Scalar | undefined][] = [
    ['Name', keys.get('general.name')],
    ['Architecture', architecture],
    ['Size', keys.get('general.size_label')],
    ['Layers', own('block_count')],
    ['Context', own('context_length')],
    ['Embedding length', own('embedding_length')],
    ['Heads', own('attention.head_count')],
    ['License', keys.get('general.license')],
  ]
  return rows.flatMap(([label, value]) =>
    value === undefined || value === ''
      ? []
      : [{ label, value: typeof value === 'number' ? count(value) : oneLine(String(value), 120) }],
  )
}

export function facts(file: GgufFile, summary: Summary): Fact[] {
  const number = (value: number | undefined) => (value === undefined ? '' : count(value))
  const heads =
    summary.heads === undefined
      ? ''
      : summary.kvHeads === undefined || summary.kvHeads === summary.heads
        ? count(summary.heads)
        : `${count(summary.heads)} for queries, ${count(summary.kvHeads)} for keys and values`
  const experts =
    summary.experts === undefined || summary.experts === 0
      ? ''
      : `${count(summary.experts)}${summary.expertsUsed === undefined ? '' : `, ${count(summary.expertsUsed)} for each token`}`
  const rows: [string, string | undefined][] = [
    ['Name', summary.name],
    ['Author', summary.author],
    ['Organization', summary.organization],
    ['License', summary.license],
    ['Source', summary.url],
    ['Architecture', summary.architecture],
    ['Stored as', summary.fileType],
    ['Embedding length', number(summary.embeddingLength)],
    ['Feed-forward length', number(summary.feedForwardLength)],
    ['Attention heads', heads],
    ['Head length', number(summary.headLength)],
    ['Experts', experts],
    ['Sliding window', summary.slidingWindow === undefined ? '' : counted(summary.slidingWindow, 'token')],
    ['RoPE base', number(summary.ropeFrequencyBase)],
    [
      'Tokenizer',
      [tokenizerName(summary), summary.preTokenizer && `(${summary.preTokenizer})`].filter(Boolean).join(' '),
    ],
    ['Chat template', summary.hasChatTemplate ? 'yes' : summary.kind === 'model' ? 'none' : ''],
    [
      'Format',
      `${file.container.toUpperCase()}${file.version === 0 ? '' : ` ${file.version}`}, ${file.endianness}-endian, aligned to ${counted(file.alignment, 'byte')}${file.shards.length > 1 ? `, in ${counted(file.shards.length, 'part')}` : ''}`,
    ],
  ]
  return rows.flatMap(([label, value]) => (value ? { label, value: oneLine(value, 300) } : []))
}
