// The worker's side of the engine: one wasm module, one session. It handles messages between tokens and
// between batches.
import type { SoundRecord } from '../audio/sound-input.js'
import { decodeFile } from '../media/data-address.js'
import { freeBuffer } from '../runtime/free-buffer.js'
import type { GpuModel } from '../gpu/gpu-model.js'
import type { GpuSpeech } from '../gpu/gpu-speech.js'
import { EngineError, failureOf } from './engine-error.js'
import { Generation, kPostMs, type Computing } from './generation.js'
import { bytesOf, check, EngineHeap } from './heap.js'
import type { WasmEngine } from './classes.js'
import type { EngineModule, WasmLoader } from './module.js'
import { MediaWorker, type EncodingCalls, type ImageCall } from './media-worker.js'
import {
  decide,
  embed,
  evaluate,
  evaluateLast,
  type DecideCall,
  type EmbedCall,
  type PassCall,
} from './pass-calls.js'
import type { Port } from './port.js'
import type {
  AdapterFacts,
  Answer,
  ArrivedRows,
  Call,
  EngineOptions,
  ChosenAdapter,
  DevicePlan,
  FileHeader,
  GenerateCall,
  GenerateStatistics,
  MemoryBytes,
  Message,
  ModelRole,
  PlanDeviceCall,
  PlannedModel,
  PlannedTensor,
  Products,
  Sizes,
  TranscribeCall,
} from './protocol.js'
import { profileOf } from './profile.js'
import { SlowReaders } from './slow-readers.js'
import { SpeechWorker, type Pauses } from './speech-worker.js'
import {
  loadEncoded,
  loadState,
  saveEncoded,
  saveState,
  type OfSequence,
  type SavedState,
} from './state-calls.js'
import type { Peaks } from './types.js'
import { speak, type SpeakCall } from './speak-calls.js'
import { trace, type TraceCall } from './trace-calls.js'
import { Trial, type Setting } from './trial.js'
import { checkHeaders, type CheckedHeaders } from './check-headers.js'
import { createBestEngine, type CreatedEngine } from './variants.js'

const kBatch = 128

/** Creates a list from a function of the index. */
function listOf<T>(count: number, at: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => at(i))
}

interface AnswerPort extends Pick<Port<Answer, Message>, 'post' | 'yield'> {
  /** Ports to new threads. There may be fewer. */
  threads(wanted: number): Promise<readonly MessagePort[]>
}

interface ForModel {
  readonly role: ModelRole
}

export type Handlers = EngineWorker['handlers']

/** What plans a model for a GPU, by the kind of model. */
export interface OpenGpu {
  readonly model: typeof GpuModel.open
  readonly speech: typeof GpuSpeech.open
}

/** What only the CPU computes, by the call. */
const kCpuOnly: { readonly [Name in keyof Handlers]?: string } = {
  decide: 'Decisions are computed',
  trace: 'Texts are traced',
  speak: 'Texts are spoken',
  saveState: 'A state is saved',
  loadState: 'A state is loaded',
  openAdapter: 'Adapters are used',
}
const cpuOnly = (what: string): EngineError =>
  new EngineError('cpu-only', `${what} only where the model runs on the CPU.`)

export class EngineWorker {
  #creating: Promise<CreatedEngine> | undefined
  #created: CreatedEngine | undefined
  #module: EngineModule | undefined
  #heap!: EngineHeap
  #engine: WasmEngine | undefined
  #loader: WasmLoader | undefined
  #speech: SpeechWorker | undefined
  #media: MediaWorker | undefined
  #draft: WasmEngine | undefined
  #trial = new Trial()
  /** threads for decode; prefill uses all */
  #threads = 1
  readonly #cancelled = new Set<number>()
  readonly #slow = new SlowReaders()
  #calls = 0 // without an answer
  #ended: EngineError | undefined // nothing of the engine is called any more: wasm has ended it, or it was closed
  #gpu: GpuModel | undefined
  #planning: Promise<unknown> | undefined // settles when a device has a plan, or is closed
  readonly #openGpu: OpenGpu | undefined
  readonly #port: AnswerPort
  #last: Promise<void> = Promise.resolve()

  /** The functions that the page calls (Client.call), createEngine first: argument and id of the call, and their types. */
  readonly handlers = {
    createEngine: this.#createEngine.bind(this),
    openModel: this.#openModel.bind(this),
    planDevice: (call: PlanDeviceCall) => {
      const planned = this.#planDevice(call)
      this.#planning = planned.catch(() => {})
      return planned
    },
    useProducts: (products: Products) => this.#gpu?.useProducts(products),
    checkHeaders: (call: CheckedHeaders) =>
      checkHeaders(call, this.#created?.engine, this.#put.bind(this), this.#check.bind(this)),
    estimateMemory: this.#estimateMemory.bind(this),
    allocateWeights: this.#allocateWeights.bind(this),
    readVocabulary: ({ role }: ForModel) => (role === 'draft' ? this.#draft : this.#engine)?.readVocabulary(),
    setRows: this.#setRows.bind(this),
    startSession: this.#startSession.bind(this),
    generate: this.#generate.bind(this),
    evaluate: async (call: PassCall, id: number) => {
      await this.#gpu?.computeText(call, 'logits', this.#pauses(id))
      return evaluate(this.#heap, this.engine, call)
    },
    evaluateLast: async (call: PassCall, id: number) => {
      await this.#gpu?.computeText(call, 'lastLogits', this.#pauses(id))
      return evaluateLast(this.#heap, this.engine, call)
    },
    embed: async (call: EmbedCall, id: number) => {
      await this.#gpu?.computeText(call, 'embeddings', this.#pauses(id))
      return embed(this.#heap, this.engine, call)
    },
    decide: (call: DecideCall) => decide(this.#heap, this.engine, call),
    trace: (call: TraceCall, id: number) =>
      trace({ module: this.#module!, heap: this.#heap, engine: this.engine }, call, this.#encodingCalls(id)),
    speak: (call: SpeakCall, id: number) =>
      speak({ module: this.#module!, heap: this.#heap, engine: this.engine }, call, {
        cancelled: () => this.#cancelled.has(id),
        post: (spoken) => this.#port.post({ id, spoken }, [spoken.samples.buffer as ArrayBuffer]),
        waitForReader: () => this.#waitForReader(id),
      }),
    decodeFile,
    encodeImage: (call: ImageCall, id: number) => this.media.encodeImage(call, this.#encodingCalls(id)),
    encodeAudio: (record: SoundRecord, id: number) => this.media.encodeAudio(record, this.#encodingCalls(id)),
    mediaEmbeddings: this.#mediaEmbeddings.bind(this),
    saveEncoded: () => saveEncoded(this.#heap, this.engine),
    loadEncoded: (bytes: Uint8Array) => loadEncoded(this.#heap, this.engine, bytes),
    saveState: (call: OfSequence) => saveState(this.#heap, this.engine, call),
    loadState: (call: SavedState) => loadState(this.#heap, this.engine, call),
    fork: ({ from, to }: { from: number; to: number }) => this.#check(this.engine.fork(from, to)),
    drop: this.#drop.bind(this),
    openAdapter: this.#openAdapter.bind(this),
    closeAdapters: (ids: readonly number[]) => ids.forEach((id) => this.engine.closeAdapter(id)),
    setAdapters: this.#setAdapters.bind(this),
    transcribe: (call: TranscribeCall, id: number) =>
      this.speech.transcribe(call, {
        tell: (heard) => this.#port.post({ id, heard }, []),
        ...this.#pauses(id),
      }),
    encodeSpeech: async ({ sound, audioContext }: { sound: SoundRecord; audioContext: number }, id: number) =>
      this.speech.encode(sound, audioContext, this.#pauses(id)),
    evaluateSpeech: async ({ tokens, sound }: { tokens: Int32Array; sound?: SoundRecord }, id: number) =>
      this.speech.evaluate(tokens, sound, this.#pauses(id)),
    logMel: async ({ sound, frames }: { sound: SoundRecord; frames: number }, id: number) =>
      this.speech.logMel(sound, frames, this.#pauses(id)),
    profile: () => profileOf(this.loader, this.#device?.takeProfile() ?? [], this.#module!),
    peaks: this.#peaks.bind(this),
  }

  /** openGpu: in the script for GPUs */
  constructor(port: AnswerPort, openGpu?: OpenGpu) {
    this.#port = port
    this.#openGpu = openGpu
  }

  receive(message: Message): void {
    if ('close' in message) void this.#close()
    else if ('cancel' in message) this.#cancelled.add(message.cancel)
    else if ('pause' in message) this.#slow.set(message)
    else {
      this.#calls++
      this.#last = this.#last.then(() => this.#handle(message))
    }
    this.#slow.wake()
  }

  async #close(): Promise<void> {
    this.#ended ??= new EngineError('closed', 'This model was closed.')
    await this.#planning
    await this.#device?.close()
    if (this.#ended.code !== 'crashed') {
      this.#loader?.delete()
      this.#draft?.delete()
    }
    const created = await this.#creating?.catch(() => undefined)
    await created?.threadsEnded()
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
      const failure = failureOf(error, this.#module !== undefined)
      if (failure.code === 'crashed') this.#ended = failure
      const { code, message, offset } = failure
      answer = { id: call.id, error: { code, message, offset } }
    }
    this.#cancelled.delete(call.id)
    this.#slow.delete(call.id)
    this.#calls--
    this.#port.post(answer, transfer)
  }

  async #run({ id, name, argument }: Call): Promise<unknown> {
    if (this.#ended) throw this.#ended
    if (this.#cancelled.has(id)) return undefined
    const onlyCpu = kCpuOnly[name as keyof Handlers]
    const planned = name === 'openAdapter' && this.#gpu?.adapted === true
    if (this.#gpu && onlyCpu !== undefined && !planned) throw cpuOnly(onlyCpu)
    const handler = this.handlers[name as keyof Handlers] as (argument: unknown, id: number) => unknown
    return await handler(argument, id)
  }

  async #createEngine(options: EngineOptions): Promise<void> {
    this.#creating = createBestEngine(options, (wanted) => this.#port.threads(wanted))
    this.#created = await this.#creating
    this.#module = this.#created.engine
    this.#heap = new EngineHeap(this.#module)
  }

  /** The opened model will run on a GPU. */
  async #planDevice(call: PlanDeviceCall): Promise<DevicePlan> {
    const open = this.#openGpu!
    if (this.#speech) return await this.#speech.planDevice(call, open.speech, this.#module!)
    this.#gpu = await open.model(call, { module: this.#module!, heap: this.#heap, engine: this.engine })
    return this.#gpu.facts
  }

  #estimateMemory({ role, sizes }: ForModel & { sizes: Sizes }): MemoryBytes {
    const loader = this.#loaderOf(role)
    this.#check(loader.estimateMemory(sizes), loader)
    return loader.memoryBytes()
  }

  #allocateWeights({ role, sizes }: ForModel & { sizes: Sizes }): void {
    const loader = this.#loaderOf(role)
    if (!this.#device) this.#heap.grow(this.#estimateMemory({ role, sizes }))
    this.#check(loader.allocateWeights(sizes), loader)
  }

  /** The answer returns the memory for reuse. */
  async #setRows({
    role,
    bytes,
    parts,
  }: ForModel & { bytes: Uint8Array<ArrayBuffer>; parts: readonly ArrivedRows[] }): Promise<ArrayBuffer> {
    if (this.#device) {
      await this.#device.setRows(bytes, parts)
      return bytes.buffer
    }
    const loader = this.#loaderOf(role)
    this.#put(bytes, loader)
    for (const rows of parts) this.#check(loader.setRows(rows), loader)
    return bytes.buffer
  }

  async #startSession({ role, sizes }: ForModel & { sizes: Sizes }): Promise<number> {
    const loader = this.#loaderOf(role)
    if (role === 'draft' && this.#draft) this.#check(this.engine.setDraft(this.#draft))
    this.#check(loader.startSession(sizes), loader)
    await this.#device?.start()
    return this.#module!.HEAPU8.length
  }

  #mediaEmbeddings(tokens: Int32Array): { embeddings: Float32Array; positions: Int32Array } {
    this.#check(this.engine.readEncodedMedia(this.#putIds(tokens)))
    return {
      embeddings: this.#heap.floats(this.engine.embedding()),
      positions: this.#heap.integers(this.engine.positions()),
    }
  }

  #drop({ sequence }: OfSequence): void {
    // A plan has its adapters for all sequences.
    if (this.#gpu) this.#check(this.engine.select(sequence))
    else this.#setAdapters({ sequence, adapters: [] })
    this.engine.drop()
  }

  #openAdapter(bytes: Uint8Array): AdapterFacts {
    this.#put(bytes)
    this.#check(this.engine.openAdapter(bytes.length))
    const { ignored, ...facts } = this.engine.adapterFacts()
    return { ...facts, ignored: ignored === '' ? [] : ignored.split('\n') }
  }

  async #peaks(): Promise<Peaks> {
    if (this.#gpu) return await this.#gpu.peaks()
    this.#check(this.engine.measurePeaks())
    return this.engine.peakRates()
  }

  /** headers: of the model's files, in order */
  #openModel({
    role,
    headers,
    withProjector,
  }: ForModel & { headers: readonly FileHeader[]; withProjector: boolean }): PlannedModel {
    const created = this.#created
    if (!created) throw new EngineError('closed', 'The engine was not started.')
    if (headers[0]?.speech) return this.#openSpeech(created, headers[0])
    const engine = new created.engine.Engine()
    const isDraft = role === 'draft'
    if (isDraft) this.#draft = engine
    else this.#engine = this.#loader = engine
    for (const { bytes, fileSize } of headers) {
      this.#put(bytes, engine)
      engine.addHeader(bytes.length, fileSize ?? -1)
      freeBuffer(bytes.buffer)
    }
    if (isDraft) engine.willDraft()
    // A draft model uses the threads of the main model after its weights are loaded.
    this.#check(engine.open(isDraft ? 1 : created.threads, withProjector), engine)
    if (!isDraft) {
      created.startThreads(engine)
      this.#threads = created.threads
      this.#trial = new Trial(...this.#settings(created))
    }
    return {
      variant: created.variant,
      reason: created.reason,
      architecture: engine.architecture(),
      facts: engine.facts(),
      defaults: engine.samplerDefaults(),
      plan: listOf<PlannedTensor>(engine.plannedCount(), (i) => engine.planned(i)),
    }
  }

  #openSpeech(created: CreatedEngine, { bytes, fileSize, speech }: FileHeader): PlannedModel {
    const { Speech } = created.engine
    if (!Speech) throw new EngineError('unsupported', 'Whisper models cannot run in 64-bit memory.')
    const loader = new Speech()
    this.#loader = loader
    this.#put(bytes)
    this.#check(loader.openHeader(bytes.length, fileSize ?? -1, speech === 'legacy', created.threads))
    created.startThreads(loader)
    this.#threads = created.threads
    this.#speech = new SpeechWorker(this.#heap, loader, Speech)
    return {
      variant: created.variant,
      reason: created.reason,
      architecture: 'whisper',
      facts: loader.facts(),
      defaults: {} as PlannedModel['defaults'],
      plan: listOf<PlannedTensor>(loader.plannedCount(), (i) => loader.planned(i)),
    }
  }

  #pauses(id: number): Pauses {
    let yielded = performance.now()
    return {
      cancelled: () => this.#cancelled.has(id),
      pause: async () => {
        if (performance.now() - yielded < kPostMs) return
        await this.#port.yield()
        yielded = performance.now()
      },
    }
  }

  #encodingCalls(id: number): EncodingCalls {
    return { step: (done, of) => this.#port.post({ id, done, of }, []), ...this.#pauses(id) }
  }

  /** The GPU of the model, if it runs there. */
  get #device(): GpuModel | GpuSpeech | undefined {
    return this.#gpu ?? this.#speech?.device
  }

  get media(): MediaWorker {
    const gpu = this.#gpu
    return (this.#media ??= new MediaWorker(this.#heap, this.engine, gpu && ((step) => gpu.runLayers(step))))
  }

  get speech(): SpeechWorker {
    if (!this.#speech) throw new EngineError('unsupported', 'This model cannot transcribe.')
    return this.#speech
  }

  get loader(): WasmLoader {
    if (!this.#loader) throw new EngineError('closed', 'The engine was not started.')
    return this.#loader
  }

  #settings({ engine, threads, threadChoices }: CreatedEngine): Setting[] {
    const settings: Setting[] = [{ choices: 2, use: (choice) => engine.useMemoryStreams(choice) }]
    if (threads > 1) settings.push({ choices: 2, use: (choice) => engine.useRuns(choice) })
    if (threadChoices.length > 1)
      settings.push({
        choices: threadChoices.length,
        use: (choice) => this.loader.useThreads((this.#threads = threadChoices[choice]!)),
      })
    return settings
  }

  /** Handles messages, and rests while the reader is behind, unless another call waits. Returns the rest's time. */
  async #waitForReader(id: number): Promise<number> {
    await this.#port.yield()
    return await this.#slow.waitForReader(id, () => this.#calls === 1 && !this.#cancelled.has(id))
  }

  /** The engine computes by itself: with all threads for a prompt, and as many as are best for a token. */
  #onCpu(engine: WasmEngine): Computing {
    return {
      advance: () => this.#check(engine.advance(kBatch)),
      next: () => this.#check(engine.nextToken()),
      took: (ms) => this.#trial.took(ms),
      began: () => engine.useThreads(this.#threads),
      end: () => engine.useThreads(this.#created!.threads),
    }
  }

  async #generate(call: GenerateCall, id: number): Promise<GenerateStatistics> {
    const { engine } = this
    if (this.#gpu && call.options.contextShift) throw cpuOnly('A context is shifted')
    if (this.#gpu && call.ablated.length > 0) throw cpuOnly('Parts of a model are switched off')
    return await new Generation(engine, this.#heap, this.#gpu ?? this.#onCpu(engine), {
      cancelled: () => this.#cancelled.has(id),
      post: (pieces) => this.#port.post({ id, pieces }, []),
      yield: () => this.#port.yield(),
      waitForReader: () => this.#waitForReader(id),
    }).run(call)
  }

  #setAdapters({ sequence, adapters }: OfSequence & { adapters: readonly ChosenAdapter[] }): void {
    this.#check(this.engine.select(sequence))
    for (const adapter of adapters) this.engine.chooseAdapter(adapter)
    this.#check(this.engine.setAdapters())
  }

  get engine(): WasmEngine {
    if (!this.#engine) throw new EngineError('closed', 'The engine was not started.')
    return this.#engine
  }

  #loaderOf(role: ModelRole): WasmLoader {
    return role === 'draft' && this.#draft ? this.#draft : this.loader
  }

  #check(done: boolean, engine: WasmLoader = this.loader): void {
    check(done, engine)
  }

  #put(bytes: ArrayBufferView, engine: WasmLoader = this.loader): void {
    this.#heap.put(bytesOf(bytes), engine)
  }

  #putIds(ids: Int32Array): number {
    this.#put(ids)
    return ids.length
  }
}
