// What a tab has in the engine that tabs share: encoded images and sounds, and adapters. Their ids are the tab's own, and
// stand for those of the present engine. When another tab leads, its engine has none of them: they are made again.
import { GgufError } from '../api/errors.js'
import type { Client } from './client.js'
import type { EncodedTokens } from './media-worker.js'
import type { AdapterFacts, ChosenAdapter } from './protocol.js'
import type { Handlers } from './worker.js'

// Images and sounds that can be encoded again. A conversation passes those that it has with each message.
const kMaxMedia = 64
/** Ids of media are below it, and the tab's own far below those that an engine gives. */
const kNoToken = -1
const kFirstMedium = -(2 ** 30)

type EncodeName = 'encodeImage' | 'encodeAudio'

interface Medium {
  readonly name: EncodeName
  readonly argument: Parameters<Handlers[EncodeName]>[0]
  /** the tokens with the tab's ids */
  readonly own: Int32Array
  /** those of that engine */
  client: Client
  tokens: Int32Array
}

interface OpenAdapter {
  readonly bytes: Uint8Array
  /** of the engine */
  id: number
}

interface OfSequence {
  readonly sequence: number
}
interface Adapted extends OfSequence {
  readonly adapters: readonly ChosenAdapter[]
}

const isSame = (a: Int32Array, b: Int32Array): boolean =>
  a.length === b.length && a.every((id, i) => id === b[i])

export class SharedState {
  readonly #media: Medium[] = []
  #nextMedium = kFirstMedium
  readonly #adapters = new Map<number, OpenAdapter>()
  #nextAdapter = 0
  /** adapters by sequence, with the tab's ids */
  readonly #chosen = new Map<number, readonly ChosenAdapter[]>()
  #client: Client | undefined
  #restoring: Promise<void> | undefined

  /** The argument of a call, as the engine behind this client understands it. */
  async argumentFor(client: Client, name: keyof Handlers, argument: unknown): Promise<unknown> {
    await this.#restore(client)
    if (name === 'setAdapters') return this.#adapted(argument as Adapted)
    if (name === 'closeAdapters') return (argument as number[]).map((id) => this.#idOf(id))
    if (name === 'mediaEmbeddings') return await this.#tokensFor(client, argument as Int32Array)
    const { tokens } = (argument ?? {}) as { tokens?: unknown }
    if (!(tokens instanceof Int32Array)) return argument
    return { ...(argument as object), tokens: await this.#tokensFor(client, tokens) }
  }

  /** The result of a call, with the tab's ids. */
  resultOf(client: Client, name: keyof Handlers, argument: unknown, result: unknown): unknown {
    if (name === 'encodeImage' || name === 'encodeAudio') {
      const encoded = result as EncodedTokens | undefined
      if (!encoded || 'undecoded' in encoded) return result
      return { ...encoded, tokens: this.#noteMedium(client, name, argument, encoded.tokens) }
    }
    if (name === 'openAdapter' && result) {
      const facts = result as AdapterFacts
      const id = ++this.#nextAdapter
      this.#adapters.set(id, { bytes: argument as Uint8Array, id: facts.id })
      return { ...facts, id }
    }
    if (name === 'closeAdapters') for (const id of argument as number[]) this.#adapters.delete(id)
    if (name === 'setAdapters')
      this.#chosen.set((argument as Adapted).sequence, (argument as Adapted).adapters)
    if (name === 'fork') {
      const { from, to } = argument as { from: number; to: number }
      this.#chosen.set(to, this.#chosen.get(from) ?? [])
    }
    if (name === 'drop') this.#chosen.delete((argument as OfSequence).sequence)
    return result
  }

  /** Gives a new engine the tab's adapters. */
  async #restore(client: Client): Promise<void> {
    if (this.#client !== client) {
      this.#client = client
      this.#restoring = this.#restoreNow(client)
    }
    try {
      await this.#restoring
    } catch (error) {
      if (this.#client === client) this.#client = undefined
      throw error
    }
  }

  async #restoreNow(client: Client): Promise<void> {
    for (const adapter of this.#adapters.values())
      adapter.id = (await client.call('openAdapter', adapter.bytes)).id
    for (const [sequence, adapters] of this.#chosen)
      if (adapters.length > 0) await client.call('setAdapters', this.#adapted({ sequence, adapters }))
  }

  #idOf(id: number): number {
    return this.#adapters.get(id)?.id ?? -1
  }

  #adapted({ sequence, adapters }: Adapted): Adapted {
    return { sequence, adapters: adapters.map((one) => ({ ...one, id: this.#idOf(one.id) })) }
  }

  #noteMedium(client: Client, name: EncodeName, argument: unknown, tokens: Int32Array): Int32Array {
    const known = this.#media.find((one) => one.client === client && isSame(one.tokens, tokens))
    if (known) return known.own
    const ids = new Map<number, number>()
    const own = tokens.map((id) => {
      if (id >= kNoToken) return id
      if (!ids.has(id)) ids.set(id, this.#nextMedium--)
      return ids.get(id)!
    })
    if (this.#media.length === kMaxMedia) this.#media.shift()
    this.#media.push({ name, argument: argument as Medium['argument'], own, client, tokens })
    return own
  }

  /** Tokens with the engine's ids. What it does not have is encoded again. */
  async #tokensFor(client: Client, tokens: Int32Array): Promise<Int32Array> {
    const wanted = new Set(tokens.filter((id) => id < kNoToken))
    if (wanted.size === 0) return tokens
    const ids = new Map<number, number>()
    for (const medium of this.#media) {
      if (!medium.own.some((id) => wanted.has(id))) continue
      if (medium.client !== client) await this.#encodeAgain(client, medium)
      medium.own.forEach((id, i) => ids.set(id, medium.tokens[i]!))
    }
    return tokens.map((id) => (id < kNoToken ? (ids.get(id) ?? id) : id))
  }

  async #encodeAgain(client: Client, medium: Medium): Promise<void> {
    const { name, argument, own } = medium
    const encoded: EncodedTokens = await client.call(name, argument)
    if ('undecoded' in encoded || encoded.tokens.length !== own.length)
      throw new GgufError('interrupted', 'An image or sound cannot be encoded again: pass it again.')
    medium.client = client
    medium.tokens = encoded.tokens
  }
}
