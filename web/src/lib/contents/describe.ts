// Describes a file in one to three plain sentences and a few figures.
import type { GgufFile, Scalar, Summary } from 'ggufscope'
import { bytes, compact, count, fixed, oneLine, words } from '../language/format'
import { joined } from '../language/joined'
import { t } from '../language/text'

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

function tokenizerName(summary: Summary): string {
  const model = summary.tokenizer ?? ''
  return Object.hasOwn(tokenizers, model) ? (tokenizers[model] ?? model) : oneLine(model, 40)
}

function vocabulary(summary: Summary): string {
  const size = summary.vocabularySize
  if (size === undefined) return ''
  const name = tokenizerName(summary)
  return name
    ? t('{size} {tokenizer} tokens', { size, tokenizer: name })
    : t('{n} token|{n} tokens', { n: size })
}

function modelSentence(summary: Summary): string {
  const { layers: n, fileType, quantization, bitsPerWeight } = summary
  const type = fileType ?? quantization[0]?.type
  const rest = {
    parameters: words(summary.parameters),
    layers: n === undefined ? '' : t(' in {n} layer| in {n} layers', { n }),
    stored: type === undefined ? '' : t(', stored as {type}', { type: oneLine(type, 40) }),
    bits: bitsPerWeight > 0 ? t(' at {bits} bits per weight', { bits: fixed(bitsPerWeight, 2) }) : '',
  }
  if (!summary.architecture) return t('A model of {parameters} parameters{layers}{stored}{bits}.', rest)
  const architecture = oneLine(summary.architecture, 40)
  return article(architecture) === 'an'
    ? t('An {architecture} model of {parameters} parameters{layers}{stored}{bits}.', {
        architecture,
        ...rest,
      })
    : t('A {architecture} model of {parameters} parameters{layers}{stored}{bits}.', { architecture, ...rest })
}

function vocabularySentence(summary: Summary): string {
  const architecture = oneLine(summary.architecture ?? t('language'), 40)
  const tokens = summary.vocabularySize === undefined ? '' : `: ${vocabulary(summary)}`
  return article(architecture) === 'an'
    ? t('The vocabulary of an {architecture} model alone, without weights{tokens}.', { architecture, tokens })
    : t('The vocabulary of a {architecture} model alone, without weights{tokens}.', { architecture, tokens })
}

const sentences: Record<Summary['kind'], (summary: Summary) => string> = {
  model: modelSentence,
  vocabulary: vocabularySentence,
  adapter: ({ parameters }) =>
    t('An adapter: {parameters} parameters to lay over a base model.', { parameters: words(parameters) }),
  projector: ({ parameters }) =>
    t('A projector of {parameters} parameters: it turns images or sound into what a language model reads.', {
      parameters: words(parameters),
    }),
  imatrix: ({ tensorCount }) =>
    t('An importance matrix: statistics over {tensors} that guide quantization.', {
      tensors: t('{n} tensor|{n} tensors', { n: tensorCount }),
    }),
  'control-vector': ({ tensorCount, parameters }) =>
    t('A control vector: {directions} that steer a model, {parameters} numbers in all.', {
      directions: t('{n} direction|{n} directions', { n: tensorCount }),
      parameters: words(parameters),
    }),
  // A container from before GGUF may have a vocabulary without its keys.
  metadata: (summary) =>
    summary.vocabularySize === undefined
      ? t('A file of metadata alone: neither tensors nor a vocabulary.')
      : vocabularySentence(summary),
}

export function describe(summary: Summary): string {
  const parts = [sentences[summary.kind](summary)]
  if (summary.experts !== undefined && summary.experts > 1 && summary.expertsUsed !== undefined) {
    const { experts, expertsUsed: used, activeParameters: active } = summary
    parts.push(
      active > 0
        ? t(
            'It is a mixture of {experts} experts with {used} at work for each token, so that {parameters} parameters are active.',
            { experts, used, parameters: words(active) },
          )
        : t('It is a mixture of {experts} experts with {used} at work for each token.', { experts, used }),
    )
  }
  if (summary.kind === 'model') {
    const { contextLength: n } = summary
    const context = n === undefined ? '' : t('{n} token|{n} tokens', { n })
    const tokens = vocabulary(summary)
    if (context && tokens)
      parts.push(t('It takes up to {context} of context and knows {tokens}.', { context, tokens }))
    else if (context) parts.push(t('It takes up to {context} of context.', { context }))
    else if (tokens) parts.push(t('It knows {tokens}.', { tokens }))
  }
  return joined(...parts)
}

interface Figure {
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
      ? { label: t('parameters'), value: compact(summary.parameters), exact: count(summary.parameters) }
      : undefined,
    size === undefined
      ? undefined
      : { label: t('file size'), value: bytes(size), exact: t('{n} byte|{n} bytes', { n: size }) },
    summary.bitsPerWeight > 0
      ? { label: t('bits per weight'), value: fixed(summary.bitsPerWeight, 2) }
      : undefined,
    summary.contextLength === undefined
      ? undefined
      : { label: t('tokens of context##figure'), value: count(summary.contextLength) },
    summary.layers === undefined ? undefined : { label: t('layers'), value: count(summary.layers) },
    summary.vocabularySize === undefined
      ? undefined
      : { label: t('tokens of vocabulary'), value: count(summary.vocabularySize) },
    { label: t('tensors'), value: count(summary.tensorCount) },
    { label: t('metadata keys'), value: count(keyCountOf(file)) },
  ]
  return list.filter((figure) => figure !== undefined).slice(0, 6)
}

interface Fact {
  label: string
  value: string
}

/** Describes a file by its first keys, while the rest of the header is loading. */
export function earlyFacts(keys: ReadonlyMap<string, Scalar>): Fact[] {
  const architecture = String(keys.get('general.architecture') ?? '')
  const own = (key: string) => keys.get(`${architecture}.${key}`)
  const rows: [string, Scalar | undefined][] = [
    [t('Name'), keys.get('general.name')],
    [t('Architecture'), architecture],
    [t('Size'), keys.get('general.size_label')],
    [t('Layers'), own('block_count')],
    [t('Context'), own('context_length')],
    [t('Embedding length'), own('embedding_length')],
    [t('Heads'), own('attention.head_count')],
    [t('License'), keys.get('general.license')],
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
        : t('{heads} for queries, {kvHeads} for keys and values', {
            heads: summary.heads,
            kvHeads: summary.kvHeads,
          })
  const experts =
    summary.experts === undefined || summary.experts === 0
      ? ''
      : `${count(summary.experts)}${summary.expertsUsed === undefined ? '' : t(', {used} for each token', { used: summary.expertsUsed })}`
  const rows: [string, string | undefined][] = [
    [t('Name'), summary.name],
    [t('Author'), summary.author],
    [t('Organization'), summary.organization],
    [t('License'), summary.license],
    [t('Source'), summary.url],
    [t('Architecture'), summary.architecture],
    [t('Stored as'), summary.tensorCount > 0 ? summary.fileType : undefined],
    [t('Embedding length'), number(summary.embeddingLength)],
    [t('Feed-forward length'), number(summary.feedForwardLength)],
    [t('Attention heads'), heads],
    [t('Head length'), number(summary.headLength)],
    [t('Experts'), experts],
    [
      t('Sliding window'),
      summary.slidingWindow === undefined ? '' : t('{n} token|{n} tokens', { n: summary.slidingWindow }),
    ],
    [t('RoPE base'), number(summary.ropeFrequencyBase)],
    [
      t('Tokenizer'),
      [tokenizerName(summary), summary.preTokenizer && `(${summary.preTokenizer})`].filter(Boolean).join(' '),
    ],
    [
      t('Chat template'),
      summary.hasChatTemplate ? t('yes') : summary.kind === 'model' ? t('none##template') : '',
    ],
    [
      t('Format'),
      t(
        '{format}, {endianness}-endian, aligned to {n} byte|{format}, {endianness}-endian, aligned to {n} bytes',
        {
          format: `${file.container.toUpperCase()}${file.version === 0 ? '' : ` ${file.version}`}`,
          endianness: file.endianness,
          n: file.alignment,
        },
      ) + (file.shards.length > 1 ? t(', in {n} part|, in {n} parts', { n: file.shards.length }) : ''),
    ],
  ]
  return rows.flatMap(([label, value]) => (value ? { label, value: oneLine(value, 300) } : []))
}

/** How many keys the file has, with those that repeat an earlier one: the rows of the metadata. */
export const keyCountOf = (file: GgufFile): number => file.metadata.size + file.metadata.repeated.length
