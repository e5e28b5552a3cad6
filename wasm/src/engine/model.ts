// The methods of a loaded model, which call the worker.
import { callBack, withCallbacks } from '../api/callbacks.js'
import {
  bytes as isBytes,
  checkArgument,
  checkOptions,
  integer,
  kProgressChecks,
  kReadChecks,
} from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { ChatMessage, Tokenizer } from '../api/text.js'
import { schemaToGrammar } from '../schema/index.js'
import { replyPlanOf } from '../chat/plan.js'
import { Adapters } from './adapters.js'
import { normalizeRows, normOf } from './embeddings.js'
import {
  checkChat,
  checkDecide,
  checkEmbed,
  checkEncodeChat,
  checkEvaluate,
  checkGenerate,
  checkIds,
  checkRerank,
  checkSpeak,
  checkTrace,
  kEncodeChatChecks,
} from './options.js'
import type { SpeakOptions, SpokenPart, SpokenResult } from '../audio/speak-types.js'
import type { Decided } from '../decision/decide.js'
import type { DecideOptions, DecisionOf, DecisionQuestion, DecisionState } from '../decision/types.js'
import { mediaTokens, type MediaTokens } from './media-calls.js'
import type { EngineCalls } from './model-engine.js'
import { readReply, withReplyOptions } from './reply.js'
import { PieceQueue } from './piece-queue.js'
import { speechStream } from './speech-stream.js'
import { pairsOf, traceCallOf, traceOf } from './trace-calls.js'
import type { EncodeMedium } from './decide-calls.js'
import type { GenerateCall, SamplerNumbers } from './protocol.js'
import type {
  AdapterChoice,
  AdapterInfo,
  ChatOptions,
  ChatPiece,
  ChatResult,
  EmbedOptions,
  EncodeChatOptions,
  WarningOptions,
  EncodedMedia,
  EncodeMediaOptions,
  GenerateOptions,
  GenerateResult,
  MediaPart,
  Model,
  ModelInfo,
  Peaks,
  Piece,
  ProfiledOperation,
  RankedDocument,
  RerankOptions,
  SamplingOptions,
  SetAdaptersOptions,
  Trace,
  TraceOptions,
} from './types.js'

type EmbedInput = string | readonly number[] | readonly string[] | readonly (readonly number[])[]

/** What a model's methods need to know of its engine. */
export interface ModelFacts {
  readonly defaults: SamplerNumbers
  readonly sequences: number
  /** a draft model is loaded, too */
  readonly drafted: boolean
}

/** What a model and its forks share. */
interface Shared extends ModelFacts {
  readonly engine: EngineCalls
  readonly adapters: Adapters
  /** sequences that no fork uses */
  readonly free: number[]
  /** close() also closes the file; otherwise the caller that opened it does */
  readonly ownsFile: boolean
}

/** Without the limit that a call has for its arguments. */
function append(to: number[], ids: readonly number[]): void {
  for (const id of ids) to.push(id)
}

/** One sequence of a loaded model: the main one, or a fork's. */
export class TextModel implements Model {
  readonly file: GgufFile
  readonly #shared: Shared
  readonly #sequence: number
  #closed = false

  private constructor(file: GgufFile, shared: Shared, sequence: number) {
    this.file = file
    this.#shared = shared
    this.#sequence = sequence
  }

  static of(
    file: GgufFile,
    engine: EngineCalls,
    { defaults, sequences, drafted }: ModelFacts,
    ownsFile: boolean,
  ): TextModel {
    const free = Array.from({ length: sequences - 1 }, (_, i) => sequences - 1 - i)
    const adapters = new Adapters(engine)
    return new TextModel(file, { engine, adapters, defaults, free, sequences, ownsFile, drafted }, 0)
  }

  get info(): ModelInfo {
    return this.#shared.engine.info
  }

  get #engine(): EngineCalls {
    if (this.#closed) throw new GgufError('closed', 'This model was closed.')
    return this.#shared.engine
  }

  async fork(): Promise<Model> {
    const engine = this.#engine
    const to = this.#shared.free.pop()
    if (to === undefined) {
      throw new GgufError(
        'out-of-range',
        `All ${this.#shared.sequences - 1} forks of this model are in use: close one, or load it with more maxForks.`,
      )
    }
    try {
      await engine.call('fork', { from: this.#sequence, to })
      this.#shared.adapters.fork(this.#sequence, to)
    } catch (error) {
      this.#shared.free.push(to)
      throw error
    }
    return new TextModel(this.file, this.#shared, to)
  }

  get adapters(): readonly AdapterInfo[] {
    return this.#shared.adapters.of(this.#sequence)
  }

  get tokenizer(): Tokenizer {
    return this.file.tokenizer()
  }

  async *generate(
    prompt: string | readonly number[],
    options: GenerateOptions = {},
  ): AsyncGenerator<Piece, GenerateResult, void> {
    checkGenerate(options, this.info.vocabularySize)
    const { onOverflow, maxTokens = Infinity, keep = 4 } = options as GenerateOptions & { keep?: number }
    let tokens = this.#tokens(prompt)
    if (onOverflow === 'cut-middle') {
      const { cutMiddle, promptRoom } = await import('./overflow.js')
      tokens = cutMiddle(tokens, promptRoom(this.info.contextLength, maxTokens), keep)
    }
    return yield* this.#stream(tokens, options, keep)
  }

  async *chat(
    messages: readonly ChatMessage[],
    options: ChatOptions = {},
  ): AsyncGenerator<ChatPiece, ChatResult, void> {
    checkChat(messages, options, this.info.vocabularySize)
    const { toolChoice, parallelToolCalls, onDone, ...others } = options
    const entries = Object.entries(others)
    const isOfPrompt = ([name]: readonly [string, unknown]) => name in kEncodeChatChecks
    const generating: GenerateOptions = Object.fromEntries(entries.filter((entry) => !isOfPrompt(entry)))
    const { tools, template } = options
    const { grammar, schema } = generating
    const plan = await replyPlanOf(this, { tools, toolChoice, parallelToolCalls, template, grammar, schema })
    const rendering: EncodeChatOptions = {
      ...Object.fromEntries(entries.filter(isOfPrompt)),
      tools: plan.tools,
    }
    const ofMedia = new Set<string>()
    const onWarning = (warning: string): void => void ofMedia.add(warning)
    const { tokens, keep } = await this.#chatPrompt(messages, { ...rendering, onWarning }, generating)
    const { templateWarnings } = await import('../text/render-chat.js')
    const ofTemplate = templateWarnings(this.file.chatTemplates, { template, tools: plan.tools })
    const warnings = [...ofTemplate, ...ofMedia]
    const ofReply = await plan.options(tokens)
    return yield* readReply({ parser: plan.parser(tokens), warnings }, onDone, (onGenerated) =>
      this.#stream(tokens, withReplyOptions(generating, ofReply, onGenerated), keep),
    )
  }

  async #chatPrompt(
    messages: readonly ChatMessage[],
    rendering: EncodeChatOptions & WarningOptions,
    generating: GenerateOptions,
  ): Promise<{ tokens: readonly number[]; keep?: number }> {
    const { signal } = generating
    if (generating.onOverflow === undefined && generating.keep === undefined)
      return { tokens: await this.#encodeChat(messages, rendering, signal) }
    const { fitChat } = await import('./overflow.js')
    // Only a prompt that ends with the last message can continue it.
    const encode = (some: readonly ChatMessage[]) =>
      this.#encodeChat(
        some,
        { ...rendering, continue: rendering.continue && some.at(-1) === messages.at(-1) },
        signal,
      )
    return await fitChat(messages, { contextLength: this.info.contextLength, encode }, generating)
  }

  async encodeChat(
    messages: readonly ChatMessage[],
    options: EncodeChatOptions & WarningOptions & { signal?: AbortSignal | undefined } = {},
  ): Promise<number[]> {
    checkEncodeChat(messages, options)
    return await withCallbacks(options, ({ signal, ...rendering }) =>
      this.#encodeChat(messages, rendering, signal),
    )
  }

  async #encodeChat(
    messages: readonly ChatMessage[],
    { onWarning, ...rendering }: EncodeChatOptions & WarningOptions,
    signal?: AbortSignal,
  ): Promise<number[]> {
    signal?.throwIfAborted()
    const { encodeChat, encodeChatTexts } = await import('./encode-chat.js')
    return await encodeChat(
      messages,
      (texts, marks) => encodeChatTexts(this.file, texts, rendering, marks),
      async (part, images) => {
        const { tokens, warnings } = await this.#mediaTokens(part, { signal, imagesBefore: images })
        for (const warning of warnings) onWarning?.(warning)
        return tokens
      },
    )
  }

  async encodeMedia(part: MediaPart, options: EncodeMediaOptions = {}): Promise<EncodedMedia> {
    checkOptions('encodeMedia()', options, { ...kProgressChecks, imagesBefore: integer(0) })
    const { tokens, warnings } = await withCallbacks(options, (all) => this.#mediaTokens(part, all))
    const { signal } = options
    return {
      tokens,
      warnings,
      ...(await this.#engine.call('mediaEmbeddings', Int32Array.from(tokens), { signal })),
    }
  }

  #mediaTokens(part: MediaPart, options: EncodeMediaOptions): Promise<MediaTokens> {
    return mediaTokens(this.#engine, this.info, part, options)
  }

  async evaluate(
    tokens: readonly (number | MediaPart)[],
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<Float32Array> {
    checkEvaluate(tokens, options)
    const { signal } = options
    const ids: number[] = []
    let images = 0
    for (const token of tokens) {
      if (typeof token === 'number') {
        ids.push(token)
        continue
      }
      append(ids, (await this.#mediaTokens(token, { signal, imagesBefore: images })).tokens)
      if (token.type === 'image') images++
    }
    const argument = { sequence: this.#sequence, tokens: Int32Array.from(ids) }
    return await this.#engine.call('evaluate', argument, { signal })
  }

  speak(text: string, options: SpeakOptions = {}): AsyncGenerator<SpokenPart, SpokenResult, void> {
    checkSpeak(text, options)
    return speechStream(this.#engine, this.file, this.#sequence, text, options)
  }

  async trace(text: string | readonly number[], options: TraceOptions = {}): Promise<Trace> {
    checkTrace(text, options)
    const call = traceCallOf(this.#sequence, this.#tokens(text), options)
    return await withCallbacks(options, async ({ signal, onProgress }) => {
      const onSteps = (done: number, total: number): void => onProgress?.({ done, total })
      return traceOf((await this.#engine.call('trace', call, { signal, onSteps }))!, call)
    })
  }

  embed(text: string | readonly number[], options?: EmbedOptions): Promise<Float32Array>
  embed(
    texts: readonly string[] | readonly (readonly number[])[],
    options?: EmbedOptions,
  ): Promise<Float32Array[]>
  async embed(texts: EmbedInput, options: EmbedOptions = {}): Promise<Float32Array | Float32Array[]> {
    checkEmbed(options)
    if (!Array.isArray(texts) || typeof texts[0] === 'number')
      return (await this.#embedAll([texts as string | readonly number[]], options))[0]!
    return await this.#embedAll(texts as readonly (string | readonly number[])[], options)
  }

  async rerank(
    query: string,
    documents: readonly string[],
    options: RerankOptions = {},
  ): Promise<RankedDocument[]> {
    checkRerank(query, documents, options)
    const { topN, signal, onDone } = options
    const { pairTokens, rankedDocuments } = await import('./rank.js')
    const pairs = documents.map((document) => pairTokens(this.file, query, document))
    const scores = await this.#embedAll(pairs, { pooling: 'rank', signal, onDone })
    return rankedDocuments(scores, topN)
  }

  async decide<Q extends DecisionQuestion>(
    question: Q & DecisionState,
    options: DecideOptions = {},
  ): Promise<DecisionOf<Q>> {
    checkDecide('decide()', question, options)
    const { state, media, ...one } = question
    const about = { state, media }
    return (await this.#decideAll(about, { question: one }, options)).answers['question'] as DecisionOf<Q>
  }

  async decideAll<Q extends Readonly<Record<string, DecisionQuestion>>>(
    request: DecisionState & { readonly questions: Q },
    options: DecideOptions = {},
  ): Promise<{ readonly [Name in keyof Q]: DecisionOf<Q[Name]> }> {
    checkDecide('decideAll()', request, options)
    const { answers } = await this.#decideAll(request, request.questions, options)
    return answers as { readonly [Name in keyof Q]: DecisionOf<Q[Name]> }
  }

  async #decideAll(about: DecisionState, questions: unknown, options: DecideOptions): Promise<Decided> {
    const { decideAbout } = await import('./decide-calls.js')
    const encode: EncodeMedium = async (part, call) => (await this.#mediaTokens(part, call)).tokens
    const host = { client: this.#engine, sequence: this.#sequence, file: this.file, encode }
    return await decideAbout(host, about, questions, options)
  }

  async #embedAll(
    texts: readonly (string | readonly number[])[],
    { pooling, normalize, signal, onDone }: EmbedOptions,
  ): Promise<Float32Array[]> {
    const kind = pooling ?? this.info.pooling
    const vectors: Float32Array[] = []
    let count = 0
    for (const text of texts) {
      const tokens = Int32Array.from(this.#tokens(text))
      count += tokens.length
      const argument = { sequence: this.#sequence, tokens, pooling: pooling ?? ('' as const) }
      const values = await this.#engine.call('embed', argument, { signal })
      const rows = kind === 'none' ? tokens.length : 1
      normalizeRows(values, values.length / rows, normOf(normalize, kind))
      vectors.push(values)
    }
    await callBack(onDone, { tokens: count })
    return vectors
  }

  async setAdapters(
    adapters: readonly AdapterChoice[],
    options: SetAdaptersOptions = {},
  ): Promise<readonly AdapterInfo[]> {
    checkOptions('setAdapters()', options, kReadChecks)
    const { signal } = options
    void this.#engine // closed?
    return await this.#shared.adapters.set(this.#sequence, adapters, signal)
  }

  async saveState(): Promise<Uint8Array> {
    return await this.#engine.call('saveState', { sequence: this.#sequence })
  }

  async loadState(bytes: Uint8Array): Promise<void> {
    checkArgument('loadState()', 'state', bytes, isBytes)
    await this.#engine.call('loadState', { sequence: this.#sequence, bytes })
  }

  async profile(): Promise<readonly ProfiledOperation[]> {
    return await this.#engine.call('profile', undefined)
  }

  async peaks(): Promise<Peaks> {
    return await this.#engine.call('peaks', undefined)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    const { engine, free } = this.#shared
    if (this.#sequence === 0) {
      engine.end()
      if (this.#shared.ownsFile) this.file.close()
    } else {
      free.push(this.#sequence) // calls run in order, so the next fork starts after the drop
      engine.call('drop', { sequence: this.#sequence }).catch(() => {}) // the model was closed before
      this.#shared.adapters.drop(this.#sequence)
    }
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #tokens(prompt: string | readonly number[]): readonly number[] {
    if (typeof prompt === 'string') return this.tokenizer.encode(prompt, { special: true, bos: true })
    checkIds(prompt)
    return prompt
  }

  /** The file's defaults, overridden by the given options. */
  #sampler(options: SamplingOptions): SamplerNumbers {
    const numbers: { -readonly [Name in keyof SamplerNumbers]: number } = { ...this.#shared.defaults }
    for (const name of Object.keys(numbers) as (keyof SamplerNumbers)[])
      numbers[name] = options[name] ?? numbers[name]
    return numbers
  }

  #call(tokens: readonly number[], options: GenerateOptions, keep: number): GenerateCall {
    const { stop = [], logitBias = {}, maxTokens = Infinity, logprobs = 0, lookup = 0, seed } = options
    const sampler = this.#sampler(options)
    const { grammar, schema } = options
    if (grammar !== undefined && schema !== undefined) {
      throw new GgufError('invalid-argument', 'An answer can have a grammar or a schema, not both.')
    }
    const random = seed ?? Math.floor(Math.random() * 2 ** 32)
    return {
      sequence: this.#sequence,
      tokens: Int32Array.from(tokens),
      options: {
        sampler,
        seed: random >>> 0,
        logprobs,
        lookup,
        draft: this.#shared.drafted ? (options.draft ?? 8) : 0,
        keep,
        ignoreEnd: options.ignoreEnd ?? false,
        contextShift: options.contextShift ?? false,
      },
      stop: typeof stop === 'string' ? [stop] : stop,
      bias: Float64Array.from(Object.entries(logitBias).flatMap(([id, bias]) => [Number(id), bias])),
      grammar: schema === undefined ? (grammar ?? '') : schemaToGrammar(schema),
      triggers: (options.grammarTriggers ?? []).map((trigger) => {
        if (typeof trigger === 'string') return { text: trigger, token: -1, atStart: false }
        if ('token' in trigger) return { text: '', token: trigger.token, atStart: false }
        return { text: trigger.text, token: -1, atStart: trigger.atStart ?? false }
      }),
      shown: Int32Array.from(options.showTokens ?? []),
      ablated: pairsOf(options.ablate ?? []),
      maxTokens,
      answered: new Int32Array(),
    }
  }

  /** Yields pieces as they arrive. Leaving the loop early ends the generation. */
  async *#stream(
    tokens: readonly number[],
    options: GenerateOptions,
    keep = 4,
  ): AsyncGenerator<Piece, GenerateResult, void> {
    const { signal, onDone } = options
    signal?.throwIfAborted()
    const control = new AbortController()
    const stop = () => control.abort(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
    const queue = new PieceQueue()
    const generated = this.#engine
      .generate(this.#call(tokens, options, keep), {
        signal: control.signal,
        onStart: (setPause) => (queue.setPause = setPause),
        onPieces: (more) => queue.push(more),
      })
      .finally(() => queue.end())
    generated.catch(() => {}) // awaited below, unless the caller leaves the loop
    try {
      for (let piece = await queue.next(signal); piece; piece = await queue.next(signal)) yield piece
      const done = await generated
      const result: GenerateResult = { ...done, guessedTokens: done.acceptedDraftTokens }
      await callBack(onDone, result)
      return result
    } finally {
      if (!queue.ended) control.abort()
      signal?.removeEventListener('abort', stop)
    }
  }
}
