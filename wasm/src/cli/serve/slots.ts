// The prompt cache across requests: several sequences of one model, each with the tokens in its KV cache. A request
// uses the sequence with the longest common prefix.
import { GgufError } from '../../api/errors.js'
import type {
  CompletionModel,
  EmbedOptions,
  GenerateOptions,
  GenerateResult,
  LoadedModel,
  Model,
  Piece,
  Phonemize,
  SpeakOptions,
  SpeechModel,
  SpokenPart,
  SpokenResult,
} from '../../engine/index.js'
import type { replyPlanOf } from '../../chat/plan.js'
import { encodeChat } from '../../engine/encode-chat.js'
import { speechModelOf, textModelOf } from '../../engine/model-kinds.js'
import { rankedDocuments } from '../../engine/rank.js'
import type { TextThread } from './text-thread.js'

const kPrompt = { special: true, bos: true } as const

interface Slot {
  model: Model
  tokens: readonly number[]
  usedAt: number
}

/** A speech model has none. */
const slotsOf = (model: LoadedModel): Slot[] =>
  'generate' in model ? [{ model, tokens: [], usedAt: 0 }] : []

function sameBeginning(a: readonly number[], b: readonly number[]): number {
  const max = Math.min(a.length, b.length)
  let n = 0
  while (n < max && a[n] === b[n]) n++
  return n
}

/**
 * A model with the interface that requests use. queue.ts runs one request at a time. If the engine crashes, its request
 * fails, and the next one loads the model anew.
 */
export class CachedModel {
  readonly #load: () => Promise<LoadedModel>
  /** Its file stays open, because texts are encoded with it. */
  readonly #first: LoadedModel
  readonly #texts: TextThread
  readonly #max: number
  readonly #context: number
  #model: LoadedModel
  #slots: Slot[]
  #crashed = false
  #renewal: Promise<void> | undefined
  #clock = 0
  readonly #grammars = new WeakMap<object, Promise<string>>()

  /**
   * slots: number of cached prompts. The model's context is divided evenly among them. load: loads the model again. From
   * now on the model belongs to this object.
   */
  constructor(model: LoadedModel, slots: number, texts: TextThread, load: () => Promise<LoadedModel>) {
    this.#model = this.#first = model
    this.#texts = texts
    this.#load = load
    this.#max = slots
    this.#context = Math.floor(model.info.contextLength / slots)
    this.#slots = slotsOf(model)
  }

  /** The model for createChatCompletion and similar functions. */
  get completionModel(): CompletionModel {
    const first = this.#first
    const info = (): LoadedModel['info'] => ({ ...this.#model.info, contextLength: this.#context })
    const model: CompletionModel & Parameters<typeof replyPlanOf>[0] = {
      replyOptions: (request, promptEnd) => this.#texts.call('reply', request, promptEnd),
      // The device may change.
      get info() {
        return info()
      },
      file: first.file,
      get tokenizer() {
        return first.tokenizer
      },
      encodeChat: async (messages, options = {}) => {
        const { signal, onWarning, ...rendering } = options
        const tokens = await encodeChat(
          messages,
          (texts, marks) => this.#texts.call('prompt', texts, rendering, marks),
          async (part, images) => {
            const options = { signal, imagesBefore: images }
            const { tokens: ids, warnings } = await this.#useText((model) => model.encodeMedia(part, options))
            for (const warning of warnings) onWarning?.(warning)
            return ids
          },
        )
        signal?.throwIfAborted()
        return tokens
      },
      generate: (prompt, options) => this.#generate(prompt, options),
      embed: (async (texts: string | readonly number[] | readonly string[], options?: EmbedOptions) => {
        const ids = await this.#ids(texts)
        this.#forget()
        return await this.#useText((model) => model.embed(ids, options) as Promise<never>)
      }) as Model['embed'],
      rerank: async (query, documents, options = {}) => {
        const pairs = await this.#texts.call('pairs', query, documents)
        this.#forget()
        const { topN, ...others } = options
        const scores = await this.#useText((model) => model.embed(pairs, { pooling: 'rank', ...others }))
        return rankedDocuments(scores, topN)
      },
      decideAll: async (request, options) => {
        this.#forget()
        return await this.#useText((model) => model.decideAll(request, options))
      },
    }
    return model
  }

  /** The model for requests of speech. phonemize: for models that read phonemes. */
  speaker(phonemize?: Phonemize): Pick<Model, 'speak'> {
    return { speak: (text, options) => this.#speak(text, { ...options, phonemize }) }
  }

  async *#speak(text: string, options?: SpeakOptions): AsyncGenerator<SpokenPart, SpokenResult, void> {
    await this.#renew()
    this.#forget()
    try {
      return yield* textModelOf(this.#model).speak(text, options)
    } catch (error) {
      throw this.#noted(error)
    }
  }

  /** The model for transcriptions. */
  get speech(): Pick<SpeechModel, 'transcribe'> {
    return {
      transcribe: (audio, options) => this.#use((model) => speechModelOf(model).transcribe(audio, options)),
    }
  }

  close(): void {
    this.#model.close()
    this.#first.close()
  }

  #useText<T>(task: (model: Model) => Promise<T>): Promise<T> {
    return this.#use(async (model) => await task(textModelOf(model)))
  }

  async #use<T>(task: (model: LoadedModel) => Promise<T>): Promise<T> {
    await this.#renew()
    try {
      return await task(this.#model)
    } catch (error) {
      throw this.#noted(error)
    }
  }

  /** Loads the model anew if its engine crashed. */
  async #renew(): Promise<void> {
    if (this.#crashed) await (this.#renewal ??= this.#loadAnew().finally(() => (this.#renewal = undefined)))
  }

  async #loadAnew(): Promise<void> {
    const model = await this.#load()
    if (this.#model !== this.#first) this.#model.close()
    this.#model = model
    this.#slots = slotsOf(model)
    this.#crashed = false
  }

  #noted(error: unknown): unknown {
    if (error instanceof GgufError && error.code === 'crashed') this.#crashed = true
    return error
  }

  /** The ids of one text or of several. */
  async #ids(given: string | readonly number[] | readonly (string | readonly number[])[]): Promise<number[]> {
    if (typeof given === 'string') return (await this.#texts.call('encode', [given], kPrompt))[0]!
    if (!given.some((one) => typeof one === 'string')) return given as number[]
    const texts = given.filter((one) => typeof one === 'string')
    const ids = await this.#texts.call('encode', texts, kPrompt)
    return given.map((one) => (typeof one === 'string' ? ids.shift()! : one)) as unknown as number[]
  }

  async *#generate(
    prompt: string | readonly number[],
    options: GenerateOptions = {},
  ): AsyncGenerator<Piece, GenerateResult, void> {
    await this.#renew()
    textModelOf(this.#model)
    const tokens = await this.#ids(prompt)
    const room = this.#context - tokens.length
    if (room < 0)
      throw new GgufError(
        'out-of-range',
        `The prompt has ${tokens.length} tokens, more than the context of ${this.#context}: shorten it, or serve with a larger --context.`,
      )
    const constrained = await this.#constrained(options)
    const slot = await this.#take(tokens)
    const drawn: number[] = []
    const maxTokens = Math.min(options.maxTokens ?? Infinity, room)
    let result: GenerateResult | undefined
    const onDone = (done: GenerateResult): void => {
      result = done
      options.onDone?.(done)
    }
    try {
      for await (const piece of slot.model.generate(tokens, { ...constrained, maxTokens, onDone })) {
        if (piece.token >= 0) drawn.push(piece.token)
        yield piece
      }
      return result! // set before the last step
    } catch (error) {
      throw this.#noted(error)
    } finally {
      slot.tokens = [...tokens, ...drawn]
    }
  }

  /** The options with a grammar instead of a schema, which is converted once for all answers to a request. */
  async #constrained(options: GenerateOptions): Promise<GenerateOptions> {
    const { schema, grammar } = options
    if (schema === undefined || grammar !== undefined) return options
    let made = typeof schema === 'object' ? this.#grammars.get(schema) : undefined
    made ??= this.#texts.call('grammar', schema)
    if (typeof schema === 'object') this.#grammars.set(schema, made)
    return { ...options, schema: undefined, grammar: await made }
  }

  /**
   * Returns the slot with the longest common prefix, or a copy of it if the prompt shares less than half of its tokens.
   */
  async #take(tokens: readonly number[]): Promise<Slot> {
    const same = (slot: Slot): number => sameBeginning(slot.tokens, tokens)
    const best = this.#slots.reduce((a, b) => (same(b) > same(a) ? b : a))
    let slot = best
    if (same(best) < best.tokens.length / 2 && this.#max > 1) slot = await this.#copy(best)
    slot.usedAt = ++this.#clock
    return slot
  }

  async #copy(from: Slot): Promise<Slot> {
    if (this.#slots.length === this.#max) {
      const oldest = this.#slots.reduce((a, b) => (b.usedAt < a.usedAt ? b : a))
      // The model's own sequence cannot be closed, only reused.
      if (oldest === from || oldest.model === this.#model) return oldest
      oldest.model.close()
      this.#slots.splice(this.#slots.indexOf(oldest), 1)
    }
    try {
      const slot = { model: await from.model.fork(), tokens: from.tokens, usedAt: 0 }
      this.#slots.push(slot)
      return slot
    } catch (error) {
      // An encoder's output cannot be shared, so such a model caches one prompt.
      if (error instanceof GgufError && error.code === 'unsupported') return from
      throw error
    }
  }

  // Embeddings need the cells of all sequences.
  #forget(): void {
    for (const slot of this.#slots) slot.tokens = []
  }
}
