// The message that is being written: how many tokens the conversation takes with it, and whether an answer then has room.
import type { Engine, ModelSettings } from './engine.svelte'
import type { UnsentMessage } from './prompt'

const pauseMs = 200

export interface Written extends UnsentMessage {
  readonly settings: ModelSettings
  readonly maxTokens: number | undefined
}

export class Unsent {
  /** undefined: not known */
  tokens = $state<number>()
  private latest = 0

  /** `written`: undefined where there is nothing to count */
  constructor(
    private readonly engine: Engine,
    private readonly written: () => Written | undefined,
  ) {}

  /** Counts after a pause in typing. To be called in an effect. */
  follow(): (() => void) | undefined {
    const message = this.written()
    if (!message) {
      this.latest++
      this.tokens = undefined
      return undefined
    }
    const { conversation } = message
    // An effect of its own would not see what is read later.
    void [conversation.path, conversation.system, conversation.from, this.engine.device]
    const timer = setTimeout(() => void this.count(), pauseMs)
    return () => clearTimeout(timer)
  }

  async count(): Promise<void> {
    const run = ++this.latest
    const message = this.written()
    // What is wrong is said when the message is sent.
    const tokens = message && (await this.engine.lengthWith(message, message.settings).catch(() => undefined))
    if (run === this.latest) this.tokens = tokens
  }

  /** Whether the user must choose a way out before it is sent. Once oldest turns were left out, further ones follow by themselves. */
  get isTooLong(): boolean {
    const { tokens } = this
    const message = tokens === undefined ? undefined : this.written()
    if (!message?.chat || message.conversation.from !== undefined) return false
    return !this.engine.fits(tokens!, message.conversation.path.length === 0, message.maxTokens)
  }
}
