// The worker's side of the engine: one wasm module, one session. It handles messages between tokens and
// between batches.
import { Failed } from './failed.js'
import type { EngineModule, Pointer, Span, WasmEngine, WasmLoader } from './module.js'
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
import { SpeechWorker, type Pauses } from './speech-worker.js'
import type { FinishReason, Piece } from './types.js'
import { Trial, type Tried } from './trial.js'
import { choose, type Chosen } from './variants.js'

const kBatch = 128
/**
 * Pieces are posted, and messages are handled, at most once in kTellMs milliseconds. Both take at least 0.1 ms, and a
 * small model's token takes 0.5 ms.
 */
const kTellMs = 4
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Creates a list from a function of the index. */
function listOf<T>(count: number, at: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => at(i))
}

interface AnswerPort extends Pick<Port<Answer, Message>, 'post' | 'yield'> {
  /** Ports to new threads. There may be fewer. */
  threads(wanted: number): Promise<readonly MessagePort[]>
}

export class EngineWorker {
  #choosing: Promise<Chosen> | undefined
  #chosen: Chosen | undefined
  #module: EngineModule | undefined
  #engine: WasmEngine | undefined
  #loader: WasmLoader | undefined
  #speech: SpeechWorker | undefined
  #draft: WasmEngine | undefined
  /** loading calls are for the draft model */
  #drafts = false
  #trial = new Trial()
  /** threads for decode; prefill uses all */
  #threads = 1
  readonly #cancelled = new Set<number>()
  readonly #port: AnswerPort
  #last: Promise<void> = Promise.resolve()

  /** The handlers of the protocol's calls. */
  readonly #calls: {
    readonly [Name in CallName]: (
      argument: Calls[Name][0],
      id: number,
    ) => Calls[Name][1] | Promise<Calls[Name][1]>
  } = {
    choose: (options) => this.#choose(options),
    open: (files) => this.#open(files),
    memory: (sizes) => this.#estimate(sizes),
    begin: (sizes) => this.#check(this.loading.beginLoad(sizes), this.loading),
    vocabulary: () => (this.#drafts ? this.#draft : this.#engine)?.readVocabulary(),
    draft: (drafts) => void (this.#drafts = drafts),
    rows: (rows) => this.#rows(rows),
    start: (sizes) => this.#start(sizes),
    generate: (call, id) => this.#generate(id, call),
    evaluate: (tokens) => this.#evaluate(tokens),
    image: (image, id) => this.#image(id, image),
    sound: (sound, id) => this.#sound(id, sound),
    encoded: (tokens) => this.#encoded(tokens),
    embed: (tokens) => this.#embed(tokens),
    save: (which) => this.#save(which),
    restore: (saved) => this.#restore(saved),
    fork: ({ from, to }) => this.#check(this.engine.fork(from, to)),
    drop: (which) => this.#drop(which),
    openAdapter: (bytes) => this.#openAdapter(bytes),
    closeAdapters: (ids) => ids.forEach((id) => this.engine.closeAdapter(id)),
    setAdapters: (chosen) => this.#setAdapters(chosen),
    transcribe: (call, id) => this.#transcribe(id, call),
    encodeSound: ({ sound, audioContext }, id) => this.speech.encode(sound, audioContext, this.#pauses(id)),
    evaluateSound: ({ tokens, sound }, id) => this.speech.evaluate(tokens, sound, this.#pauses(id)),
    logMel: ({ sound, frames }, id) => this.speech.logMel(sound, frames, this.#pauses(id)),
    profile: () => {
      const rows = listOf(this.engine.takeProfile(), (i) => this.engine.profileRow(i))
      return profileOf(rows, (type) => this.#module!.typeName(type))
    },
    peaks: () => this.#peaks(),
  }

  constructor(port: AnswerPort) {
    this.#port = port
  }

  receive(message: Message): void {
    if ('close' in message) void this.#close()
    else if ('cancel' in message) this.#cancelled.add(message.cancel)
    else this.#last = this.#last.then(() => this.#handle(message))
  }

  async #close(): Promise<void> {
    this.#loader?.delete()
    this.#draft?.delete()
    const chosen = await this.#choosing?.catch(() => undefined)
    await chosen?.left()
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
      // wasm threw an error: out of memory, or a bug. The session cannot be used any more.
      const message = error instanceof Error ? error.message : String(error)
      answer = { id: call.id, error: { code, message, offset } }
    }
    this.#cancelled.delete(call.id)
    this.#port.post(answer, transfer)
  }

  async #run<Name extends CallName>({ id, name, argument }: Call<Name>): Promise<unknown> {
    if (this.#cancelled.has(id)) return undefined
    return await this.#calls[name](argument, id)
  }

  async #choose(options: Calls['choose'][0]): Promise<void> {
    this.#choosing = choose(options, (wanted) => this.#port.threads(wanted))
    this.#chosen = await this.#choosing
    this.#module = this.#chosen.engine
  }

  #estimate(sizes: Calls['memory'][0]): Calls['memory'][1] {
    this.#check(this.loading.estimate(sizes), this.loading)
    return this.loading.memoryBytes()
  }

  #rows({ bytes, parts }: Calls['rows'][0]): ArrayBuffer {
    this.#put(bytes, this.loading)
    for (const rows of parts) this.#check(this.loading.setRows(rows), this.loading)
    return bytes.buffer
  }

  #start(sizes: Calls['start'][0]): number {
    if (this.#drafts && this.#draft) this.#check(this.engine.setDraft(this.#draft))
    this.#check(this.loading.start(sizes), this.loading)
    return this.#module!.HEAPU8.length
  }

  #evaluate({ sequence, tokens }: Calls['evaluate'][0]): Float32Array {
    this.#check(this.engine.select(sequence))
    this.#check(this.engine.evaluate(this.#putIds(tokens)))
    const out = this.#floats(this.engine.evaluated())
    this.engine.forgetOutput()
    return out
  }

  #encoded(tokens: Calls['encoded'][0]): Calls['encoded'][1] {
    this.#check(this.engine.encodedMedia(this.#putIds(tokens)))
    return {
      embeddings: this.#floats(this.engine.embedding()),
      positions: this.#integers(this.engine.positions()),
    }
  }

  #drop({ sequence }: Calls['drop'][0]): void {
    this.#setAdapters({ sequence, adapters: [] })
    this.engine.drop()
  }

  #openAdapter(bytes: Calls['openAdapter'][0]): Calls['openAdapter'][1] {
    this.#put(bytes)
    this.#check(this.engine.openAdapter(bytes.length))
    const { ignored, ...facts } = this.engine.adapterFacts()
    return { ...facts, ignored: ignored === '' ? [] : ignored.split('\n') }
  }

  #save({ sequence }: Calls['save'][0]): Uint8Array {
    this.#check(this.engine.select(sequence))
    this.#check(this.engine.saveState())
    const [pointer, length] = this.engine.saved()
    const out = this.#bytes(pointer, length)
    this.engine.forgetSaved()
    return out
  }

  #restore({ sequence, bytes }: Calls['restore'][0]): void {
    this.#check(this.engine.select(sequence))
    this.#put(bytes)
    this.#check(this.engine.loadState(bytes.length))
  }

  #peaks(): Calls['peaks'][1] {
    this.#check(this.engine.measurePeaks())
    return this.engine.peakRates()
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
    // A draft model uses the threads of the main model after its weights are loaded.
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
    const { Speech } = chosen.engine
    if (!Speech) throw new Failed('unsupported', 'Whisper models cannot run in 64-bit memory.')
    const loader = new Speech()
    this.#loader = loader
    this.#put(bytes)
    this.#check(loader.openHeader(bytes.length, fileSize ?? -1, speech === 'legacy', chosen.threads))
    chosen.startThreads(loader)
    this.#threads = chosen.threads
    this.#speech = new SpeechWorker(chosen.engine, loader, Speech.languageCodes())
    return {
      variant: chosen.variant,
      reason: chosen.reason,
      architecture: 'whisper',
      facts: loader.facts(),
      defaults: {} as Opened['defaults'],
      plan: listOf<PlannedTensor>(loader.plannedCount(), (i) => loader.planned(i)),
    }
  }

  async #transcribe(
    id: number,
    { sound, record, words }: Calls['transcribe'][0],
  ): Promise<Calls['transcribe'][1]> {
    return await this.speech.transcribe(sound, record, {
      words,
      tell: (heard) => this.#port.post({ id, heard }, []),
      ...this.#pauses(id),
    })
  }

  #pauses(id: number): Pauses {
    let yielded = performance.now()
    return {
      cancelled: () => this.#cancelled.has(id),
      pause: async () => {
        if (performance.now() - yielded < kTellMs) return
        await this.#port.yield()
        yielded = performance.now()
      },
    }
  }

  get speech(): SpeechWorker {
    if (!this.#speech) throw new Failed('unsupported', 'This model cannot transcribe.')
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

  #prepare(call: GenerateCall): void {
    const { engine } = this
    this.#check(engine.select(call.sequence))
    engine.setStops(call.stop.map((stop) => `${stop.replaceAll('\0', '')}\0`).join(''))
    engine.setGrammar(call.grammar)
    for (const trigger of call.triggers) engine.addTrigger(trigger)
    engine.setShown(this.#putIds(call.shown))
    this.#put(new Uint8Array(call.bias.buffer))
    engine.setBias(call.bias.length / 2)
  }

  /** The answer ended at the token limit, so text that was held back for a stop string belongs to it. */
  #heldBack(): Piece[] {
    this.engine.end()
    const text = this.#text()
    return text === '' ? [] : [{ text, token: -1 }]
  }

  async #generate(id: number, call: GenerateCall): Promise<Generated> {
    const { engine } = this
    this.#prepare(call)
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
        // Excludes the first token, which comes from the prompt's logits, and speculative decoding, where a token may
        // need no pass.
        if (tokens > 0 && lookup === 0 && draft === 0) this.#trial.took(performance.now() - asked)
        const token = engine.token()
        const finish = engine.finish()
        const text = this.#text()
        if (token >= 0) tokens++
        if (finish !== 'end' || text !== '') {
          const piece: Piece = { text, token: finish === 'end' ? -1 : token }
          pieces.push(logprobs > 0 && token >= 0 ? { ...piece, ...this.#alternatives() } : piece)
        }
        finishReason = finish || finishReason
        if (finish !== '') break
        if (performance.now() - yielded < kTellMs) continue
        tell()
        await this.#port.yield()
        yielded = performance.now()
      }
      if (finishReason === 'length' && !this.#cancelled.has(id)) {
        pieces.push(...this.#heldBack())
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

  /** After an abort, the run is abandoned; the engine starts the next one from the beginning. */
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

  /** The engine that loading calls are for. */
  get loading(): WasmLoader {
    return this.#drafts && this.#draft ? this.#draft : this.loader
  }

  #check(done: boolean, engine: WasmLoader = this.loader): void {
    if (done) return
    const { code, message, offset } = engine.failure()
    throw new Failed(code, message, offset)
  }

  #put(bytes: Uint8Array, engine: WasmLoader = this.loader): void {
    const pointer = Number(engine.reserve(Math.max(bytes.length, 1)))
    if (pointer === 0) throw new Failed('out-of-memory', `No memory for ${bytes.length} bytes.`)
    this.#module!.HEAPU8.set(bytes, pointer)
  }

  #putIds(ids: Int32Array): number {
    this.#put(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength))
    return ids.length
  }

  /** A copy, because shared memory can neither be decoded nor transferred. */
  #bytes(pointer: Pointer, length: number): Uint8Array<ArrayBuffer> {
    return this.#module!.HEAPU8.slice(Number(pointer), Number(pointer) + length)
  }

  #integers([pointer, length]: Span): Int32Array<ArrayBuffer> {
    return new Int32Array(this.#module!.HEAPU8.buffer, Number(pointer), length).slice()
  }

  #doubles([pointer, length]: Span): Float64Array<ArrayBuffer> {
    return new Float64Array(this.#module!.HEAPU8.buffer, Number(pointer), length).slice()
  }

  #floats([pointer, length]: Span): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#module!.HEAPU8.buffer, Number(pointer), length).slice()
  }
}
