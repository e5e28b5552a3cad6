// Conversations in this browser's database: a record each. Tabs merge what they save, and tell one another of it.
import type { Attachment } from './attachments'
import { pathOf, type SavedConversation, type Turn } from './conversation.svelte'

/** What the list shows of a conversation. */
export interface Heading {
  id: string
  /** the file: its address, or the name of a local one */
  place: string
  /** the user's title, or the beginning of the first message */
  title: string
  /** the beginning of the last answer. Earlier versions stored none. */
  answer?: string | undefined
  /** when it was last changed, in milliseconds since 1970 */
  changed: number
  /** questions and answers of the branch that is shown */
  messages: number
}

/** A conversation with what is not sent yet. */
export interface Contents {
  /** the user's title; empty: none */
  title: string
  saved: SavedConversation
  /** the message that is being written, and its images and audio */
  draft: string
  attached: readonly Attachment[]
}

export interface StoredConversation extends Contents {
  id: string
  place: string
}

/** A change of this tab. */
export interface ConversationUpdate {
  ours: StoredConversation
  /** the contents that this tab has read or saved last */
  base: Contents | undefined
  /** the turns that this tab has written. Of the others, the stored ones are newer. */
  own: ReadonlySet<number>
}

const headings = 'headings'
const contents = 'contents'

let opened: Promise<IDBDatabase> | undefined

function database(): Promise<IDBDatabase> {
  opened ??= new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('ggufscope-conversations', 1)
    request.onupgradeneeded = () => {
      request.result.createObjectStore(headings, { keyPath: 'id' }).createIndex('place', 'place')
      request.result.createObjectStore(contents, { keyPath: 'id' })
    }
    request.onsuccess = () => {
      const { result } = request
      // Browsers close it when a site's data are cleared. The next call opens it again.
      result.onclose = () => (opened = undefined)
      // Another tab removes it, or has a newer version of the viewer, whose database has another form.
      result.onversionchange = () => {
        result.close()
        opened = undefined
      }
      resolve(result)
    }
    request.onerror = () => reject(request.error ?? new DOMException('', 'UnknownError'))
  })
  // The next call tries again.
  opened.catch(() => (opened = undefined))
  return opened
}

const result = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new DOMException('', 'UnknownError'))
  })

async function reading(store: string): Promise<IDBObjectStore> {
  return (await database()).transaction(store).objectStore(store)
}

/** Writes to both stores, all or nothing. */
async function write(change: (heads: IDBObjectStore, bodies: IDBObjectStore) => void): Promise<void> {
  const transaction = (await database()).transaction([headings, contents], 'readwrite')
  const done = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(transaction.error ?? new DOMException('', 'AbortError'))
  })
  change(transaction.objectStore(headings), transaction.objectStore(contents))
  await done
}

/** The conversations of a file, the newest first. */
export async function conversationsOf(place: string): Promise<Heading[]> {
  const index = (await reading(headings)).index('place')
  const all = await result(index.getAll(place) as IDBRequest<Heading[]>)
  return all.sort((a, b) => b.changed - a.changed)
}

export async function storedConversation(id: string): Promise<StoredConversation | undefined> {
  const store = await reading(contents)
  return await result(store.get(id) as IDBRequest<StoredConversation | undefined>)
}

/** What is entered in a form. It is in no list. */
export async function storedForm(id: string): Promise<unknown> {
  return await result((await reading(contents)).get(id) as IDBRequest<unknown>)
}

/** The form of the tab that is saved last stays. */
export async function saveForm(entry: { readonly id: string }): Promise<void> {
  await write((_, bodies) => void bodies.put(entry))
}

/** Merges this tab's conversation into the stored one. Returns the merged one. */
export async function saveConversation(update: ConversationUpdate): Promise<StoredConversation> {
  let merged = update.ours
  await write((heads, bodies) => {
    const request = bodies.get(update.ours.id) as IDBRequest<StoredConversation | undefined>
    request.onsuccess = () => {
      merged = request.result ? mergeConversations(request.result, update) : update.ours
      heads.put(headingOf(merged))
      bodies.put(merged)
    }
  })
  announce(update.ours.id)
  return merged
}

export async function removeConversation(id: string): Promise<void> {
  await write((heads, bodies) => {
    heads.delete(id)
    bodies.delete(id)
  })
  announce(id)
}

/** The ids of those that contain a text, in any case, in their title or in a turn. */
export async function searchConversations(list: readonly Heading[], text: string): Promise<Set<string>> {
  const sought = text.toLowerCase()
  const contains = (one: string | undefined) => one?.toLowerCase().includes(sought) ?? false
  const found = new Set<string>()
  for (const { id, title } of list) {
    const { saved, draft } = (contains(title) ? undefined : await storedConversation(id)) ?? {}
    const inTurn = ({ text, reasoning }: Turn) => contains(text) || contains(reasoning)
    if (contains(title) || contains(draft) || saved?.turns.some(inTurn)) found.add(id)
  }
  return found
}

export function headingOf({ id, place, title, saved, draft }: StoredConversation): Heading {
  const path = pathOf(saved.turns, Object.fromEntries(saved.chosen))
  const messages = path.filter(({ role }) => role !== 'tool').length
  const first = title || saved.turns.find(({ role }) => role === 'user')?.text || draft
  const answer = path.findLast(({ role, text }) => role === 'assistant' && text.trim() !== '')?.text
  return {
    id,
    place,
    title: first.trim().slice(0, 200),
    answer: answer?.trim().slice(0, 200),
    changed: Date.now(),
    messages,
  }
}

/** Every turn of both stays. Of the rest, what this tab has changed since it last read or saved it. */
function mergeConversations(
  stored: StoredConversation,
  { ours, base, own }: ConversationUpdate,
): StoredConversation {
  const pick = <T>(mine: T, before: T | undefined, theirs: T) => (mine === before ? theirs : mine)
  const turns = new Map(stored.saved.turns.map((turn) => [turn.id, turn]))
  for (const turn of ours.saved.turns) if (own.has(turn.id) || !turns.has(turn.id)) turns.set(turn.id, turn)
  const from = pick(ours.saved.from, base?.saved.from, stored.saved.from)
  const tools = pick(ours.saved.tools, base?.saved.tools, stored.saved.tools)
  return {
    id: ours.id,
    place: ours.place,
    title: pick(ours.title, base?.title, stored.title),
    draft: pick(ours.draft, base?.draft, stored.draft),
    attached: pick(ours.attached, base?.attached, stored.attached),
    saved: {
      format: 'ggufscope-conversation',
      version: 1,
      system: pick(ours.saved.system, base?.saved.system, stored.saved.system),
      ...(tools && { tools }),
      turns: [...turns.values()].sort((a, b) => a.id - b.id),
      ...(from !== undefined && { from }),
      chosen: [...new Map([...stored.saved.chosen, ...ours.saved.chosen])],
    },
  }
}

const channel =
  typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('ggufscope.conversations')

function announce(id: string) {
  channel?.postMessage(id)
}

/** Calls `changed` with the id of each conversation that another tab has changed. Returns a function that ends this. */
export function watchConversations(changed: (id: string) => void): () => void {
  const listen = ({ data }: MessageEvent<unknown>) => typeof data === 'string' && changed(data)
  channel?.addEventListener('message', listen)
  return () => channel?.removeEventListener('message', listen)
}
