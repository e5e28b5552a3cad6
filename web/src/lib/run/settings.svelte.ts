// What the user sets for the answers of the panel Run.
import type { ToolChoice } from 'ggufscope/engine'
import type { AnswerOptions } from './engine.svelte'
import type { Mode } from './model-use'
import { faultOf, standard, type Sampling } from './presets'
import { parsedSchema } from './schema'
import { t } from '../language/text'
import { tabStorage } from '../page/storage'

const keptOver = ['showTokens', 'seed', 'schema', 'context', 'card', 'shared', 'choice'] as const

export class RunSettings {
  mode = $state<Mode>('complete')
  showTokens = $state(false)
  values = $state<Sampling>({ ...standard })
  /** a whole number; empty: random */
  seed = $state('')
  /** JSON text; empty: none */
  schema = $state('')
  /** in tokens; empty: the engine's default */
  context = $state('')
  /** run the model on the graphics card, if it can */
  card = $state(false)
  /** tabs of the viewer with the same file use one model */
  shared = $state(false)
  /** which functions the model may call */
  choice = $state<Extract<ToolChoice, string>>('auto')

  /** `modes`: what the model can do, the first by itself. `place`: the file, for which this tab keeps the settings. */
  constructor(
    readonly modes: readonly [Mode, ...Mode[]],
    private readonly place: string,
  ) {
    this.mode = modes[0]
    this.restore()
  }

  private get id(): string {
    return `settings.${this.place}`
  }

  /** Keeps the settings for a reload. To be called in an effect. */
  keep() {
    const kept = keptOver.map((name) => [name, this[name]])
    tabStorage.set(this.id, JSON.stringify({ ...Object.fromEntries(kept), values: this.values }))
  }

  private restore() {
    const kept = tabStorage.record(this.id)
    const values = { ...standard, ...(kept['values'] as Partial<Sampling> | undefined) }
    if (!faultOf(values)) this.values = values
    for (const name of keptOver)
      if (typeof kept[name] === typeof this[name]) Object.assign(this, { [name]: kept[name] })
  }

  /** whether messages are answered; otherwise a text is completed */
  get chat(): boolean {
    return this.mode === 'chat'
  }

  /** whether the model writes something */
  get answers(): boolean {
    return this.mode === 'chat' || this.mode === 'complete'
  }

  get contextLength(): number | undefined {
    return this.context ? Number(this.context) : undefined
  }

  /** Throws an Error that says what is wrong. */
  options(): AnswerOptions {
    const { values, seed } = this
    const fault = faultOf(values)
    if (fault) throw new Error(fault)
    if (seed.trim() && !Number.isSafeInteger(Number(seed)))
      throw new Error(t('The seed must be a whole number.'))
    return {
      ...$state.snapshot(values),
      ...(this.schema.trim() && { schema: parsedSchema(this.schema) }),
      ...(seed.trim() ? { seed: Number(seed) } : {}),
    }
  }
}
