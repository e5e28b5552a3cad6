// Access to local storage, which may be full, forbidden, or edited by hand.
const prefix = 'ggufscope.'

export const storage = {
  get(key: string): string | undefined {
    try {
      return localStorage.getItem(prefix + key) ?? undefined
    } catch {
      return undefined
    }
  },
  set(key: string, value: string) {
    try {
      localStorage.setItem(prefix + key, value)
    } catch {
      // The viewer also works without stored values.
    }
  },
}
