// The messages between tabs that share an engine, and the names of what they meet at. One tab leads: it runs the engine,
// and serves all tabs, its own too. Broadcast channels carry the messages: one that all tabs have, and one for each tab and
// the leader, so that answers reach only their tab. Web locks choose the leader, and show which tabs are alive.
import type { LoadProgress, ModelInfo } from './types.js'
import type { ModelFacts } from './model.js'
import type { Answer, Call, Cancel, Pause } from './protocol.js'

// Pages with another number do not share an engine with this one. Raise it with any change of these messages, of
// protocol.ts, or of the arguments of the worker's handlers.
const kNames = 'ggufscope-engine-2'

/** A time of leadership. Later ones have larger numbers. */
export type Term = number

/** What the leader says about the loaded model. */
export interface SharedFacts extends ModelFacts {
  readonly info: ModelInfo
}

/** A tab asks to be served, or whether it still is. Repeated until there is an answer. */
export interface Join {
  readonly join: string
}
export interface Leave {
  readonly leave: string
}
/** Tells all tabs who leads. */
interface Lead {
  readonly lead: Term
}
/** The leader ends: its engine crashed, or its tab rests. */
interface Resign {
  readonly resign: Term
}
export type ToAll = Join | Leave | Lead | Resign

export interface ToLeader {
  readonly term: Term
  readonly message: Call | Cancel | Pause
}

/** loaded: undefined while the model loads */
export type ToTab =
  | { readonly term: Term; readonly loaded: SharedFacts | undefined }
  | { readonly term: Term; readonly progress: LoadProgress }
  | { readonly term: Term; readonly answer: Answer }

/** The name of the leader's lock and of the channel of all tabs, for a text that describes the engine. */
export async function sharedName(description: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(description))
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${kNames}-${hex}`
}

/** The name of a tab's lock, which it holds while it lives, and of its channel. */
export const nameOfTab = (name: string, tab: string): string => `${name}-${tab}`

/** One end of a channel. */
export class Channel<Out, In> {
  #channel: BroadcastChannel | undefined

  constructor(name: string, receive: (message: In) => void) {
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = ({ data }: MessageEvent<In>) => {
      if (this.#channel) receive(data)
    }
  }

  /** Nothing is sent after close(). */
  post(message: Out): void {
    this.#channel?.postMessage(message)
  }

  close(): void {
    this.#channel?.close()
    this.#channel = undefined
  }
}
