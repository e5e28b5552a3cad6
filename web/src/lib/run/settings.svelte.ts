// What the user sets for the answers of the panel Run.
import type { JsonSchema, ToolChoice } from 'ggufscope/engine'
import type { AnswerOptions } from './engine.svelte'
import type { Mode } from './model-use'
import { faultOf, standard, type Sampling } from './presets'
import { t } from '../language/text'

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

  /** `modes`: what the model can do, the first by itself */
  constructor(readonly modes: readonly [Mode, ...Mode[]]) {
    this.mode = modes[0]
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
      ...this.parsedSchema(),
      ...(seed.trim() ? { seed: Number(seed) } : {}),
    }
  }

  private parsedSchema(): { schema?: JsonSchema } {
    if (!this.schema.trim()) return {}
    try {
      return { schema: JSON.parse(this.schema) as JsonSchema }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(t('The schema is not JSON: {error}', { error: reason }), { cause: error })
    }
  }
}
