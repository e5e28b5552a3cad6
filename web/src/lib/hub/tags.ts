// The user's tags of kept models, in local storage: addresses of models, and the text of their tags.
import { storage } from '../page/storage'

const key = 'tags'

export function tagsOf(address: string): string {
  const all = storage.record(key)
  const tags = Object.hasOwn(all, address) ? all[address] : undefined
  return typeof tags === 'string' ? tags : ''
}

/** Sets the tags; an empty text removes them. */
export function tag(address: string, tags: string) {
  const others = Object.entries(storage.record(key)).filter(([one]) => one !== address)
  const text = tags.trim()
  storage.set(key, JSON.stringify(Object.fromEntries(text ? [...others, [address, text]] : others)))
}
