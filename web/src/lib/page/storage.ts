// Access to the browser's storage of texts, which may be full, forbidden, or edited by hand.
const prefix = 'ggufscope.'

const textsIn = (area: () => Storage) => ({
  get(key: string): string | undefined {
    try {
      return area().getItem(prefix + key) ?? undefined
    } catch {
      return undefined
    }
  },
  set(key: string, value: string) {
    try {
      area().setItem(prefix + key, value)
    } catch {
      // The viewer also works without stored values.
    }
  },
  remove(key: string) {
    try {
      area().removeItem(prefix + key)
    } catch {
      // As above.
    }
  },
})

/** for all tabs */
export const storage = textsIn(() => localStorage)

/** for this tab alone: it survives a reload */
export const tabStorage = textsIn(() => sessionStorage)
