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
  /** What was stored as JSON; empty if there is nothing, or no object. */
  record(key: string): Record<string, unknown> {
    try {
      const value: unknown = JSON.parse(this.get(key) ?? '{}')
      return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
    } catch {
      return {}
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
