import type { AdapterChoice, GenerateOptions, LoadOptions } from '../engine/index.js'
import { withPaths, type OpenOptions } from '../node.js'
import { UsageError, type Option, type Options, type Values } from './command.js'
import { sizeOf } from './sizes.js'

/** An option of the engine on the command line: its name, and how its text is parsed. */
interface Row extends Option {
  readonly name: string
  /** Default: a number if the option takes a value, otherwise true. */
  readonly parse?: (text: string) => unknown
}

const kText = (text: string): string => text

const kCacheType = { value: 'TYPE', choices: ['f16', 'f32', 'q8_0', 'q4_0'], parse: kText }

// One row for each option of load(), except the projector, which run.ts has. If an option is missing here, the compiler
// reports it.
const kLoad: Readonly<
  Record<
    Exclude<
      keyof LoadOptions,
      Exclude<keyof OpenOptions, 'cache'> | 'workerUrl' | 'maxForks' | 'onProgress' | 'projector' | 'adapters'
    >,
    Row
  >
> = {
  contextLength: {
    name: 'context',
    value: 'N',
    help: "tokens that prompt and answer may have together; default: the model's, at most 4096",
  },
  threads: {
    name: 'threads',
    value: 'N',
    help: 'default: as many as the machine has cores, one of many left free',
  },
  variant: {
    name: 'variant',
    value: 'NAME',
    choices: ['simd', 'relaxed'],
    parse: kText,
    help: 'the build of the engine; default: relaxed where it works',
  },
  precision: {
    name: 'precision',
    value: 'NAME',
    choices: ['fast', 'compact', 'exact'],
    parse: kText,
    help: 'weights repacked; small ones as they are in the file; all of it as float32',
  },
  cacheType: { ...kCacheType, name: 'cache-type', help: 'of cached keys and values; default: f16' },
  cacheTypeK: { ...kCacheType, name: 'cache-type-k', help: 'of cached keys alone' },
  cacheTypeV: { ...kCacheType, name: 'cache-type-v', help: 'of cached values alone' },
  draft: {
    name: 'draft',
    value: 'FILE',
    parse: kText,
    help: 'a smaller model of the same vocabulary, whose tokens are checked several at a time',
  },
  sparseAttention: {
    name: 'sparse-attention',
    value: 'WHEN',
    choices: ['on', 'off'],
    parse: (text) => text === 'on',
    help: 'MiniMax-M3: attend to the best blocks only; default: on',
  },
  cache: {
    name: 'cache',
    help: 'keep a file that is given by its address in the cache folder of the user, for the next run',
  },
  memoryLimit: {
    name: 'memory-limit',
    value: 'SIZE',
    parse: sizeOf,
    help: 'bytes that the model may take: 500M, 2G, ...',
  },
}

// The same for generate() and chat(). run.ts has the grammar, the schema and the biases. Grammar triggers are only for
// programs.
const kGenerate: Readonly<
  Record<
    Exclude<
      keyof GenerateOptions,
      'signal' | 'onDone' | 'grammar' | 'grammarTriggers' | 'showTokens' | 'schema' | 'stop' | 'logitBias'
    >,
    Row
  >
> = {
  maxTokens: { name: 'max-tokens', value: 'N', help: 'end after so many tokens' },
  temperature: {
    name: 'temperature',
    value: 'T',
    help: 'flattens the probabilities; 0: the likeliest token',
  },
  topK: { name: 'top-k', value: 'K', help: 'only the K likeliest tokens' },
  topP: { name: 'top-p', value: 'P', help: 'only the likeliest tokens that reach this probability together' },
  minP: { name: 'min-p', value: 'P', help: "only tokens of this share of the likeliest one's probability" },
  typicalP: { name: 'typical-p', value: 'P', help: 'locally typical sampling' },
  topNSigma: { name: 'top-n-sigma', value: 'N', help: 'only logits so many deviations below the largest' },
  xtcProbability: {
    name: 'xtc-probability',
    value: 'P',
    help: 'how often XTC leaves out the likeliest tokens',
  },
  xtcThreshold: { name: 'xtc-threshold', value: 'P', help: 'those that XTC may leave out' },
  penaltyLastN: { name: 'penalty-last-n', value: 'N', help: 'last tokens that penalties look at; -1: all' },
  repeatPenalty: { name: 'repeat-penalty', value: 'R', help: 'against tokens that were there' },
  frequencyPenalty: {
    name: 'frequency-penalty',
    value: 'R',
    help: 'against tokens, by how often they were there',
  },
  presencePenalty: { name: 'presence-penalty', value: 'R', help: 'against tokens that were there at all' },
  dryMultiplier: {
    name: 'dry-multiplier',
    value: 'R',
    help: 'DRY, against sequences that were there; 0: none',
  },
  dryBase: { name: 'dry-base', value: 'R', help: 'DRY: growth with the length' },
  dryAllowedLength: { name: 'dry-allowed-length', value: 'N', help: 'DRY: shorter sequences may repeat' },
  dryLastN: { name: 'dry-last-n', value: 'N', help: 'DRY: last tokens that it looks at; -1: all' },
  mirostat: { name: 'mirostat', value: 'N', choices: ['0', '2'], help: 'sampling of an even surprise' },
  mirostatTau: { name: 'mirostat-tau', value: 'R', help: 'mirostat: the surprise' },
  mirostatEta: { name: 'mirostat-eta', value: 'R', help: 'mirostat: the rate of learning' },
  seed: { name: 'seed', value: 'S', help: 'of random numbers; default: another one every time' },
  logprobs: {
    name: 'logprobs',
    value: 'N',
    needs: 'json',
    help: 'tell of so many of the likeliest tokens with each, in "pieces"',
  },
  ignoreEnd: { name: 'ignore-end', help: 'go on after end-of-generation tokens' },
  contextShift: { name: 'context-shift', help: 'when the context is full, forget the older half and go on' },
  keep: {
    name: 'keep',
    value: 'N',
    parse: (text) => (text === 'system' ? text : numberOf('keep', text)),
    help: 'tokens at the beginning that are never forgotten; with --chat also: system',
  },
  onOverflow: {
    name: 'on-overflow',
    value: 'HOW',
    choices: ['error', 'cut-middle', 'drop-turns'],
    parse: kText,
    help: 'what is done with a prompt that is too long for the context; drop-turns: with --chat',
  },
  lookup: { name: 'lookup', value: 'N', help: 'tokens to guess ahead (prompt-lookup decoding), at most 31' },
  draft: {
    name: 'draft-tokens',
    value: 'N',
    help: 'tokens that the draft model proposes at a time; default: 4',
  },
}

const optionsOf = (rows: Readonly<Record<string, Row>>): Options =>
  Object.fromEntries(Object.values(rows).map(({ name, parse: _, ...option }) => [name, option]))

// Both options fill one list. The file says which kind of adapter it is.
const kAdapterOptions: Options = {
  lora: {
    value: 'FILE[=SCALE]',
    repeats: true,
    file: 'read',
    help: 'a LoRA adapter beside the weights, times a scale; default: 1',
  },
  'control-vector': {
    value: 'FILE[=SCALE]',
    repeats: true,
    file: 'read',
    help: 'directions that are added to what leaves the layers, times a scale',
  },
  'control-vector-layers': {
    value: 'FIRST-LAST',
    needs: 'control-vector',
    help: 'the layers that control vectors change; default: all that they have',
  },
}

/** The options of load(), for the table of a command. */
export const kLoadOptions: Options = { ...optionsOf(kLoad), ...kAdapterOptions }
/** The options of load() and generate(). */
export const kEngineOptions: Options = { ...kLoadOptions, ...optionsOf(kGenerate) }

function numberOf(name: string, text: string): number {
  if (text.trim() === '' || !Number.isFinite(Number(text)))
    throw new UsageError(`--${name} takes a number, not "${text}"`)
  return Number(text)
}

function valuesOf(rows: Readonly<Record<string, Row>>, values: Values): Record<string, unknown> {
  const given: Record<string, unknown> = {}
  for (const [key, { name, parse }] of Object.entries(rows)) {
    const value = values[name]
    if (value === undefined) continue
    if (typeof value !== 'string') given[key] = true
    else if (parse) given[key] = parse(value)
    else given[key] = numberOf(name, value)
  }
  return given
}

/** Parses "a.gguf" or "a.gguf=0.5". The text after the last "=" is the scale if it is a number. */
export function adapterOf(text: string): AdapterChoice {
  const at = text.lastIndexOf('=')
  const number = text.slice(at + 1).trim()
  if (at <= 0 || number === '' || Number.isNaN(Number(number))) return { source: withPaths(text) }
  const scale = Number(number)
  if (!Number.isFinite(scale)) throw new UsageError(`"${text}": an adapter's scale is a finite number`)
  return { source: withPaths(text.slice(0, at)), scale }
}

function layersOf(text: string): readonly [number, number] {
  const match = /^(\d+)-(\d+)$/.exec(text)
  if (!match) throw new UsageError(`--control-vector-layers takes FIRST-LAST, not "${text}"`)
  return [Number(match[1]), Number(match[2])]
}

export function loadOptionsOf(values: Values): LoadOptions {
  const range = values['control-vector-layers'] as string | undefined
  const layers = range === undefined ? undefined : layersOf(range)
  const loras = ((values['lora'] ?? []) as readonly string[]).map(adapterOf)
  const vectors = ((values['control-vector'] ?? []) as readonly string[]).map(adapterOf)
  const adapters = [...loras, ...vectors.map((vector) => ({ ...vector, layers }))]
  return { ...valuesOf(kLoad, values), ...(adapters.length > 0 && { adapters }) }
}

export function generateOptionsOf(values: Values): GenerateOptions {
  return valuesOf(kGenerate, values)
}

/** Parses "15339=-2.5" and "13=-inf". */
export function biasesOf(words: readonly string[]): Readonly<Record<number, number>> | undefined {
  if (words.length === 0) return undefined
  const pairs = words.map((word) => {
    const match = /^(\d+)=([-+]?(?:\d+\.?\d*|\.\d+|(inf)))$/.exec(word)
    if (!match) throw new UsageError(`--logit-bias "${word}" is not of the form ID=NUMBER or ID=-inf`)
    const value = match[3] ? (match[2]!.startsWith('-') ? -Infinity : Infinity) : Number(match[2])
    return [Number(match[1]), value] as const
  })
  return Object.fromEntries(pairs)
}
