// The adapters of the tabs in the engine that they share. One that several tabs use is there once.
import type { EngineCalls } from './model-engine.js'
import type { AdapterFacts, ChosenAdapter } from './protocol.js'

interface Opened {
  readonly facts: AdapterFacts
  /** how often each tab has opened it */
  readonly users: Map<string, number>
}

export class SharedAdapters {
  readonly #engine: EngineCalls
  /** by the digest of its bytes */
  readonly #opened = new Map<string, Opened>()
  /** by the owner of a sequence */
  readonly #chosen = new Map<string, readonly ChosenAdapter[]>()

  constructor(engine: EngineCalls) {
    this.#engine = engine
  }

  async open(tab: string, bytes: Uint8Array<ArrayBuffer>): Promise<AdapterFacts> {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).join()
    let opened = this.#opened.get(digest)
    if (!opened) {
      opened = { facts: await this.#engine.call('openAdapter', bytes), users: new Map() }
      this.#opened.set(digest, opened)
    }
    opened.users.set(tab, (opened.users.get(tab) ?? 0) + 1)
    return opened.facts
  }

  /** The tab uses these adapters no more. */
  async close(tab: string, ids: readonly number[]): Promise<void> {
    for (const { facts, users } of this.#opened.values())
      if (ids.includes(facts.id)) {
        const left = (users.get(tab) ?? 0) - 1
        if (left > 0) users.set(tab, left)
        else users.delete(tab)
      }
    await this.#closeUnused()
  }

  /** Frees what tabs that are gone have opened and chosen. */
  async free(isGone: (tab: string) => boolean): Promise<void> {
    for (const owner of this.#chosen.keys()) if (isGone(owner.split(' ')[0]!)) this.#chosen.delete(owner)
    for (const { users } of this.#opened.values())
      for (const tab of users.keys()) if (isGone(tab)) users.delete(tab)
    await this.#closeUnused()
  }

  choose(owner: string, adapters: readonly ChosenAdapter[]): void {
    this.#chosen.set(owner, adapters)
  }

  /** The adapters of that owner's sequence. */
  of(owner: string): readonly ChosenAdapter[] {
    return this.#chosen.get(owner) ?? []
  }

  async #closeUnused(): Promise<void> {
    for (const [digest, { facts, users }] of this.#opened)
      if (users.size === 0) {
        this.#opened.delete(digest)
        await this.#engine.call('closeAdapters', [facts.id])
      }
  }
}
