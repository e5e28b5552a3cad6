// The prompt cache across requests: several sequences of one model, each with the tokens in its KV cache. A request
// uses the sequence with the longest common prefix.
import { GgufError } from '../../api/errors.js'
import type {
  CompletionModel,
  EmbedOptions,
  GenerateOptions,
  GenerateResult,
  Model,
  Piece,
} from '../../engine/index.js'

interface Slot {
  model: Model
  tokens: readonly number[]
  usedAt: number
}

function sameBeginning(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length)
  let n = 0
  while (n < most && a[n] === b[n]) n++
  return n
}

/** A model with the interface that requests use. queue.ts runs one request at a time. */
export class CachedModel {
  readonly #model: Model
  readonly #slots: Slot[]
  readonly #most: number
  readonly #context: number
  #clock = 0

  /** slots: number of cached prompts. The model's context is divided evenly among them. */
  constructor(model: Model, slots: number) {
    this.#model = model
    this.#most = slots
    this.#context = Math.floor(model.info.contextLength / slots)
    this.#slots = [{ model, tokens: [], usedAt: 0 }]
  }

  /** The model for createChatCompletion and similar functions. */
  get completionModel(): CompletionModel {
    const model = this.#model
    return {
      info: { ...model.info, contextLength: this.#context },
      file: model.file,
      get tokenizer() {
        return model.tokenizer
      },
      encodeChat: (messages, options) => model.encodeChat(messages, options),
      generate: (prompt, options) => this.#generate(prompt, options),
      embed: ((texts: string, options?: EmbedOptions) => {
        this.#forget()
        return model.embed(texts, options)
      }) as Model['embed'],
      rerank: (query, documents, options) => {
        this.#forget()
        return model.rerank(query, documents, options)
      },
    }
  }

  async *#generate(
    prompt: string | readonly number[],
    options: GenerateOptions = {},
  ): AsyncGenerator<Piece, GenerateResult, void> {
    const tokens =
      typeof prompt === 'string' ? this.#model.tokenizer.encode(prompt, { special: true, bos: true }) : prompt
    const room = this.#context - tokens.length
    if (room < 0)
      throw new GgufError(
        'out-of-range',
        `The prompt has ${tokens.length} tokens, more than the context of ${this.#context}: shorten it, or serve with a larger --context.`,
      )
    const slot = await this.#take(tokens)
    const drawn: number[] = []
    const maxTokens = Math.min(options.maxTokens ?? Infinity, room)
    let result: GenerateResult | undefined
    const onDone = (done: GenerateResult): void => {
      result = done
      options.onDone?.(done)
    }
    try {
      for await (const piece of slot.model.generate(tokens, { ...options, maxTokens, onDone })) {
        if (piece.token >= 0) drawn.push(piece.token)
        yield piece
      }
      return result! // set before the last step
    } finally {
      slot.tokens = [...tokens, ...drawn]
    }
  }

  /**
   * Returns the slot with the longest common prefix, or a copy of it if the prompt shares less than half of its tokens.
   */
  async #take(tokens: readonly number[]): Promise<Slot> {
    const same = (slot: Slot): number => sameBeginning(slot.tokens, tokens)
    const best = this.#slots.reduce((a, b) => (same(b) > same(a) ? b : a))
    let slot = best
    if (same(best) < best.tokens.length / 2 && this.#most > 1) slot = await this.#copy(best)
    slot.usedAt = ++this.#clock
    return slot
  }

  async #copy(from: Slot): Promise<Slot> {
    if (this.#slots.length === this.#most) {
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
