// The model of the open file and its answers. It is loaded with the first message.
import type { GgufError, GgufFile, Source } from 'ggufscope'
import type { GenerateOptions, GenerateResult, Model, Piece, ReplyDelta } from 'ggufscope/engine'
import type { Call, Candidate, Drawn, Turn } from './conversation.svelte'
import { partsOf } from './attachments'
import { hasTemplate } from './model-use'
import { lengthWith, pieces, promptOf, type Prompted, type UnsentMessage } from './prompt'
import { memorySize, percent, rough } from '../language/format'
import { rememberKeeping } from '../hub/kept'
import { errorText } from '../language/error-text'
import { listed } from '../language/punctuation'
import { t } from '../language/text'
import { similarities, type Comparison } from './similarity'
import { TransferRate, type Transfer } from '../language/transfer'
import { SharedTabs } from './shared-tabs.svelte'

/** number of likeliest tokens that are recorded with each sampled one */
const candidatesShown = 5
const showEveryMs = 60
/** The time of fewer tokens says little of the speed. */
const measuredMs = 10

export interface LoadSettings {
  source: Source | readonly Source[]
  headers: Record<string, string> | undefined
  contextLength: number | undefined
  /** Waits for a download of the file, and returns whether the file is to be kept. */
  keep: (signal: AbortSignal) => Promise<boolean>
  projector: GgufFile | undefined
  /** the model that proposes tokens */
  draft?: GgufFile | undefined
  /** the projector and the draft model as they are when the model is loaded; absent: those above */
  current?: () => Pick<LoadSettings, 'projector' | 'draft'>
  /** whether to run it on the graphics card, if it can */
  card: boolean
  /** whether tabs with the same file use one model: only of addresses, without a projector and a draft model */
  shared: boolean
}

/** Those with which the model is loaded. */
export type ModelSettings = Pick<LoadSettings, 'contextLength' | 'projector' | 'draft' | 'card' | 'shared'>

/** The device as text, and why it is not the one that the user asked for. */
interface DeviceShown {
  readonly name: string
  readonly reason: string
}

export type AnswerOptions = Omit<GenerateOptions, 'signal' | 'onDone' | 'logprobs'>

export interface Question extends Prompted {
  options: AnswerOptions
  /** whether to answer in the room that is left, however little it is */
  anyway: boolean
  load: LoadSettings
}

export class Engine {
  status = $state('')
  /** how far the weights are loaded */
  transfer = $state.raw<Transfer>()
  /** text about the memory of the loaded model */
  memory = $state('')
  /** tokens in the context, and its capacity */
  used = $state(0)
  room = $state(0)
  /** the answer for which the context has no more room, and the tokens that it would take */
  full = $state.raw<{ turn: Turn; tokens: number }>()
  /** why the file is not kept although it should be, or that the kept one is not known to be the server's */
  notice = $state('')
  /** where the loaded model runs */
  device = $state.raw<DeviceShown>()
  /** tokens a second of the last answer; 0: none yet */
  speed = $state(0)
  /** bytes of the file that were read for the model */
  loaded = 0
  control = $state.raw<AbortController>()

  readonly tabs = new SharedTabs()
  private model: Model | undefined
  private loadedWith = $state.raw<readonly unknown[]>([])

  get busy(): boolean {
    return this.control !== undefined
  }

  stop() {
    this.control?.abort()
  }

  close() {
    this.stop()
    this.unload()
  }

  private unload() {
    this.model?.close()
    this.model = undefined
    this.memory = ''
    this.device = undefined
    this.speed = 0
    this.tabs.leave()
  }

  /** After a crash, the next message loads the model anew. */
  private unloadCrashed(error: unknown) {
    if ((error as Partial<GgufError> | null)?.code === 'crashed') this.unload()
  }

  /**
   * Writes the answer into the turn, piece by piece. Existing tokens of the turn are kept, and the answer
   * continues after them.
   */
  async answer(question: Question): Promise<void> {
    const control = (this.control = new AbortController())
    const { turn } = question
    turn.state = 'running'
    turn.told = ''
    this.full = undefined
    try {
      const model = await this.ready(question.load, control.signal)
      await this.encodeMedia(model, question, control.signal)
      this.status = t('Reading the prompt')
      const tokens = await this.fit(model, question)
      this.used = Math.min(tokens, this.room)
      if (this.hasRoom(question, tokens)) await this.draw(model, question, control.signal)
      else this.refuse(turn, tokens)
    } catch (error) {
      this.unloadCrashed(error)
      if (control.signal.aborted) {
        turn.state = 'stopped'
        turn.told = turn.told ? `${turn.told}. ${t('Stopped.')}` : t('Stopped.')
      } else {
        turn.state = 'failed'
        turn.told = errorText(error)
      }
    } finally {
      this.status = ''
      this.transfer = undefined
      if (this.control === control) this.control = undefined
    }
  }

  /** Whether a projector or draft model is loaded. */
  holds(companion: GgufFile | undefined): boolean {
    return this.device !== undefined && this.loadedWith.includes(companion)
  }

  /** Whether an answer with these settings loads the model first. */
  mustLoad({ contextLength, projector, draft, card, shared }: ModelSettings): boolean {
    const now = [contextLength, projector, card, shared, draft]
    return !this.model || now.some((value, i) => value !== this.loadedWith[i])
  }

  private async ready(settings: LoadSettings, signal: AbortSignal): Promise<Model> {
    const { source, contextLength, card, shared } = settings
    const share =
      shared &&
      !settings.projector &&
      !settings.draft &&
      [source].flat().every((one) => typeof one === 'string')
    if (this.model && !this.mustLoad(settings)) return this.model
    this.unload()
    this.status = t('Starting the engine')
    const keep = await settings.keep(signal)
    // What is kept by now is not read from its server.
    const { projector, draft } = settings.current?.() ?? settings
    if (keep) rememberKeeping()
    this.notice = ''
    const loaded = (cache: boolean) =>
      this.whenOnline(signal, () => this.load({ ...settings, projector, draft }, { signal, share, cache }))
    const model = await loaded(keep).catch(async (error: unknown) => {
      // The model also runs from the server, without being kept: the storage may be full, or not open to pages.
      const { code, message } = error as Partial<GgufError>
      if (!keep || (code !== 'quota' && code !== 'unsupported')) throw error
      const model = await loaded(false)
      this.notice = t('The file is not kept: {error}', { error: message ?? '' })
      return model
    })
    this.model = model
    this.transfer = undefined
    this.loaded = model.file.size ?? this.loaded
    this.loadedWith = [contextLength, projector, card, shared, draft]
    if (share) await this.tabs.enter([source, contextLength, card])
    const warning = [...model.file.chatTemplates.values()][0]?.warning
    // Without a template no messages are sent.
    if (warning && hasTemplate(model.file) && !this.notice) this.notice = warning
    this.room = model.info.contextLength
    this.describe(model)
    return model
  }

  private async load(
    { source, headers, contextLength, projector, draft, card }: LoadSettings,
    { signal, share, cache }: { signal: AbortSignal; share: boolean; cache: boolean },
  ): Promise<Model> {
    const { load } = await import('ggufscope/engine')
    const [rate, draftRate] = [new TransferRate(), new TransferRate()]
    const model: Model = await load(source, {
      signal,
      headers,
      contextLength,
      projector,
      draft,
      share,
      // Without a network, only what is kept here can be read.
      ...(navigator.onLine ? {} : { retries: 0 }),
      device: card ? 'auto' : 'cpu',
      onDevice: () => this.describe(model),
      cache,
      onCache: ({ state }) => {
        if (state === 'changed') this.notice = t('The file has changed on the server. The new one is loaded.')
        if (state === 'unchecked')
          this.notice = t('The kept file is used. The server could not be asked whether it has changed.')
      },
      onProgress: ({ phase, of, loaded, total }) => {
        if (phase !== 'weights') return
        this.status = of === 'draft' ? t('Loading the draft model') : t('Loading the weights')
        this.transfer = (of === 'draft' ? draftRate : rate).measure(loaded, total)
        if (of === 'model') this.loaded = loaded
      },
    })
    return model
  }

  /** Does the work again when the network is back, if that is what it lacked. */
  private async whenOnline<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        const { code = '' } = error as Partial<GgufError>
        if (navigator.onLine || signal.aborted || !/^(network|connection-lost)$/.test(code)) throw error
        this.transfer = undefined
        this.status = t('This device is offline. It goes on when the connection is back.')
        await new Promise((resolve, reject) => {
          addEventListener('online', resolve, { once: true, signal })
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        })
        this.status = t('Starting the engine')
      }
    }
  }

  /** Where the model runs, and its memory there. */
  private describe({ info }: Model) {
    const { memory, variant, threads, device, deviceReason, adapter } = info
    const total = memorySize(memory.total)
    const parts = listed([
      t('{size} weights', { size: memorySize(memory.weights) }),
      // A model that makes no tokens has none.
      ...(memory.cache > 0 ? [t('{size} cache', { size: memorySize(memory.cache) })] : []),
    ])
    if (device === 'gpu') {
      const name = [adapter?.vendor, adapter?.architecture].filter(Boolean).join(' ')
      this.device = { name: t('Graphics card: {name}', { name: name || t('no name') }), reason: '' }
      this.memory = t('{total} on the graphics card: {parts}', { total, parts })
      return
    }
    const asked = this.loadedWith[2] === true
    this.device = {
      name: t('CPU, {n} thread|CPU, {n} threads', { n: threads }),
      reason: asked ? deviceReason : '',
    }
    this.memory = t('{total} of memory: {parts}; {variant} SIMD', { total, parts, variant })
  }

  /**
   * Compares texts: the cosine similarity of each two, or of a model that ranks, how well each text after the first answers the
   * first. Errors: those of load(), and of a text that the context has no room for.
   */
  async compare(texts: readonly string[], settings: LoadSettings, ranks: boolean): Promise<Comparison> {
    return await this.use(settings, t('Reading the texts'), async (model, signal) => {
      const start = performance.now()
      let read = 0
      const options = { signal, onDone: ({ tokens }: { tokens: number }) => void (read += tokens) }
      const [query = '', ...documents] = texts
      const result: Comparison = ranks
        ? {
            texts,
            scores: (await model.rerank(query, documents, options))
              .toSorted((a, b) => a.index - b.index)
              .map(({ score }) => score),
          }
        : { texts, similarity: similarities(await model.embed(texts, options)) }
      this.speed = read / ((performance.now() - start) / 1000)
      return result
    })
  }

  /** Uses the model for something else than an answer. Errors: those of load(), and of the work. */
  async use<T>(
    settings: LoadSettings,
    status: string,
    work: (model: Model, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const control = (this.control = new AbortController())
    try {
      const model = await this.ready(settings, control.signal)
      this.status = status
      return await work(model, control.signal)
    } catch (error) {
      this.unloadCrashed(error)
      throw error
    } finally {
      this.status = ''
      this.transfer = undefined
      if (this.control === control) this.control = undefined
    }
  }

  /** Encodes the images and audio of the last message. The model keeps the results for the prompt. */
  private async encodeMedia(model: Model, { conversation, turn }: Question, signal: AbortSignal) {
    const message = conversation.until(turn).findLast(({ role }) => role === 'user')
    const parts = partsOf(message?.attachments ?? [])
    for (const [i, part] of parts.entries()) {
      const what = t(part.type === 'image' ? 'Encoding image' : 'Encoding audio')
      const which = parts.length > 1 ? t(' {at} of {all}', { at: i + 1, all: parts.length }) : ''
      this.status = what + which
      const { warnings } = await model.encodeMedia(part, {
        signal,
        onProgress: ({ done, total }) => (this.status = `${what}${which}: ${percent(done, total)}`),
      })
      if (warnings.length > 0) this.notice = warnings.join(' ')
    }
  }

  /** Whether there is room for an answer in a conversation. A first message has nothing before it that could be left out. */
  fits(tokens: number, isFirst: boolean, maxTokens = Infinity): boolean {
    const spare = isFirst ? 1 : Math.max(1, Math.min(maxTokens, 256, Math.floor(this.room / 8)))
    return tokens + spare <= this.room
  }

  private hasRoom({ conversation, chat, turn, options, anyway }: Question, tokens: number): boolean {
    const isFirst = conversation.sentBefore(turn).length <= 1
    return this.fits(tokens, isFirst || !chat || anyway || turn.tokens.length > 0, options.maxTokens)
  }

  /** The tokens of a prompt with a message that is not sent yet; undefined: the model is not loaded with these settings. */
  async lengthWith(unsent: UnsentMessage, settings: ModelSettings): Promise<number | undefined> {
    return this.model && !this.mustLoad(settings) ? await lengthWith(this.model, unsent) : undefined
  }

  /** The tokens of the prompt. After the user left out the oldest turns once, further ones follow as needed. */
  private async fit(model: Model, question: Question): Promise<number> {
    const { conversation } = question
    const count = async () => (await promptOf(model, question)).length
    const tokens = await count()
    if (conversation.from === undefined || this.hasRoom(question, tokens)) return tokens
    const start = await this.findStart(question)
    if (start === undefined) return tokens
    conversation.from = start
    return await count()
  }

  /** The context has too little room for an answer, so nothing is computed before the user chose a way out. */
  private refuse(turn: Turn, tokens: number) {
    turn.state = 'stopped'
    turn.told = t('The context has too little room for an answer.')
    this.full = { turn, tokens }
  }

  /** The first turn from which on the conversation takes little more than half of the context. */
  async findStart(question: Question): Promise<number | undefined> {
    const { model, room } = this
    const { conversation, turn } = question
    const asked = conversation.sentBefore(turn).filter(({ role }) => role === 'user')
    for (const { id } of asked.slice(1)) {
      if (!model || id === asked.at(-1)?.id) return id
      if ((await promptOf(model, question, id)).length <= 0.6 * room) return id
    }
    return undefined
  }

  /** Which share of an answer the draft model proposed; empty without one. */
  private drafted(result: GenerateResult | undefined): string {
    if (!this.loadedWith[4] || !result || result.tokens === 0) return ''
    const share = percent(result.acceptedDraftTokens, result.tokens)
    return ` ${t('{share} of the tokens were proposed by the draft model.', { share })}`
  }

  private async draw(model: Model, question: Question, signal: AbortSignal) {
    const { turn } = question
    const start = performance.now()
    let first = 0
    let latest = 0
    let drawn = 0
    let result: GenerateResult | undefined
    const options: GenerateOptions = {
      ...question.options,
      signal,
      logprobs: candidatesShown,
      onDone: (done) => (result = done),
    }
    const speed = () => (latest - first < measuredMs ? 0 : (drawn - 1) / ((latest - first) / 1000))
    const told = () => {
      const figures = { n: drawn, wait: String(Math.round(first - start)) }
      if (speed() === 0)
        return t('{n} token, the first after {wait} ms|{n} tokens, the first after {wait} ms', figures)
      return t(
        '{n} token, {speed} a second, the first after {wait} ms|{n} tokens, {speed} a second, the first after {wait} ms',
        { ...figures, speed: rough(speed()) },
      )
    }
    // The page is updated a few times a second, however fast the tokens arrive.
    const answer = { text: question.chat ? '' : turn.text, reasoning: '', calls: [] as Call[] }
    const tokens = $state.snapshot(turn.tokens)
    let shownAt = 0
    const show = () => {
      turn.text = answer.text
      if (answer.reasoning) turn.reasoning = answer.reasoning
      if (answer.calls.length > 0) turn.calls = answer.calls.map((call) => ({ ...call }))
      turn.tokens = [...tokens]
      turn.told = this.status = told()
      shownAt = performance.now()
    }
    for await (const piece of await pieces(model, question, options)) {
      first ||= performance.now()
      for (const delta of piece.deltas) extend(answer, delta)
      const last = tokens.at(-1)
      if (piece.token >= 0) {
        drawn++
        latest = performance.now()
        this.used = Math.min(this.used + 1, this.room)
        tokens.push(drawnFrom(model, piece))
      } else if (last) last.text += piece.text
      if (performance.now() - shownAt > showEveryMs) show()
    }
    show()
    this.speed = speed() || this.speed
    // The last token is drawn, and not computed on.
    if (result) this.used = Math.min(this.room, result.promptTokens + result.tokens)
    const ends = { length: 'cut', context: 'cut', stop: 'done', end: 'done', tool_calls: 'done' } as const
    turn.state = signal.aborted ? 'stopped' : ends[result?.finishReason ?? 'end']
    turn.told = drawn > 0 ? `${told()}.` : t('The model ended its answer here.')
    turn.told += this.drafted(result)
    if (turn.state === 'stopped') turn.told += ` ${t('Stopped.')}`
    if (result?.finishReason === 'length') turn.told += ` ${t('The longest answer was reached.')}`
    if (result?.finishReason === 'context') {
      turn.told += ` ${t('The context is full.')}`
      this.full = { turn, tokens: this.used }
    }
  }
}

/** Adds a delta to an answer. */
function extend(answer: { text: string; reasoning: string; calls: Call[] }, delta: ReplyDelta) {
  answer.text += delta.content ?? ''
  answer.reasoning += delta.reasoning_content ?? ''
  for (const { index, id, function: called } of delta.tool_calls ?? []) {
    const call = (answer.calls[index] ??= { id: id ?? '', name: called.name ?? '', arguments: '' })
    call.arguments += called.arguments ?? ''
  }
}

function drawnFrom(model: Model, { token, text, logprob, alternatives = [] }: Piece): Drawn {
  const candidates = alternatives.map((one): Candidate => ({
    ...one,
    text: model.tokenizer.decode([one.token], { special: true }),
  }))
  return { token, text, logprob, candidates }
}

/** Formats a log probability, e.g. "41.2 %". */
export const likelihood = (logprob: number) => percent(Math.exp(logprob), 1)

/** The label of a token, e.g. "token 12: 41.2 %". */
export const about = ({ token, logprob }: Drawn) =>
  logprob === undefined
    ? t('token {token}', { token })
    : t('token {token}: {likelihood}', { token, likelihood: likelihood(logprob) })
