// The engine that tabs share, as one tab calls it. The tab also stands for election: it leads when the leader is gone.
import { callBack } from '../api/callbacks.js'
import { GgufError } from '../api/errors.js'
import { Client, type CallOptions, type CallResult } from './client.js'
import type { EngineCalls } from './model-engine.js'
import type { Answer, GenerateCall, GenerateStatistics } from './protocol.js'
import { Leader, type LoadForTabs } from './share-leader.js'
import {
  Channel,
  nameOfTab,
  type SharedFacts,
  type Term,
  type ToAll,
  type ToLeader,
  type ToTab,
} from './share-messages.js'
import { SharedState } from './share-state.js'
import type { LoadOptions, LoadProgress, ModelInfo, Piece } from './types.js'
import type { Handlers } from './worker.js'

// While a tab waits for something, it asks the leader so often whether it is there. A leader that leaves so many questions
// without an answer is deposed: the browser has suspended its page without telling it.
const kAskMs = 2000
const kPatience = 5
// A call that did not get on while so many leaders came and went may be what ends them.
const kMaxMoves = 5

/** Ends the calls to a leader that is gone. They are sent to the next one. */
class Moved extends GgufError {
  constructor() {
    super('interrupted', 'The tab that ran the shared engine has ended.')
  }
}

type TabOptions = Pick<LoadOptions, 'signal' | 'onProgress' | 'onDevice'>

export class SharedEngine implements EngineCalls {
  readonly #name: string
  readonly #id = crypto.randomUUID()
  readonly #load: LoadForTabs
  readonly #options: TabOptions
  readonly #all: Channel<ToAll, ToAll>
  readonly #channel: Channel<ToLeader, ToTab>
  /** aborted when this tab has left */
  readonly #left = new AbortController()
  /** aborted when it neither takes part nor leads any more */
  readonly #done = new AbortController()
  #error: GgufError | undefined
  #term: Term = 0
  #facts: SharedFacts | undefined
  #client: Client | undefined
  #onAnswer: (answer: Answer) => void = () => {}
  #leader: Leader | undefined
  /** calls, and whoever waits for a leader */
  #waiting = 0
  #asked = 0
  #timer: ReturnType<typeof setInterval> | undefined
  /** calls when something has changed: a leader is ready, or the tab has left */
  readonly #watchers = new Set<() => void>()
  #resting = false
  readonly #state = new SharedState()
  /** what onDevice returned */
  #told: Promise<void> | undefined

  private constructor(name: string, load: LoadForTabs, options: TabOptions) {
    this.#name = name
    this.#load = load
    this.#options = options
    this.#all = new Channel(name, (message) => this.#hear(message))
    this.#channel = new Channel(nameOfTab(name, this.#id), (message) => this.#receive(message))
  }

  /** Joins the tabs that meet at this name. load: loads the engine if this tab leads. */
  static async join(
    name: string,
    load: LoadForTabs,
    options: TabOptions,
  ): Promise<{ engine: SharedEngine; facts: SharedFacts }> {
    const tab = new SharedEngine(name, load, options)
    try {
      await tab.#live()
      tab.#watchPage()
      void tab.#stand()
      tab.#all.post({ join: tab.#id })
      await tab.#ready(options.signal)
      return { engine: tab, facts: tab.#facts! }
    } catch (error) {
      tab.end()
      throw error
    }
  }

  get info(): ModelInfo {
    return this.#facts!.info
  }

  async call<Name extends keyof Handlers>(
    name: Name,
    argument: Parameters<Handlers[Name]>[0],
    options: CallOptions = {},
  ): Promise<CallResult<Name>> {
    let reported = false
    const report =
      <T>(of: ((value: T) => void) | undefined) =>
      (value: T): void => {
        reported = true
        of?.(value)
      }
    const { onHeard, onSpoken } = options
    const watched = { ...options, onHeard: report(onHeard), onSpoken: report(onSpoken), transfer: [] }
    return await this.#continued(
      options.signal,
      async (client) => {
        const forEngine = await this.#state.argumentFor(client, name, argument)
        const result = await client.call(name, forEngine as typeof argument, watched)
        return this.#state.resultOf(client, name, argument, result) as typeof result
      },
      () => 0,
      () => !reported,
    )
  }

  /** An answer goes on from its tokens if the leader changes. */
  async generate(call: GenerateCall, options: CallOptions): Promise<GenerateStatistics> {
    const answered = [...call.answered]
    let hasEnded = false
    const onPieces = (pieces: readonly Piece[]): void => {
      const news = pieces.filter(({ token }) => token >= 0 || !hasEnded)
      for (const { token } of news)
        if (token >= 0) answered.push(token)
        else hasEnded = true
      if (news.length > 0) options.onPieces?.(news)
    }
    return await this.#continued(
      options.signal,
      async (client) => {
        const forEngine = (await this.#state.argumentFor(client, 'generate', call)) as GenerateCall
        return await client.call(
          'generate',
          { ...forEngine, answered: Int32Array.from(answered) },
          { ...options, onPieces, transfer: [] },
        )
      },
      () => answered.length,
      // A context that was shifted cannot be computed again.
      () => !call.options.contextShift || call.tokens.length + answered.length <= this.info.contextLength,
    )
  }

  end(error = new GgufError('closed', 'This model was closed.')): void {
    if (this.#error) return
    this.#error = error
    this.#client?.end(error)
    this.#all.post({ leave: this.#id })
    this.#all.close()
    this.#channel.close()
    this.#left.abort()
    clearInterval(this.#timer)
    this.#leader?.leave(this.#id)
    this.#changed()
  }

  /** Runs a call, again with the next leader if one ends. */
  async #continued<T>(
    signal: AbortSignal | undefined,
    attempt: (client: Client) => Promise<T>,
    progress: () => number,
    canContinue: () => boolean,
  ): Promise<T> {
    let [crashes, moves, before] = [0, 0, 0]
    this.#wait(1)
    try {
      for (;;) {
        const client = await this.#ready(signal)
        try {
          const value = await attempt(client)
          await this.#told
          return value
        } catch (error) {
          signal?.throwIfAborted()
          if (this.#error) throw this.#error
          const hasCrashed = error instanceof GgufError && error.code === 'crashed'
          if (!(error instanceof Moved) && !hasCrashed) throw error
          if (!canContinue())
            throw new GgufError(
              'interrupted',
              'The tab that ran the shared engine has ended. An answer whose context was shifted, and speech that was partly heard or spoken, cannot be continued: call again.',
            )
          if (hasCrashed && ++crashes > 1) throw error
          moves = progress() > before ? 0 : moves + 1
          before = progress()
          if (moves > kMaxMoves)
            throw new GgufError(
              'crashed',
              `${moves} tabs that ran the shared engine ended while they computed this call.`,
            )
        }
      }
    } finally {
      this.#wait(-1)
    }
  }

  /** Resolves with the connection to a leader whose engine is loaded. */
  async #ready(signal: AbortSignal | undefined): Promise<Client> {
    this.#wait(1)
    const stop = (): void => this.#changed()
    signal?.addEventListener('abort', stop)
    try {
      for (;;) {
        signal?.throwIfAborted()
        if (this.#error) throw this.#error
        if (this.#client) return this.#client
        await new Promise<void>((resolve) => this.#watchers.add(resolve))
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      this.#wait(-1)
    }
  }

  #changed(): void {
    for (const wake of this.#watchers) wake()
    this.#watchers.clear()
  }

  /** Asks for the leader while something waits for it. */
  #wait(count: number): void {
    this.#waiting += count
    if (this.#waiting === 0 || this.#error) {
      clearInterval(this.#timer)
      this.#timer = undefined
    } else if (this.#timer === undefined) {
      this.#asked = 0
      this.#timer = setInterval(() => this.#ask(), kAskMs)
    }
  }

  #ask(): void {
    if (this.#leader || this.#resting) return
    this.#all.post({ join: this.#id })
    if (++this.#asked <= kPatience) return
    this.#asked = 0
    void navigator.locks
      .request(this.#name, { steal: true }, () => this.#lead())
      .catch(() => this.#leader?.stop())
  }

  #hear(message: ToAll): void {
    if ('lead' in message && message.lead > this.#term) {
      this.#follow(message.lead)
      this.#all.post({ join: this.#id })
    } else if ('resign' in message && message.resign === this.#term) this.#lose()
  }

  #follow(term: Term): void {
    this.#term = term
    this.#asked = 0
    this.#lose()
  }

  #lose(): void {
    const client = this.#client
    this.#client = undefined
    client?.end(new Moved())
  }

  #receive(message: ToTab): void {
    const { term } = message
    if (term < this.#term) return
    if (term > this.#term) this.#follow(term)
    this.#asked = 0
    if ('answer' in message) this.#onAnswer(message.answer)
    else if ('progress' in message) {
      if (!this.#facts) this.#tellProgress(message.progress)
    } else if (message.loaded) this.#use(term, message.loaded)
  }

  #tellProgress(progress: LoadProgress): void {
    try {
      this.#options.onProgress?.(progress)
    } catch (error) {
      this.end(error as GgufError) // the caller's function threw: load() ends with its error
    }
  }

  #use(term: Term, facts: SharedFacts): void {
    const before = this.#facts?.info
    this.#facts = facts
    const { device, deviceReason, adapter } = facts.info
    if (before && before.device !== device) {
      this.#told = callBack(this.#options.onDevice, { device, deviceReason, adapter })
      this.#told.catch(() => {}) // awaited by the next call that ends
    }
    if (this.#client) return
    this.#client = new Client((onAnswer) => {
      this.#onAnswer = onAnswer
      return Promise.resolve({
        post: (message) => {
          if (!('close' in message) && term === this.#term && !this.#error)
            this.#channel.post({ term, message })
        },
        end() {},
      })
    }, true)
    this.#changed()
  }

  /** Holds the lock that shows the leader that this tab is there. */
  async #live(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      navigator.locks
        .request(nameOfTab(this.#name, this.#id), async () => {
          resolve()
          await new Promise<void>((leave) => {
            if (this.#left.signal.aborted) leave()
            this.#left.signal.addEventListener('abort', () => leave(), { once: true })
          })
        })
        .catch(reject)
    })
  }

  /** A page that is frozen, or kept for the back button, does not answer: it leads no more until it is back. */
  #watchPage(): void {
    const { signal } = this.#done
    const rest = (): void => {
      this.#resting = true
      this.#leader?.stop()
    }
    const wake = (): void => {
      this.#resting = false
      this.#changed()
    }
    globalThis.addEventListener?.('pagehide', rest, { signal })
    globalThis.addEventListener?.('pageshow', wake, { signal })
    globalThis.document?.addEventListener('freeze', rest, { signal })
    globalThis.document?.addEventListener('resume', wake, { signal })
  }

  /** Leads whenever it is this tab's turn, until the tab leaves. */
  async #stand(): Promise<void> {
    while (!this.#error) {
      if (this.#resting) {
        await new Promise<void>((resolve) => this.#watchers.add(resolve))
        continue
      }
      await navigator.locks
        .request(this.#name, { signal: this.#left.signal }, () => this.#lead())
        .catch(() => this.#leader?.stop()) // another tab took the lock: this page had been suspended
    }
    this.#done.abort()
  }

  async #lead(): Promise<void> {
    if (this.#error || this.#resting || this.#leader) return
    const leader = new Leader(this.#name, this.#id, Math.max(Date.now(), this.#term + 1))
    this.#leader = leader
    try {
      await leader.lead(this.#load)
    } catch (error) {
      this.end(error as GgufError)
    } finally {
      this.#leader = undefined
    }
  }
}
