// The allowed options of the engine's functions. If types.ts has an option without a row here, the compiler reports
// it.
import { kMaxThreads } from './threading.js'
import {
  anything,
  callback,
  checkArgument,
  checkOptions,
  either,
  flag,
  integer,
  kProgressChecks,
  kReadChecks,
  list,
  listOf,
  number,
  object,
  oneOf,
  seed,
  signal,
  text,
  type Check,
} from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import { contentProblem } from '../api/messages.js'
import { kOpenChecks } from '../file/open-checks.js'
import { openedFile } from '../file/opened.js'
import { checkMessages, kRenderChecks } from '../text/render-options.js'
import { kSamplerChecks } from './sampler-options.js'
import type { SpeakOptions } from '../audio/speak-types.js'
import type { DecideOptions } from '../decision/types.js'
import type {
  ChatOptions,
  EmbedOptions,
  EncodeChatOptions,
  GenerateOptions,
  LintLoadOptions,
  LoadOptions,
  RerankOptions,
  TraceOptions,
} from './types.js'

type Checks<T> = Readonly<Record<keyof T, Check>>

const isHead = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0
function isPart(value: unknown): boolean {
  const { layer, head } = Object(value) as { layer?: unknown; head?: unknown }
  return isHead(layer) && (head === undefined || isHead(head))
}
const kParts = listOf(
  (value) => (isPart(value) ? undefined : 'a layer, or a head of a layer'),
  'an array of { layer, head }, counted from 0',
)

export const kGenerateChecks: Checks<GenerateOptions> = {
  ...kSamplerChecks,
  seed,
  logitBias: object,
  maxTokens: either(integer(0), oneOf(Infinity)),
  stop: either(text, list),
  grammar: text,
  grammarTriggers: list,
  showTokens: list,
  ablate: kParts,
  schema: either(object, flag),
  logprobs: integer(0, 100),
  ignoreEnd: flag,
  contextShift: flag,
  keep: either(integer(0), oneOf('system')),
  onOverflow: oneOf('error', 'cut-middle', 'drop-turns'),
  lookup: integer(0, 31), // logits of each take a row of the vocabulary
  draft: integer(0, 31),
  signal,
  onDone: callback,
}

/** Options of encodeChat(), and those of chat() in addition to generate()'s. */
export const kEncodeChatChecks: Checks<EncodeChatOptions> = { ...kRenderChecks, specialContent: flag }

const kChat: Checks<ChatOptions> = {
  ...kGenerateChecks,
  ...kEncodeChatChecks,
  toolChoice: either(oneOf('none', 'auto', 'required'), object),
  parallelToolCalls: flag,
}

export const kEmbed: Checks<EmbedOptions> = {
  pooling: oneOf('none', 'mean', 'cls', 'last', 'rank'),
  normalize: either(flag, integer(-1)),
  signal,
  onDone: callback,
}

const kTrace: Checks<TraceOptions> = {
  ...kProgressChecks,
  layers: listOf(integer(0), 'an array of layers'),
  best: integer(1, 1000),
  attention: kParts,
  ablate: kParts,
}
const kDecide: Checks<DecideOptions> = { signal, onDone: callback }
const kRerank: Checks<RerankOptions> = { topN: integer(0), signal, onDone: callback }

const kCacheType = oneOf('f16', 'f32', 'q8_0', 'q4_0')

export const kLintLoadChecks: Checks<LintLoadOptions> = {
  signal,
  workerUrl: either(text, object),
  wasmUrl: anything,
  assets: either(text, object),
  projector: openedFile,
}

const kLoad: Checks<LoadOptions> = {
  ...kOpenChecks,
  projector: anything, // open() checks more of it
  adapters: list,
  contextLength: integer(1, 2 ** 24),
  maxForks: integer(0, 63),
  threads: integer(1, kMaxThreads),
  variant: oneOf('simd', 'relaxed', 'memory64'),
  precision: oneOf('fast', 'compact', 'exact'),
  draft: anything, // open() checks more of it
  onCache: callback,
  share: flag,
  crossOriginStorage: flag,
  device: oneOf('auto', 'gpu', 'cpu'),
  allowFallbackAdapter: flag,
  onDevice: callback,
  cacheType: kCacheType,
  cacheTypeK: kCacheType,
  cacheTypeV: kCacheType,
  sparseAttention: flag,
  memoryLimit: either(number(0), oneOf(Infinity)),
  workerUrl: either(text, object),
}

function checkTokens(name: string, ids: readonly unknown[], vocabularySize: number): void {
  for (const id of ids)
    if (!(Number.isInteger(id) && (id as number) >= 0 && (id as number) < vocabularySize))
      throw new GgufError(
        'invalid-argument',
        `The option ${name} names the token ${String(id)}: ids go from 0 to ${vocabularySize - 1}.`,
      )
}

function checkTriggers(triggers: readonly unknown[], vocabularySize: number): void {
  for (const trigger of triggers) {
    const { text, token } = (typeof trigger === 'string' ? { text: trigger } : (trigger ?? {})) as {
      text?: unknown
      token?: unknown
    }
    if (token !== undefined && text === undefined) checkTokens('grammarTriggers', [token], vocabularySize)
    else if (typeof text !== 'string' || text === '' || token !== undefined)
      throw new GgufError(
        'invalid-argument',
        `The option grammarTriggers holds ${JSON.stringify(trigger)}: a trigger is a text, { text, atStart } or { token }.`,
      )
  }
}

function checkLists(
  { stop, logitBias, grammarTriggers, showTokens }: Omit<GenerateOptions, 'onDone'>,
  vocabularySize: number,
): void {
  checkTriggers(grammarTriggers ?? [], vocabularySize)
  checkTokens('showTokens', showTokens ?? [], vocabularySize)
  const fail = (message: string): never => {
    throw new GgufError('invalid-argument', message)
  }
  if (Array.isArray(stop))
    for (const one of stop as readonly unknown[])
      if (typeof one !== 'string') fail(`The option stop holds ${String(one)}, which is no string.`)
  for (const [id, bias] of Object.entries(logitBias ?? {})) {
    if (!(/^\d+$/.test(id) && Number(id) < vocabularySize))
      fail(`A logit bias names the token ${id}: ids go from 0 to ${vocabularySize - 1}.`)
    if (typeof bias !== 'number' || Number.isNaN(bias))
      fail(`The logit bias of token ${id} must be a number, not ${String(bias)}.`)
  }
}

export function checkGenerate(options: GenerateOptions, vocabularySize: number): void {
  checkOptions('generate()', options, kGenerateChecks)
  if (options.keep === 'system' || options.onOverflow === 'drop-turns')
    throw new GgufError(
      'invalid-argument',
      `The option ${options.keep === 'system' ? 'keep' : 'onOverflow'} of generate() is about messages, which only chat() has.`,
    )
  checkLists(options, vocabularySize)
}

/** Refuses what is no conversation, and messages that say nothing. */
function checkConversation(what: string, messages: unknown): void {
  checkMessages(what, messages)
  const problem = contentProblem(what, messages as readonly object[])
  if (problem !== undefined) throw new GgufError('invalid-argument', problem)
}

export function checkChat(messages: unknown, options: ChatOptions, vocabularySize: number): void {
  checkConversation('chat()', messages)
  checkOptions('chat()', options, kChat)
  checkLists(options, vocabularySize)
}

/** Arguments of evaluate(). The engine checks that ids are within the vocabulary. */
export function checkEvaluate(tokens: unknown, options: object): void {
  const isToken = either(integer(), object)
  checkOptions('evaluate()', options, kReadChecks)
  if (!ArrayBuffer.isView(tokens))
    checkArgument('evaluate()', 'tokens', tokens, listOf(isToken, 'an array of ids and media'))
}

const kSpeak: Checks<SpeakOptions> = {
  voice: anything, // it is checked where it is read
  language: text,
  speed: number(0.25, 4),
  phonemize: callback,
  ipa: flag,
  temperature: number(0),
  seed,
  signal,
}
export function checkSpeak(words: unknown, options: SpeakOptions): void {
  checkArgument('speak()', 'text', words, text)
  checkOptions('speak()', options, kSpeak)
}

export function checkTrace(text: unknown, options: TraceOptions): void {
  if (typeof text !== 'string') checkIds(text)
  checkOptions('trace()', options, kTrace)
}

/** Arguments of a speech model's evaluate(). */
export function checkEvaluateSpeech(tokens: unknown, options: object): void {
  checkOptions('evaluate()', options, { ...kReadChecks, audio: object })
  if (!ArrayBuffer.isView(tokens))
    checkArgument('evaluate()', 'tokens', tokens, listOf(integer(), 'an array of ids'))
}

export const checkEmbed = (options: EmbedOptions): void => checkOptions('embed()', options, kEmbed)
export function checkEncodeChat(messages: unknown, options: EncodeChatOptions): void {
  checkConversation('encodeChat()', messages)
  checkOptions('encodeChat()', options, { ...kEncodeChatChecks, signal, onWarning: callback })
}
export function checkRerank(query: unknown, documents: unknown, options: RerankOptions): void {
  checkArgument('rerank()', 'query', query, text)
  checkArgument('rerank()', 'documents', documents, listOf(text, 'an array of texts'))
  checkOptions('rerank()', options, kRerank)
}
export function checkDecide(what: string, request: unknown, options: DecideOptions): void {
  checkArgument(what, 'question', request, object)
  const { media } = request as { readonly media?: unknown }
  if (media !== undefined) checkArgument(what, 'media', media, listOf(object, 'an array of images and audio'))
  checkOptions(what, options, kDecide)
}
export function checkIds(prompt: unknown): void {
  if (!Array.isArray(prompt) && !ArrayBuffer.isView(prompt))
    throw new GgufError('invalid-argument', `A prompt is a text or its tokens' ids, not ${String(prompt)}.`)
  for (const id of prompt as readonly unknown[]) {
    // The engine checks that ids are within the vocabulary.
    if (!Number.isInteger(id))
      throw new GgufError('invalid-argument', `A token's id must be a whole number, not ${String(id)}.`)
  }
}
export const checkLoad = (options: LoadOptions): void => checkOptions('load()', options, kLoad)
