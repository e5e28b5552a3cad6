// The conversations of the open file: the one that is shown, and the list of all. Each is stored as a record of its own.
import type { Attachment } from './attachments'
import type { Conversation, SavedConversation } from './conversation.svelte'
import {
  conversationsOf,
  headingOf,
  removeConversation,
  saveConversation,
  searchConversations,
  storedConversation,
  watchConversations,
  type Contents,
  type ConversationUpdate,
  type Heading,
  type StoredConversation,
} from './conversation-store'
import { storage, tabStorage } from '../page/storage'

const saveAfterMs = 300

/** the name of the error of a full storage */
export const kFull = 'QuotaExceededError'

const newId = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`

export class Conversations {
  list = $state.raw<readonly Heading[]>([])
  /** the shown conversation's */
  id = $state(newId())
  /** how often a stored conversation was shown */
  shown = $state(0)
  title = $state('')
  /** the message that is being written, and its images and audio */
  draft = $state('')
  attached = $state.raw<readonly Attachment[]>([])
  /** the conversation that was deleted last */
  removed = $state.raw<StoredConversation>()
  private wasShown = false
  /** why conversations cannot be stored or read: a message, or the name of an error without one */
  failure = $state('')
  /** resolves when the last conversation of this tab, or else of the file, is shown */
  readonly ready: Promise<void>

  private base: Contents | undefined
  /** what could not be saved: this page keeps it, and each save tries it again */
  private readonly unsaved = new Map<string, ConversationUpdate>()
  private queue: Promise<unknown> = Promise.resolve()
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly key: string
  private readonly stopWatching: () => void

  /** `firstDraft`: what the field contains in a new conversation */
  constructor(
    readonly place: string,
    readonly conversation: Conversation,
    private readonly firstDraft: string,
  ) {
    this.key = `conversation.${place}`
    this.draft = firstDraft
    this.stopWatching = watchConversations((id) => void this.follow(id))
    this.ready = this.start()
  }

  close() {
    this.stopWatching()
    this.flush()
  }

  private async start() {
    const tab = this.readTab()
    if (tab) {
      this.id = tab.id
      this.draft = tab.draft
      this.conversation.system = tab.system
    }
    await this.attempt(async () => {
      await this.takeOverOldRecord()
      await this.refresh()
      const id = tab?.id ?? this.list[0]?.id
      const stored = id === undefined ? undefined : await storedConversation(id)
      if (!stored || this.conversation.turns.length > 0) return
      const typed = this.draft
      this.show(stored)
      if (tab || typed !== this.firstDraft) this.draft = typed
    })
  }

  /** Earlier versions stored one conversation of a file, in local storage. */
  private async takeOverOldRecord() {
    const old = storage.get(this.key)
    if (old === undefined) return
    let saved: SavedConversation | undefined
    try {
      saved = this.conversation.check(JSON.parse(old))
    } catch {
      // The text was edited by hand.
    }
    if (saved?.turns.length) await this.put(newId(), saved)
    storage.remove(this.key)
  }

  /** The system message is here for a conversation without turns, which is not stored. */
  private readTab(): { id: string; draft: string; system: string } | undefined {
    const { id, draft, system = '' } = tabStorage.record(this.key)
    const isText = [id, draft, system].every((one) => typeof one === 'string')
    return isText ? { id: id as string, draft: draft as string, system: system as string } : undefined
  }

  private async refresh() {
    this.list = this.withUnsaved(await conversationsOf(this.place))
  }

  private withUnsaved(list: readonly Heading[]): Heading[] {
    const ours = [...this.unsaved.values()].map(({ ours }) => headingOf(ours))
    return [...ours, ...list.filter(({ id }) => !this.unsaved.has(id))]
  }

  private show({ id, title, saved, draft, attached }: StoredConversation) {
    this.conversation.restore(saved)
    this.shown++
    this.id = id
    this.title = title
    this.draft = draft
    this.attached = attached
    this.base = this.contents()
  }

  private contents(): Contents {
    const { title, draft, attached } = this
    return { title, draft, attached, saved: this.conversation.save() }
  }

  /** Stores what the user types, at once for this tab, and a little later for all. To be called in an effect. */
  keepDraft() {
    const { id, draft, title, attached } = this
    const { system, tools } = this.conversation
    tabStorage.set(this.key, JSON.stringify({ id, draft, system }))
    const { base } = this
    const isNew =
      draft === this.firstDraft && attached.length === 0 && !title && !system && !tools && base === undefined
    const isSame =
      base &&
      [draft, title, attached, system, tools].every(
        (one, i) =>
          one === [base.draft, base.title, base.attached, base.saved.system, base.saved.tools ?? ''][i],
      )
    if (isNew || isSame) return
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.flush(), saveAfterMs)
    // A picture is not in the tab's own storage, which is small.
    if (attached.length > 0 && attached !== base?.attached) this.flush()
  }

  /** Saves what is not saved yet. */
  private flush() {
    if (this.timer === undefined) return
    void this.save()
  }

  /** Saves the shown conversation. Never rejects: `failure` says why it could not be saved. */
  save(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    const own = new Set(this.conversation.own)
    const ours: StoredConversation = { id: this.id, place: this.place, ...this.contents() }
    const { base } = this
    const isEmpty = ours.saved.turns.length === 0 && !ours.draft && ours.attached.length === 0
    const isNew = isEmpty && !ours.title && !base
    if (isNew && this.unsaved.size === 0) return Promise.resolve()
    return this.attempt(async () => {
      if (!isNew) this.unsaved.set(ours.id, { ours, base, own })
      const failures: Error[] = []
      for (const [id, update] of this.unsaved) {
        try {
          const merged = await saveConversation(update)
          this.unsaved.delete(id)
          if (this.id === id) this.adopt(merged, update.ours)
        } catch (error) {
          failures.push(error as Error)
        }
      }
      await this.refresh()
      for (const failure of failures) throw failure
    })
  }

  /** Takes over what another tab has written, unless this tab has changed it too. A draft is each tab's own. */
  private adopt(stored: StoredConversation, before: Contents) {
    if (this.title === before.title) this.title = stored.title
    this.conversation.merge(stored.saved, before.saved)
    this.base = { ...stored, draft: before.draft, attached: before.attached }
  }

  /** Another tab has changed a conversation. */
  private async follow(id: string) {
    await this.attempt(async () => {
      await this.refresh()
      const stored = id === this.id ? await storedConversation(id) : undefined
      if (stored && id === this.id) this.adopt(stored, this.base ?? this.contents())
    })
  }

  /** Works one after the other, so that none reads what another is about to write. */
  private attempt(work: () => Promise<void>): Promise<void> {
    const done = this.queue.then(work).then(
      () => {
        if (this.unsaved.size === 0) this.failure = ''
      },
      (error: unknown) => {
        // A browser's error of a full storage may have no message, or one about a disk.
        const { name, message } = error as Error
        this.failure = name === kFull ? name : message || name
        this.list = this.withUnsaved(this.list)
      },
    )
    this.queue = done
    return done
  }

  private async put(id: string, saved: SavedConversation, more: Partial<Contents> = {}) {
    const ours = { id, place: this.place, title: '', draft: '', attached: [], ...more, saved }
    await saveConversation({ ours, base: undefined, own: new Set(saved.turns.map((turn) => turn.id)) })
  }

  async open(id: string) {
    await this.save()
    await this.attempt(async () => {
      const kept = this.unsaved.get(id)
      const stored = kept?.ours ?? (await storedConversation(id))
      if (!stored) return await this.refresh()
      this.show(stored)
      if (!kept) return
      this.base = kept.base
      for (const turn of kept.own) this.conversation.own.add(turn)
    })
  }

  /** Shows a new conversation, with the system message of the one before, which stays in the list. */
  begin() {
    void this.save()
    const { system } = this.conversation
    this.clear()
    this.conversation.system = system
  }

  private clear() {
    this.conversation.clear()
    this.id = newId()
    this.title = ''
    this.draft = this.firstDraft
    this.attached = []
    this.base = undefined
  }

  /** Shows an exported conversation as a new one. Throws an Error if it is none. */
  async bring(exported: unknown) {
    const saved = this.conversation.check(exported)
    this.begin()
    this.conversation.restore(saved)
    if (saved.turns.length > 0) await this.save()
  }

  async rename(id: string, title: string) {
    if (id === this.id) {
      this.title = title
      return await this.save()
    }
    const kept = this.unsaved.get(id)
    if (kept) {
      kept.ours.title = title
      return await this.save()
    }
    await this.attempt(async () => {
      const stored = await storedConversation(id)
      if (stored) await saveConversation({ ours: { ...stored, title }, base: stored, own: new Set() })
      await this.refresh()
    })
  }

  async remove(id: string) {
    const isShown = id === this.id
    if (isShown) await this.save()
    await this.attempt(async () => {
      this.removed = this.unsaved.get(id)?.ours ?? (await storedConversation(id))
      await removeConversation(id)
      this.unsaved.delete(id)
      this.wasShown = isShown
      if (id === this.id) this.clear()
      await this.refresh()
    })
    // There may be room now.
    if (this.unsaved.size > 0) await this.save()
  }

  /** Brings back the conversation that was deleted last, also to where it was shown, unless another one began there. */
  async undoRemove() {
    const { removed } = this
    if (!removed) return
    await this.attempt(async () => {
      await this.put(removed.id, removed.saved, removed)
      this.removed = undefined
      await this.refresh()
    })
    if (this.wasShown && this.conversation.turns.length === 0) await this.open(removed.id)
  }

  /** count of those with a message that was sent; the list has drafts, too */
  get sent(): number {
    return this.list.filter(({ messages }) => messages > 0).length
  }

  /** of the conversation that is shown; undefined: it is not in the list */
  get heading(): Heading | undefined {
    return this.list.find(({ id }) => id === this.id)
  }

  /** The exported form of a conversation of the list. */
  async exported(id: string): Promise<SavedConversation | undefined> {
    if (id === this.id) return this.conversation.save()
    return (this.unsaved.get(id)?.ours ?? (await storedConversation(id)))?.saved
  }

  /** The headings of those that contain the text. */
  async search(text: string): Promise<readonly Heading[]> {
    const { list } = this
    const found = await searchConversations(list, text)
    return list.filter(({ id }) => found.has(id))
  }
}
