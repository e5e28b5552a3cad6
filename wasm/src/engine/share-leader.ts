// Runs the shared engine in the tab that leads, and serves the tabs: one call at a time, and each tab in its turn.
import { GgufError, messageOf } from '../api/errors.js'
import type { CallOptions } from './client.js'
import type { LoadedEngine } from './load-engine.js'
import type { Answer, Call, ChosenAdapter, GenerateCall, GenerateStatistics } from './protocol.js'
import { SharedAdapters } from './share-adapters.js'
import { SharedSequences } from './share-sequences.js'
import {
  Channel,
  nameOfTab,
  type SharedFacts,
  type Term,
  type ToAll,
  type ToLeader,
  type ToTab,
} from './share-messages.js'
import type { LoadOptions, Piece } from './types.js'
import type { Handlers } from './worker.js'

// Cells that an answer gets at once. Other sequences lose theirs only if it needs more.
const kAnswerCells = 256

/** Calls that clear the KV cache of all sequences. */
const kClearing: ReadonlySet<string> = new Set<keyof Handlers>([
  'evaluate',
  'evaluateLast',
  'embed',
  'decide',
  'trace',
  'speak',
])

/** Calls of a Whisper model, and those of them after which evaluate() needs no audio. */
const kOfTokens: ReadonlySet<string> = new Set<keyof Handlers>(['encodeSpeech', 'evaluateSpeech'])
const kOfAudio: ReadonlySet<string> = new Set<string>([...kOfTokens, 'transcribe', 'logMel'])

interface Job {
  readonly call: Call
  control: AbortController
  /** tokens of the answer so far */
  readonly answered: number[]
  cancelled: boolean
  /** its reader is behind */
  paused: boolean
  /** It gave way to another job while its reader was behind. */
  resting: boolean
  setPause(pause: boolean): void
}

interface ServedTab {
  readonly id: string
  readonly channel: Channel<ToTab, ToLeader>
  readonly jobs: Job[]
  /** ends the watch for the tab's end */
  readonly gone: AbortController
}

export type LoadForTabs = (
  options: Pick<LoadOptions, 'signal' | 'onProgress' | 'onDevice'>,
) => Promise<LoadedEngine>

/** Whether what was computed of a job need not be computed by the same engine to the end. */
function canContinue({ call }: Job): boolean {
  if (call.name !== 'generate') return false
  return !(call.argument as GenerateCall).options.contextShift
}

const ownerOf = (tab: ServedTab, sequence: number): string => `${tab.id} ${sequence}`

export class Leader {
  readonly #name: string
  readonly #own: string
  readonly #term: Term
  readonly #all: Channel<ToAll, ToAll>
  /** in the order of their turns */
  readonly #tabs = new Map<string, ServedTab>()
  readonly #stopped = new AbortController()
  #loaded: LoadedEngine | undefined
  #sequences: SharedSequences | undefined
  #adapters: SharedAdapters | undefined
  /** the tab whose audio the Whisper model has encoded, for evaluate() without audio */
  #heardBy: string | undefined
  #running: { readonly tab: ServedTab; readonly job: Job } | undefined

  /** own: the tab that leads */
  constructor(name: string, own: string, term: Term) {
    this.#name = name
    this.#own = own
    this.#term = term
    this.#all = new Channel(name, (message) => {
      if ('join' in message) this.#join(message.join)
      else if ('leave' in message) this.leave(message.leave)
    })
  }

  /** Loads the engine and serves the tabs until stop(). Errors: those of load. */
  async lead(load: LoadForTabs): Promise<void> {
    const { signal } = this.#stopped
    try {
      this.#all.post({ lead: this.#term })
      this.#loaded = await load({
        signal,
        onProgress: (progress) => {
          for (const tab of this.#tabs.values()) tab.channel.post({ term: this.#term, progress })
        },
        onDevice: () => this.#tellLoaded(),
      })
      const { engine, facts } = this.#loaded
      this.#sequences = new SharedSequences(engine, facts.sequences)
      this.#adapters = new SharedAdapters(engine)
      this.#tellLoaded()
      void this.#work()
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve()
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      this.stop()
      this.#loaded?.engine.end()
      this.#loaded?.file.close()
    }
  }

  /** The tabs look for another leader. */
  stop(): void {
    if (this.#stopped.signal.aborted) return
    this.#all.post({ resign: this.#term })
    this.#stopped.abort()
    this.#all.close()
    for (const tab of this.#tabs.values()) {
      tab.gone.abort()
      tab.channel.close()
    }
  }

  /** A tab has ended. Without tabs, so does the leader. */
  leave(id: string): void {
    const tab = this.#tabs.get(id)
    if (tab) {
      this.#tabs.delete(id)
      tab.gone.abort()
      tab.channel.close()
      tab.jobs.length = 0
      const job = this.#running?.tab === tab ? this.#running.job : undefined
      if (job) job.cancelled = true
      job?.control.abort()
    } else if (id !== this.#own) return
    if (this.#tabs.size === 0) this.stop()
  }

  #join(id: string): void {
    let tab = this.#tabs.get(id)
    if (!tab) {
      const gone = new AbortController()
      const channel = new Channel<ToTab, ToLeader>(nameOfTab(this.#name, id), (sent) =>
        this.#receive(tab!, sent),
      )
      tab = { id, channel, jobs: [], gone }
      this.#tabs.set(id, tab)
      // The tab holds this lock while it lives.
      navigator.locks
        .request(nameOfTab(this.#name, id), { signal: gone.signal }, () => this.leave(id))
        .catch(() => {})
    }
    tab.channel.post({ term: this.#term, loaded: this.#facts })
  }

  get #facts(): SharedFacts | undefined {
    return this.#sequences && { ...this.#loaded!.facts, info: this.#loaded!.engine.info }
  }

  #tellLoaded(): void {
    for (const tab of this.#tabs.values()) tab.channel.post({ term: this.#term, loaded: this.#facts })
  }

  #receive(tab: ServedTab, { term, message }: ToLeader): void {
    if (term !== this.#term) return
    if ('cancel' in message) this.#cancel(tab, message.cancel)
    else if ('pause' in message) this.#pause(tab, message.of, message.pause)
    else {
      const control = new AbortController()
      const state = { cancelled: false, paused: false, resting: false }
      tab.jobs.push({ call: message, control, answered: [], ...state, setPause() {} })
    }
    this.#giveWay()
    void this.#work()
  }

  #jobOf(tab: ServedTab, id: number): Job | undefined {
    const { job, tab: running } = this.#running ?? {}
    return running === tab && job?.call.id === id ? job : tab.jobs.find(({ call }) => call.id === id)
  }

  #cancel(tab: ServedTab, id: number): void {
    const job = this.#jobOf(tab, id)
    if (!job) return
    job.cancelled = true
    job.control.abort()
    if (job === this.#running?.job) return
    tab.jobs.splice(tab.jobs.indexOf(job), 1)
    this.#answer(tab, { id, value: undefined })
  }

  #pause(tab: ServedTab, id: number, pause: boolean): void {
    const job = this.#jobOf(tab, id)
    if (!job) return
    job.paused = pause
    if (!pause) job.resting = false
    job.setPause(pause)
  }

  /** A job whose reader is behind lets others go first. An answer continues from its tokens, speech goes on. */
  #giveWay(): void {
    const job = this.#running?.job
    if (!job?.paused || job.resting || !this.#nextTab()) return
    if (!canContinue(job)) return job.setPause(false)
    job.resting = true
    job.control.abort()
  }

  #nextTab(): ServedTab | undefined {
    return [...this.#tabs.values()].find(({ jobs }) => jobs.some(({ resting }) => !resting))
  }

  /** Does what waits, until nothing does. */
  async #work(): Promise<void> {
    if (this.#running || !this.#sequences) return
    for (let tab = this.#nextTab(); tab && !this.#stopped.signal.aborted; tab = this.#nextTab()) {
      const job = tab.jobs.find(({ resting }) => !resting)!
      tab.jobs.splice(tab.jobs.indexOf(job), 1)
      // Its next turn comes after those of the others.
      if (this.#tabs.delete(tab.id)) this.#tabs.set(tab.id, tab)
      this.#running = { tab, job }
      await this.#do(tab, job)
      this.#running = undefined
    }
  }

  async #do(tab: ServedTab, job: Job): Promise<void> {
    const { id } = job.call
    let answer: Answer
    try {
      const value = await this.#call(tab, job)
      answer = { id, value }
    } catch (error) {
      const { code = 'invalid-argument', offset } = error as { code?: string; offset?: number }
      const details = { code, message: messageOf(error), offset: offset as number }
      answer = job.cancelled ? { id, value: undefined } : { id, error: details }
    }
    if (this.#stopped.signal.aborted) return // the next leader does it again
    if (job.control.signal.aborted && !job.cancelled) {
      job.control = new AbortController()
      job.setPause = () => {}
      tab.jobs.unshift(job)
      return
    }
    this.#answer(tab, answer)
    if ('error' in answer && answer.error.code === 'crashed') this.stop()
  }

  #answer(tab: ServedTab, answer: Answer): void {
    if (this.#tabs.has(tab.id) && !this.#stopped.signal.aborted)
      tab.channel.post({ term: this.#term, answer })
  }

  async #call(tab: ServedTab, job: Job): Promise<unknown> {
    const [engine, sequences] = [this.#loaded!.engine, this.#sequences!]
    const adapters = this.#adapters!
    await sequences.free((owner) => !this.#tabs.has(owner.split(' ')[0]!))
    await adapters.free((one) => !this.#tabs.has(one))
    const { id, name, argument } = job.call
    const options: CallOptions = {
      signal: job.control.signal,
      onStart: (setPause) => {
        job.setPause = setPause
        if (job.paused) setPause(true)
      },
      onHeard: (heard) => this.#answer(tab, { id, heard }),
      onSpoken: (spoken) => this.#answer(tab, { id, spoken }),
      onSteps: (done, of) => this.#answer(tab, { id, done, of }),
    }
    const call = (changed: unknown): Promise<unknown> =>
      engine.call(name as keyof Handlers, changed as never, options)
    if (name === 'generate') return await this.#generate(tab, job, argument as GenerateCall, options)
    if (name === 'openAdapter') return await adapters.open(tab.id, argument as Uint8Array<ArrayBuffer>)
    if (name === 'closeAdapters') return await adapters.close(tab.id, argument as readonly number[])
    if (kOfAudio.has(name)) return await call(this.#audioOf(tab, name, argument))
    if (name === 'fork') return await this.#fork(tab, argument as { from: number; to: number })
    if (typeof argument !== 'object' || argument === null || !('sequence' in argument))
      return await call(argument)
    const owner = ownerOf(tab, argument.sequence as number)
    if (name === 'drop') {
      adapters.choose(owner, [])
      return await sequences.free((one) => one === owner)
    }
    if (name === 'saveState' && !sequences.holds(owner))
      throw new GgufError(
        'not-found',
        'The engine that the tabs share holds no state of this conversation: other tabs needed its place, or the engine started anew. generate() computes it again.',
      )
    const takes = name === 'loadState' ? engine.info.contextLength : 0
    const sequence = await this.#place(owner, takes)
    const value = await call({ ...argument, sequence })
    if (name === 'setAdapters')
      adapters.choose(owner, (argument as unknown as { adapters: readonly ChosenAdapter[] }).adapters)
    if (kClearing.has(name)) sequences.cleared()
    if (takes > 0) sequences.took(owner, takes)
    return value
  }

  /** The owner's sequence, with its adapters. */
  async #place(owner: string, cells: number): Promise<number> {
    const isNew = !this.#sequences!.hasPlace(owner)
    const sequence = await this.#sequences!.place(owner, cells)
    const adapters = this.#adapters!.of(owner)
    if (isNew && adapters.length > 0) await this.#loaded!.engine.call('setAdapters', { sequence, adapters })
    return sequence
  }

  /** The argument of a call of a Whisper model, which holds the audio of one tab. */
  #audioOf(tab: ServedTab, name: string, argument: unknown): unknown {
    const isEncoded = name === 'encodeSpeech' || (argument as { sound?: unknown }).sound !== undefined
    if (name === 'evaluateSpeech' && !isEncoded && this.#heardBy !== tab.id)
      throw new GgufError(
        'not-found',
        'The engine that the tabs share holds no audio of this tab: pass the option audio.',
      )
    this.#heardBy = kOfTokens.has(name) ? tab.id : undefined
    return argument
  }

  async #fork(tab: ServedTab, { from, to }: { from: number; to: number }): Promise<void> {
    const sequences = this.#sequences!
    this.#adapters!.choose(ownerOf(tab, to), this.#adapters!.of(ownerOf(tab, from)))
    if (!sequences.holds(ownerOf(tab, from))) return
    const source = await this.#place(ownerOf(tab, from), 0)
    const target = await this.#place(ownerOf(tab, to), 0)
    await this.#loaded!.engine.call('fork', { from: source, to: target })
    sequences.took(ownerOf(tab, to), sequences.cellsOf(ownerOf(tab, from)))
  }

  async #generate(
    tab: ServedTab,
    job: Job,
    call: GenerateCall,
    options: CallOptions,
  ): Promise<GenerateStatistics> {
    const sequences = this.#sequences!
    const owner = ownerOf(tab, call.sequence)
    const { id } = job.call
    if (job.answered.length === 0) for (const token of call.answered) job.answered.push(token)
    for (;;) {
      const count = (): number => call.tokens.length + job.answered.length
      const more = Math.min(call.maxTokens - job.answered.length, kAnswerCells)
      const sequence = await this.#place(owner, call.options.contextShift ? Infinity : count() + more)
      // Text without a token comes last. It comes again if the answer continues.
      const last: Piece[] = []
      const onPieces = (pieces: readonly Piece[]): void => {
        const ofTokens = pieces.filter(({ token }) => token >= 0)
        last.push(...pieces.filter(({ token }) => token < 0))
        for (const { token } of ofTokens) job.answered.push(token)
        if (ofTokens.length > 0) this.#answer(tab, { id, pieces: ofTokens })
      }
      const resumed = { ...call, sequence, answered: Int32Array.from(job.answered) }
      const done = await this.#loaded!.engine.generate(resumed, { ...options, onPieces }).finally(() =>
        sequences.took(owner, count()),
      )
      const isShort = done?.finishReason === 'context' && count() <= this.#loaded!.engine.info.contextLength
      if (!isShort || !sequences.hasOthers(owner)) {
        if (last.length > 0) this.#answer(tab, { id, pieces: last })
        return done
      }
      // Others took cells that this answer needs.
      await sequences.free((one) => one !== owner)
    }
  }
}
