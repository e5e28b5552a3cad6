// The worker's side of the engine: one wasm module, one session. It handles messages between tokens and
// between batches.
import { Failed } from './failed.js'
import type { EngineModule, Span, WasmEngine, WasmLoader } from './module.js'
import type { Port } from './port.js'
import type {
  Answer,
  Call,
  CallName,
  Calls,
  FileHeader,
  GenerateCall,
  Generated,
  Message,
  Opened,
  PlannedTensor,
} from './protocol.js'
import { profileOf } from './profile.js'
import { SpeechWorker } from './speech-worker.js'
import type { FinishReason, Piece } from './types.js'
import { Trial, type Tried } from './trial.js'
import { choose, type Chosen } from './variants.js'

const kBatch = 128
/**
 * Pieces are posted, and messages handled, at most every kTellMs: both take 0.1 ms and more, and a small
 * model's token takes 0.5 ms.
 */
const kTellMs = 4
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A list from a function of the index. */
function listOf<T>(count: number, at: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => at(i))
}

type AnswerPort = Pick<Port<Answer, Message>, 'post' | 'yield'>

export class EngineWorker {
  #choosing: Promise<Chosen> | undefined
  #chosen: Chosen | undefined
  #module: EngineModule | undefined
  #engine: WasmEngine | undefined
  #loader: WasmLoader | undefined
  #speech: SpeechWorker | undefined
  #draft: WasmEngine | undefined
  /** Whether calls of loading are for the draft model. */
  #drafts = false
  #trial = new Trial()
  /** threads for decode; prefill uses all */
  #threads = 1
  readonly #cancelled = new Set<number>()
  readonly #port: AnswerPort
  #last: Promise<void> = Promise.resolve()

  constructor(port: AnswerPort) {
    this.#port = port
  }

  receive(message: Message): void {
    if ('close' in message) void this.#close()
    else if ('cancel' in message) this.#cancelled.add(message.cancel)
    else this.#last = this.#last.then(() => this.#handle(message as Call<CallName>))
  }

  async #close(): Promise<void> {
    this.#loader?.delete()
    this.#draft?.delete()
    const chosen = await this.#choosing?.catch(() => undefined)
    await chosen?.endThreads()
    this.#port.post({ id: 0, value: undefined }, [])
  }

  async #handle(call: Call): Promise<void> {
    let answer: Answer
    let transfer: ArrayBuffer[] = []
    try {
      const value = await this.#run(call)
      if (ArrayBuffer.isView(value)) transfer = [value.buffer as ArrayBuffer]
      else if (value instanceof ArrayBuffer) transfer = [value]
      answer = { id: call.id, value }
    } catch (error) {
      const { code = 'wasm', offset = 0 } = error as Partial<Failed>
      // wasm threw: out of memory, or a bug. The session is lost then.
      const message = error instanceof Error ? error.message : String(error)
      answer = { id: call.id, error: { code, message, offset } }
    }
    this.#cancelled.delete(call.id)
    this.#port.post(answer, transfer)
  }

  async #run(call: Call): Promise<unknown> {
    if (this.#cancelled.has(call.id)) return undefined
    switch (call.name) {
      case 'choose':
        this.#choosing = choose(call.argument as Calls['choose'][0])
        this.#chosen = await this.#choosing
        this.#module = this.#chosen.engine
        return
      case 'open':
        return this.#open(call.argument as Calls['open'][0])
      case 'draft':
        this.#drafts = call.argument as boolean
        return
      case 'memory':
        this.#check(this.loading.estimate(call.argument as Calls['memory'][0]), this.loading)
        return this.loading.memoryBytes()
      case 'begin':
        return this.#check(this.loading.beginLoad(call.argument as Calls['begin'][0]), this.loading)
      case 'vocabulary':
        return (this.#drafts ? this.#draft : this.#engine)?.readVocabulary()
      case 'rows': {
        const { bytes, parts } = call.argument as Calls['rows'][0]
        this.#put(bytes, this.loading)
        for (const rows of parts) this.#check(this.loading.setRows(rows), this.loading)
        return bytes.buffer
      }
      case 'start':
        if (this.#drafts && this.#draft) this.#check(this.engine.setDraft(this.#draft))
        this.#check(this.loading.start(call.argument as Calls['start'][0]), this.loading)
        return this.#module!.HEAPU8.length
      case 'generate':
        return await this.#generate(call.id, call.argument as GenerateCall)
      case 'evaluate': {
        const { sequence, tokens } = call.argument as Calls['evaluate'][0]
        this.#check(this.engine.select(sequence))
        this.#check(this.engine.evaluate(this.#putIds(tokens)))
        const out = this.#floats(this.engine.evaluated())
        this.engine.forgetOutput()
        return out
      }
      case 'image':
        return await this.#image(call.id, call.argument as Calls['image'][0])
      case 'sound':
        return await this.#sound(call.id, call.argument as Calls['sound'][0])
      case 'encoded': {
        this.#check(this.engine.encodedMedia(this.#putIds(call.argument as Int32Array)))
        return {
          embeddings: this.#floats(this.engine.embedding()),
          positions: this.#integers(this.engine.positions()),
        }
      }
      case 'embed':
        return this.#embed(call.argument as Calls['embed'][0])
      case 'fork': {
        const { from, to } = call.argument as Calls['fork'][0]
        return this.#check(this.engine.fork(from, to))
      }
      case 'drop':
        this.#setAdapters({ ...(call.argument as Calls['drop'][0]), adapters: [] })
        return this.engine.drop()
      case 'openAdapter': {
        const bytes = call.argument as Calls['openAdapter'][0]
        this.#put(bytes)
        this.#check(this.engine.openAdapter(bytes.length))
        const { ignored, ...facts } = this.engine.adapterFacts()
        return { ...facts, ignored: ignored === '' ? [] : ignored.split('\n') }
      }
      case 'closeAdapters':
        for (const id of call.argument as Calls['closeAdapters'][0]) this.engine.closeAdapter(id)
        return
      case 'setAdapters':
        return this.#setAdapters(call.argument as Calls['setAdapters'][0])
      case 'save': {
        this.#check(this.engine.select((call.argument as Calls['save'][0]).sequence))
        this.#check(this.engine.saveState())
        const [pointer, length] = this.engine.saved()
        const out = this.#bytes(pointer, length)
        this.engine.forgetSaved()
        return out
      }
      case 'transcribe':
        return await this.#transcribe(call.id, call.argument as Calls['transcribe'][0])
      case 'encodeSound': {
        const { sound, audioContext } = call.argument as Calls['encodeSound'][0]
        return await this.speech.encode(sound, audioContext)
      }
      case 'evaluateSound': {
        const { tokens, sound } = call.argument as Calls['evaluateSound'][0]
        return await this.speech.evaluate(tokens, sound)
      }
      case 'logMel': {
        const { sound, frames } = call.argument as Calls['logMel'][0]
        return await this.speech.logMel(sound, frames)
      }
      case 'profile':
        return profileOf(
          listOf(this.engine.takeProfile(), (i) => this.engine.profileRow(i)),
          (id) => this.#module!.typeName(id),
        )
      case 'peaks':
        this.#check(this.engine.measurePeaks())
        return this.engine.peakRates()
      case 'restore': {
        const { sequence, bytes } = call.argument as Calls['restore'][0]
        this.#check(this.engine.select(sequence))
        this.#put(bytes)
        return this.#check(this.engine.loadState(bytes.length))
      }
    }
  }

  #open({ headers, withProjector }: Calls['open'][0]): Calls['open'][1] {
    const chosen = this.#chosen
    if (!chosen) throw new Failed('closed', 'The engine was not started.')
    if (headers[0]?.speech) return this.#openSpeech(chosen, headers[0])
    const engine = new chosen.engine.Engine()
    if (this.#drafts) this.#draft = engine
    else this.#engine = this.#loader = engine
    for (const { bytes, fileSize } of headers) {
      this.#put(bytes, engine)
      engine.addHeader(bytes.length, fileSize ?? -1)
    }
    // A draft model shares the threads of the main model once its weights are loaded.
    this.#check(engine.open(this.#drafts ? 1 : chosen.threads, withProjector), engine)
    if (!this.#drafts) {
      chosen.startThreads(engine)
      this.#threads = chosen.threads
      this.#trial = new Trial(...this.#tried(chosen))
    }
    return {
      variant: chosen.variant,
      reason: chosen.reason,
      architecture: engine.architecture(),
      facts: engine.facts(),
      defaults: engine.samplerDefaults(),
      plan: listOf<PlannedTensor>(engine.plannedCount(), (i) => engine.planned(i)),
    }
  }

  #openSpeech(chosen: Chosen, { bytes, fileSize, speech }: FileHeader): Opened {
    const loader = new chosen.engine.Speech()
    this.#loader = loader
    this.#put(bytes)
    this.#check(loader.openHeader(bytes.length, fileSize ?? -1, speech === 'legacy', chosen.threads))
    chosen.startThreads(loader)
    this.#threads = chosen.threads
    this.#speech = new SpeechWorker(chosen.engine, loader)
    return {
      variant: chosen.variant,
      reason: chosen.reason,
      architecture: 'whisper',
      facts: loader.facts(),
      defaults: {} as Opened['defaults'],
      plan: listOf<PlannedTensor>(loader.plannedCount(), (i) => loader.planned(i)),
    }
  }

  async #transcribe(id: number, { sound, record, words }: Calls['transcribe'][0]): Promise<unknown> {
    let yielded = performance.now()
    return await this.speech.transcribe(sound, record, {
      words,
      cancelled: () => this.#cancelled.has(id),
      tell: (heard) => this.#port.post({ id, heard }, []),
      pause: async () => {
        if (performance.now() - yielded < kTellMs) return
        await this.#port.yield()
        yielded = performance.now()
      },
    })
  }

  get speech(): SpeechWorker {
    if (!this.#speech) throw new Failed('unsupported', 'This model cannot hear.')
    return this.#speech
  }

  get loader(): WasmLoader {
    if (!this.#loader) throw new Failed('closed', 'The engine was not started.')
    return this.#loader
  }

  #tried({ engine, threads, threadChoices }: Chosen): Tried[] {
    const tried: Tried[] = [{ choices: 2, use: (choice) => engine.useMemoryStreams(choice) }]
    if (threads > 1) tried.push({ choices: 2, use: (choice) => engine.useRuns(choice) })
    if (threadChoices.length > 1)
      tried.push({
        choices: threadChoices.length,
        use: (choice) => this.loader.useThreads((this.#threads = threadChoices[choice]!)),
      })
    return tried
  }

  async #generate(id: number, call: GenerateCall): Promise<Generated> {
    const { engine } = this
    this.#check(engine.select(call.sequence))
    engine.setStops(call.stop.map((stop) => `${stop.replaceAll('\0', '')}\0`).join(''))
    engine.setGrammar(call.grammar)
    for (const trigger of call.triggers) engine.addTrigger(trigger)
    engine.setShown(this.#putIds(call.shown))
    this.#put(new Uint8Array(call.bias.buffer))
    engine.setBias(call.bias.length / 2)
    const { logprobs, lookup, draft } = call.options
    const began = performance.now()
    this.#check(engine.begin(this.#putIds(call.tokens), call.options))
    const reusedTokens = engine.reused()
    while (engine.waiting() > 0 && !this.#cancelled.has(id)) {
      this.#check(engine.advance(kBatch))
      await this.#port.yield()
    }
    const computed = performance.now()
    engine.useThreads(this.#threads)
    let tokens = 0
    let finishReason: FinishReason = 'length'
    let pieces: Piece[] = []
    const tell = () => {
      if (pieces.length > 0) this.#port.post({ id, pieces }, [])
      pieces = []
    }
    let yielded = -Infinity
    try {
      while (tokens < call.maxTokens && !this.#cancelled.has(id)) {
        const asked = performance.now()
        this.#check(engine.next())
        // The first token is drawn from the prompt's logits, and a proposed token may have saved a pass.
        if (tokens > 0 && lookup === 0 && draft === 0) this.#trial.took(performance.now() - asked)
        const token = engine.token()
        const finish = engine.finish()
        const text = this.#text()
        if (token >= 0) tokens++
        if (finish !== 'end' || text !== '') {
          const piece: Piece = { text, token: finish === 'end' ? -1 : token }
          pieces.push(logprobs > 0 && token >= 0 ? { ...piece, ...this.#alternatives() } : piece)
        }
        if (finish !== '') {
          finishReason = finish
          break
        }
        if (performance.now() - yielded < kTellMs) continue
        tell()
        await this.#port.yield()
        yielded = performance.now()
      }
      if (finishReason === 'length' && !this.#cancelled.has(id)) {
        // The token limit ends the answer: text that was held back for a stop string belongs to it.
        engine.end()
        const text = this.#text()
        if (text !== '') pieces.push({ text, token: -1 })
        if (engine.finish() === 'stop') finishReason = 'stop'
      }
    } finally {
      tell()
      engine.useThreads(this.#chosen!.threads)
    }
    return {
      finishReason,
      promptTokens: call.tokens.length,
      reusedTokens,
      promptMs: computed - began,
      generateMs: performance.now() - computed,
      tokens,
      guessedTokens: engine.guessed(),
    }
  }

  #setAdapters({ sequence, adapters }: Calls['setAdapters'][0]): void {
    this.#check(this.engine.select(sequence))
    for (const adapter of adapters) this.engine.chooseAdapter(adapter)
    this.#check(this.engine.setAdapters())
  }

  #embed({ sequence, tokens, pooling }: Calls['embed'][0]): Float32Array {
    this.#check(this.engine.select(sequence))
    this.#check(this.engine.embed(this.#putIds(tokens), pooling))
    return this.#floats(this.engine.embedding())
  }

  async #image(id: number, { width, height, rgb }: Calls['image'][0]): Promise<Int32Array> {
    this.#put(rgb)
    this.#check(this.engine.beginImage(width, height))
    return await this.#encodeMedia(id)
  }

  async #sound(id: number, { samples, sampleRate }: Calls['sound'][0]): Promise<Int32Array> {
    this.#put(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength))
    this.#check(this.engine.beginSound(samples.length, sampleRate))
    return await this.#encodeMedia(id)
  }

  /** Cancelled, it is left: the engine begins the next one anew. */
  async #encodeMedia(id: number): Promise<Int32Array> {
    const { engine } = this
    const of = engine.mediaSteps()
    let yielded = performance.now()
    for (let done = 0; engine.moreMedia() && !this.#cancelled.has(id);) {
      this.#check(engine.stepMedia())
      if (done < of) this.#port.post({ id, done: ++done, of }, [])
      if (performance.now() - yielded < kTellMs) continue
      await this.#port.yield()
      yielded = performance.now()
    }
    return this.#integers(engine.mediaTokens())
  }

  #text(): string {
    const [pointer, length] = this.engine.text()
    return decoder.decode(this.#bytes(pointer, length))
  }

  #alternatives(): Pick<Piece, 'logprob' | 'alternatives'> {
    const [logprob, ...pairs] = this.#doubles(this.engine.probabilities())
    return {
      logprob: logprob!,
      alternatives: Array.from({ length: pairs.length / 2 }, (_, i) => ({
        token: pairs[2 * i]!,
        logprob: pairs[2 * i + 1]!,
      })),
    }
  }

  get engine(): WasmEngine {
    if (!this.#engine) throw new Failed('closed', 'The engine was not started.')
    return this.#engine
  }

  /** The engine that calls of loading are for. */
  get loading(): WasmLoader {
    return this.#drafts && this.#draft ? this.#draft : this.loader
  }

  #check(done: boolean, engine: WasmLoader = this.loader): void {
    if (done) return
    const { code, message, offset } = engine.failure()
    throw new Failed(code, message, offset)
  }

  #put(bytes: Uint8Array, engine: WasmLoader = this.loader): void {
    const pointer = engine.reserve(Math.max(bytes.length, 1)) >>> 0
    if (pointer === 0) throw new Failed('out-of-memory', `No memory for ${bytes.length} bytes.`)
    this.#module!.HEAPU8.set(bytes, pointer)
  }

  #putIds(ids: Int32Array): number {
    this.#put(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength))
    return ids.length
  }

  /** A copy: shared memory can neither be decoded nor transferred. */
  #bytes(pointer: number, length: number): Uint8Array<ArrayBuffer> {
    return this.#module!.HEAPU8.slice(pointer >>> 0, (pointer >>> 0) + length)
  }

  #integers([pointer, length]: Span): Int32Array<ArrayBuffer> {
    return new Int32Array(this.#module!.HEAPU8.buffer, pointer >>> 0, length).slice()
  }

  #doubles([pointer, length]: Span): Float64Array<ArrayBuffer> {
    return new Float64Array(this.#module!.HEAPU8.buffer, pointer >>> 0, length).slice()
  }

  #floats([pointer, length]: Span): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#module!.HEAPU8.buffer, pointer >>> 0, length).slice()
  }
}
