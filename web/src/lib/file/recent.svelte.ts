// Recently opened files: names, addresses and a short description, in local storage.
import { forgetPreviews } from '../hub/kept'
import { storage } from '../page/storage'

export interface Recent {
  name: string
  /** Absent for a local file, because a page cannot open it again by itself. */
  url?: string
}

const limit = 8

function stored(): Recent[] {
  return Object.values(storage.record('recent')).flatMap((item) => {
    if (typeof item !== 'object' || item === null || !('name' in item) || typeof item.name !== 'string')
      return []
    return 'url' in item && typeof item.url === 'string'
      ? { name: item.name, url: item.url }
      : { name: item.name }
  })
}

class RecentFiles {
  list = $state<Recent[]>(stored())

  add(entry: Recent) {
    const others = this.list.filter((item) => item.name !== entry.name || item.url !== entry.url)
    this.save([entry, ...others].slice(0, limit))
  }

  clear() {
    this.save([])
    forgetPreviews().catch(() => {}) // if there is no storage
  }

  private save(list: Recent[]) {
    this.list = list
    storage.set('recent', JSON.stringify(list))
  }
}

export const recent = new RecentFiles()
