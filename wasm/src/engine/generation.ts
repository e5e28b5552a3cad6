// Generates one answer in the engine's worker, and posts its pieces.
import { bytesOf, check, type EngineHeap } from './heap.js'
import type { WasmEngine } from './classes.js'
import type { GenerateCall, GenerateStatistics } from './protocol.js'
import type { FinishReason, Piece } from './types.js'

/** Pieces are posted, and messages are handled, at most once in so many milliseconds. */
export const kPostMs = 4
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** What computes tokens: the engine itself, or a GPU (src/gpu). */
export interface Computing {
  /** Computes some of the tokens that wait. */
  advance(): void | Promise<void>
  /** Computes what the next token needs, and samples it. Of at most so many tokens, computing may run ahead. */
  next(ahead: number): void | Promise<void>
  /** Reports the time of a token that needed a pass of its own. */
  took(ms: number): void
  /** The prompt is computed. */
  began(): void
  /** The answer has ended, or failed. */
  end(): void
}

/** What a generation needs of its worker. */
interface GenerationHost {
  cancelled(): boolean
  post(pieces: readonly Piece[]): void
  /** handles messages */
  yield(): Promise<void>
  /** The same, and rests while the reader is behind. Returns the rest's time. */
  waitForReader(): Promise<number>
}

export class Generation {
  readonly #engine: WasmEngine
  readonly #heap: EngineHeap
  readonly #computing: Computing
  readonly #host: GenerationHost
  #pieces: Piece[] = []

  constructor(engine: WasmEngine, heap: EngineHeap, computing: Computing, host: GenerationHost) {
    this.#engine = engine
    this.#heap = heap
    this.#computing = computing
    this.#host = host
  }

  async run(call: GenerateCall): Promise<GenerateStatistics> {
    this.#prepare(call)
    const engine = this.#engine
    const startedAt = performance.now()
    check(engine.beginAnswer(this.#putIds(call.tokens), call.options), engine)
    const reusedTokens = engine.reusedTokens()
    if (call.answered.length > 0) check(engine.resumeAnswer(this.#putIds(call.answered)), engine)
    try {
      while (engine.pendingTokens() > 0 && !this.#host.cancelled()) {
        await this.#computing.advance()
        await this.#host.yield()
      }
      const computed = performance.now()
      this.#computing.began()
      const { tokens, finishReason, restedMs } = await this.#answer(call)
      return {
        finishReason,
        stopString: call.stop.filter((stop) => stop !== '')[engine.stopIndex()],
        promptTokens: call.tokens.length,
        reusedTokens,
        promptMs: computed - startedAt,
        generateMs: performance.now() - computed - restedMs,
        tokens,
        acceptedDraftTokens: engine.acceptedDraftTokens(),
      }
    } finally {
      this.#postPieces()
      this.#computing.end()
    }
  }

  async #answer({
    options: { logprobs, lookup, draft },
    maxTokens,
    answered,
  }: GenerateCall): Promise<{ tokens: number; finishReason: FinishReason; restedMs: number }> {
    const engine = this.#engine
    const host = this.#host
    let tokens = answered.length
    let finishReason: FinishReason = 'length'
    let [yielded, restedMs] = [-Infinity, 0]
    // The answer had ended with a stop string when it was interrupted.
    if (answered.length > 0 && engine.stopIndex() >= 0) return { tokens, finishReason: 'stop', restedMs }
    while (tokens < maxTokens && !host.cancelled()) {
      const asked = performance.now()
      await this.#computing.next(maxTokens - tokens)
      // Excludes the first token, which comes from the prompt's logits, and speculative decoding, where a token may
      // need no pass.
      if (tokens > answered.length && lookup === 0 && draft === 0)
        this.#computing.took(performance.now() - asked)
      if (engine.token() >= 0) tokens++
      this.#pieces.push(...this.#piece(logprobs))
      const finish = engine.finishReason() as FinishReason | ''
      finishReason = finish || finishReason
      if (finish !== '') break
      if (performance.now() - yielded < kPostMs) continue
      this.#postPieces()
      restedMs += await host.waitForReader()
      yielded = performance.now()
    }
    if (finishReason === 'length' && !host.cancelled()) {
      // Text that was held back for a stop string belongs to the answer.
      engine.endAnswer()
      this.#pieces.push(...this.#piece(0))
      if (engine.finishReason() === 'stop') finishReason = 'stop'
    }
    return { tokens, finishReason, restedMs }
  }

  #prepare(call: GenerateCall): void {
    const engine = this.#engine
    check(engine.select(call.sequence), engine)
    engine.setStops(call.stop.map((stop) => `${stop.replaceAll('\0', '')}\0`).join(''))
    engine.setGrammar(call.grammar)
    for (const trigger of call.triggers) engine.addTrigger(trigger)
    engine.setShown(this.#putIds(call.shown))
    engine.setAblated(this.#putIds(call.ablated) / 2)
    this.#heap.put(bytesOf(call.bias), engine)
    engine.setBias(call.bias.length / 2)
  }

  /** The piece of the latest token; none if it ended the answer, and no text was left. */
  #piece(logprobs: number): Piece[] {
    const engine = this.#engine
    const token = engine.token()
    const isEnd = token < 0 || engine.finishReason() === 'end'
    const text = decoder.decode(this.#heap.bytes(engine.text()))
    if (isEnd && text === '') return []
    const piece: Piece = { text, token: isEnd ? -1 : token }
    return [logprobs > 0 && token >= 0 ? { ...piece, ...this.#heap.logprobs(engine) } : piece]
  }

  #postPieces(): void {
    if (this.#pieces.length > 0) this.#host.post(this.#pieces)
    this.#pieces = []
  }

  #putIds(ids: Int32Array): number {
    this.#heap.put(bytesOf(ids), this.#engine)
    return ids.length
  }
}
