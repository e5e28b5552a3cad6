// The command trace: what a model computes inside while it reads a text.
import { textModelOf } from '../engine/model-kinds.js'
import type { AttentionHead, Trace, TraceOptions } from '../engine/index.js'
import type { Tokenizer } from '../api/text.js'
import { kFile, UsageError, type Command, type Context } from './command.js'
import { checkTrace } from '../engine/options.js'
import { givenNumber, headsOf, kLoadOptions, loadOptionsOf, partsOf } from './engine-options.js'
import { counted, table, visible } from './format.js'
import { readText } from './text.js'

/** Tokens of the text that are shown for a head: those with the largest weights. */
const kShown = 3

const percent = (logprob: number): string =>
  Number.isNaN(logprob) ? '' : `${(100 * Math.exp(logprob)).toFixed(1)} %`

function layersOf(text: unknown): readonly number[] | undefined {
  if (text === 'all') return undefined
  const words = typeof text === 'string' ? text.split(',') : []
  if (!words.every((word) => /^\d+$/.test(word)))
    throw new UsageError(`--layers takes "all" or numbers of layers (0,6,12), not "${String(text)}"`)
  return words.map(Number)
}

/** The tokens that a token attends to most, with their shares. */
function attendedOf(weights: Float32Array, names: readonly string[], query: number): string {
  const row = weights.subarray(query * names.length, (query + 1) * names.length)
  return Array.from(row, (weight, key) => ({ weight, key }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, Math.min(kShown, query + 1))
    .map(({ weight, key }) => `${names[key]} ${(100 * weight).toFixed(0)} %`)
    .join(', ')
}

function printTrace(
  context: Context,
  trace: Trace,
  names: readonly string[],
  nameOf: (id: number) => string,
): void {
  const best = (trace.layers[0]?.tokens.length ?? 0) / names.length
  const head = ['', 'token', 'probability', 'rank']
  for (const { layer } of trace.layers) head.push(`layer ${layer}`)
  for (const { layer, head: of } of trace.attention) head.push(`head ${layer}:${of} attends to`)
  const rows = names.map((name, at) => [
    String(at),
    name,
    percent(trace.logprobs[at] ?? NaN),
    (trace.ranks[at] ?? -1) < 0 ? '' : String(trace.ranks[at]! + 1),
    ...trace.layers.map(({ tokens, logprobs }) =>
      Array.from(tokens.subarray(at * best, (at + 1) * best))
        .map((id, i) => `${nameOf(id)} ${percent(logprobs[at * best + i]!)}`)
        .join(', '),
    ),
    ...trace.attention.map(({ weights }) => attendedOf(weights, names, at)),
  ])
  table([head, ...rows], ['>', '<', '>', '>'], context.columns).forEach(context.print)
}

/** Rows of a matrix. */
const rowsOf = (values: Float32Array | Int32Array, columns: number): number[][] =>
  Array.from({ length: values.length / columns }, (_, i) =>
    Array.from(values.subarray(i * columns, (i + 1) * columns)),
  )

function jsonOf(ids: readonly number[], { logprobs, ranks, layers, attention }: Trace): object {
  const { length } = ids
  return {
    ids,
    logprobs: Array.from(logprobs, (value) => (Number.isNaN(value) ? null : value)),
    ranks: Array.from(ranks),
    layers: layers.map(({ layer, ...of }) => ({
      layer,
      tokens: rowsOf(of.tokens, of.tokens.length / length),
      logprobs: rowsOf(of.logprobs, of.tokens.length / length),
    })),
    attention: attention.map(({ layer, head, weights }) => ({
      layer,
      head,
      weights: rowsOf(weights, length),
    })),
  }
}

function nameIn(tokenizer: Tokenizer): (id: number) => string {
  const decoder = new TextDecoder()
  return (id) => JSON.stringify(visible(decoder.decode(tokenizer.tokens.at(id)?.bytes ?? new Uint8Array())))
}

export const command: Command = {
  arguments: [
    kFile,
    { name: 'text', optional: true, help: 'is the text that the model reads; default: standard input' },
  ],
  options: {
    layers: {
      value: 'LAYERS',
      help: 'show what these layers tend to (logit lens): all, or numbers; 0: the embeddings; default: the output',
    },
    best: { value: 'N', help: 'likeliest tokens for each layer; default: 1' },
    attention: {
      value: 'HEADS',
      help: 'show what these heads attend to: LAYER:HEAD, separated by commas, counted from 0',
    },
    ablate: {
      value: 'PARTS',
      help: 'switch these parts off: LAYER or LAYER:HEAD, separated by commas, counted from 0',
    },
    ...kLoadOptions,
  },
  async run(context) {
    const { positionals, values, progress, signal } = context
    const heads = (values['attention'] as string | undefined) ?? ''
    const parts = (values['ablate'] as string | undefined) ?? ''
    const best = givenNumber(values, 'best') ?? 1
    const attention: readonly AttentionHead[] = heads === '' ? [] : headsOf('attention', heads)
    const ablate = parts === '' ? [] : partsOf('ablate', parts)
    const layers = values['layers'] === undefined ? 'output' : layersOf(values['layers'])
    checkTrace('', { best, attention, ablate })
    const loading = loadOptionsOf(values)
    const input = positionals[1] ?? (await readText('-', 'the text'))
    using model = textModelOf(await context.load(loading, positionals[0]))
    const output = model.info.encoder ? [] : [model.info.layers]
    const options: TraceOptions = {
      best,
      attention,
      ablate,
      signal,
      ...(layers === 'output' ? { layers: output } : layers && { layers }),
      onProgress: ({ done, total }) => progress.show(() => `traced: ${counted(done, 'token')} of ${total}`),
    }
    const ids = model.tokenizer.encode(input, { special: true, bos: true })
    const trace = await model.trace(ids, options)
    progress.clear()
    const nameOf = nameIn(model.tokenizer)
    if (context.json) context.printJson(jsonOf(ids, trace))
    else printTrace(context, trace, ids.map(nameOf), nameOf)
    return 0
  },
}
