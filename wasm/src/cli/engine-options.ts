// The options of commands that load a model: for load(), generate() and chat().
import type {
  AdapterChoice,
  AttentionHead,
  GenerateOptions,
  LayerPart,
  LoadOptions,
} from '../engine/index.js'
import { checkOptions } from '../api/checks.js'
import { checkLoad, kGenerateChecks } from '../engine/options.js'
import type { OpenOptions } from '../node.js'
import { withPaths } from '../sources/node-paths.js'
import { UsageError, type Option, type Options, type Values } from './command.js'
import { kSampler } from './sampler-options.js'
import { sizeOf } from './sizes.js'

/** An option of the engine on the command line: its name, and how its text is parsed. */
interface Row extends Option {
  readonly name: string
  /** Default: a number if the option takes a value, otherwise true. */
  readonly parse?: (text: string) => unknown
}

const kText = (text: string): string => text

const kCacheType = { value: 'TYPE', choices: ['f16', 'f32', 'q8_0', 'q4_0'], parse: kText }

// One row for each option of load(), except the projector (projector.ts). If an option is missing here, the compiler
// reports it.
const kLoad: Readonly<
  Record<
    Exclude<
      keyof LoadOptions,
      | Exclude<keyof OpenOptions, 'cache'>
      | 'workerUrl'
      | 'maxForks'
      | 'onProgress'
      | 'onCache'
      | 'onDevice'
      | 'projector'
      | 'adapters'
      | 'share' // tabs of browsers
      | 'crossOriginStorage'
    >,
    Row
  >
> = {
  contextLength: {
    name: 'context',
    value: 'N',
    help: "largest number of tokens of prompt and answer together; default: the model's, at most 4096",
  },
  device: {
    name: 'device',
    value: 'NAME',
    choices: ['auto', 'gpu', 'cpu'],
    parse: kText,
    help: 'where the model runs; gpu needs the npm package webgpu; default: cpu',
  },
  allowFallbackAdapter: {
    name: 'allow-fallback-adapter',
    needs: 'device',
    help: 'with --device: also use software that stands in for a graphics card, for tests',
  },
  threads: {
    name: 'threads',
    value: 'N',
    help: 'number of threads; default: one for each core, with one of many cores left free',
  },
  variant: {
    name: 'variant',
    value: 'NAME',
    choices: ['simd', 'relaxed', 'memory64'],
    parse: kText,
    help: 'the build of the engine; default: relaxed if it works, memory64 beyond 4 GiB',
  },
  precision: {
    name: 'precision',
    value: 'NAME',
    choices: ['fast', 'compact', 'exact'],
    parse: kText,
    help: 'fast: repacked weights; compact: small types stay as in the file; exact: everything in float32',
  },
  cacheType: { ...kCacheType, name: 'cache-type', help: 'type of cached keys and values; default: f16' },
  cacheTypeK: { ...kCacheType, name: 'cache-type-k', help: 'type of cached keys' },
  cacheTypeV: { ...kCacheType, name: 'cache-type-v', help: 'type of cached values' },
  draft: {
    name: 'draft',
    value: 'FILE',
    parse: kText,
    help: 'draft model: a smaller model with the same vocabulary, which proposes tokens',
  },
  sparseAttention: {
    name: 'sparse-attention',
    value: 'WHEN',
    choices: ['on', 'off'],
    parse: (text) => text === 'on',
    help: 'MiniMax-M3: attend only to the best blocks; default: on',
  },
  cache: {
    name: 'cache',
    help: "store a file from an address in the user's cache folder, for the next run",
  },
  memoryLimit: {
    name: 'memory-limit',
    value: 'SIZE',
    parse: (text) => sizeOf(text, 'memory-limit'),
    help: 'limit of memory for the model: 500M, 2G, ...',
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
  maxTokens: { name: 'max-tokens', value: 'N', help: 'end after this number of tokens' },
  ...kSampler,
  seed: { name: 'seed', value: 'S', help: 'seed of random numbers; default: a new one every time' },
  logprobs: {
    name: 'logprobs',
    value: 'N',
    needs: 'json',
    help: 'with --json: report this number of likeliest tokens with each token, in "pieces"',
  },
  ignoreEnd: { name: 'ignore-end', help: 'never choose an end-of-generation token' },
  contextShift: { name: 'context-shift', help: 'when the context is full, drop the older half and continue' },
  keep: {
    name: 'keep',
    value: 'N',
    parse: (text) => (text === 'system' ? text : numberOf('keep', text)),
    help: 'tokens at the beginning that are never dropped; with --chat also: system',
  },
  onOverflow: {
    name: 'on-overflow',
    value: 'HOW',
    choices: ['error', 'cut-middle', 'drop-turns'],
    parse: kText,
    help: 'how to shorten a prompt that is too long for the context; drop-turns: with --chat',
  },
  lookup: { name: 'lookup', value: 'N', help: 'tokens to propose by prompt-lookup decoding, at most 31' },
  ablate: {
    name: 'ablate',
    value: 'PARTS',
    parse: (text) => partsOf('ablate', text),
    help: 'answer without these parts: LAYER or LAYER:HEAD, separated by commas, counted from 0',
  },
  draft: {
    name: 'draft-tokens',
    value: 'N',
    needs: 'draft',
    help: 'most tokens that the draft model proposes at a time; default: 8',
  },
}

/** Parses "3,5:0": layers, or heads of layers. */
export function partsOf(name: string, text: string): readonly LayerPart[] {
  return text.split(',').map((word) => {
    const match = /^(\d+)(?::(\d+))?$/.exec(word.trim())
    if (!match) throw new UsageError(`--${name} takes LAYER or LAYER:HEAD, not "${word}"`)
    return { layer: Number(match[1]), ...(match[2] !== undefined && { head: Number(match[2]) }) }
  })
}

/** Parses "5:0,5:1": heads of layers. */
export function headsOf(name: string, text: string): readonly AttentionHead[] {
  return partsOf(name, text).map(({ layer, head }) => {
    if (head === undefined) throw new UsageError(`--${name} takes LAYER:HEAD, not "${layer}"`)
    return { layer, head }
  })
}

const optionsOf = (rows: Readonly<Record<string, Row>>): Options =>
  Object.fromEntries(Object.values(rows).map(({ name, parse: _, ...option }) => [name, option]))

// Both options fill one list. The kind of adapter is read from the file.
const kAdapterOptions: Options = {
  lora: {
    value: 'FILE[=SCALE]',
    repeats: true,
    file: 'read',
    help: 'apply a LoRA adapter with a scale; default: 1',
  },
  'control-vector': {
    value: 'FILE[=SCALE]',
    repeats: true,
    file: 'read',
    help: "add a control vector to the layers' output, with a scale",
  },
  'control-vector-layers': {
    value: 'FIRST-LAST',
    needs: 'control-vector',
    help: 'the layers that control vectors change; default: all their layers',
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

/** The number that an option was given; undefined: the option is absent. */
export function givenNumber(values: Values, name: string): number | undefined {
  const value = values[name]
  return typeof value === 'string' ? numberOf(name, value) : undefined
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
export function scaledOf(text: string): { path: string; scale?: number } {
  const at = text.lastIndexOf('=')
  const number = text.slice(at + 1).trim()
  if (at <= 0 || number === '' || Number.isNaN(Number(number))) return { path: text }
  const scale = Number(number)
  if (!Number.isFinite(scale)) throw new UsageError(`"${text}": an adapter's scale is a finite number`)
  return { path: text.slice(0, at), scale }
}

/** Parses the same for an adapter that is applied. */
const adapterOf =
  (kind: AdapterChoice['kind']) =>
  (text: string): AdapterChoice => {
    const { path, ...scale } = scaledOf(text)
    return { source: withPaths(path), kind, ...scale }
  }

function layersOf(text: string): readonly [number, number] {
  const match = /^(\d+)-(\d+)$/.exec(text)
  if (!match) throw new UsageError(`--control-vector-layers takes FIRST-LAST, not "${text}"`)
  return [Number(match[1]), Number(match[2])]
}

export function loadOptionsOf(values: Values): LoadOptions {
  const range = values['control-vector-layers'] as string | undefined
  const layers = range === undefined ? undefined : layersOf(range)
  const loras = ((values['lora'] ?? []) as readonly string[]).map(adapterOf('lora'))
  const vectors = ((values['control-vector'] ?? []) as readonly string[]).map(adapterOf('control-vector'))
  const adapters = [...loras, ...vectors.map((vector) => ({ ...vector, layers }))]
  const options: LoadOptions = { ...valuesOf(kLoad, values), ...(adapters.length > 0 && { adapters }) }
  checkLoad(options) // before files are read
  return options
}

export function generateOptionsOf(values: Values): GenerateOptions {
  const options: GenerateOptions = valuesOf(kGenerate, values)
  checkOptions('generate()', options, kGenerateChecks)
  return options
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
