/** Whether this is Node, or what acts as it; else a browser. */
export const isNode = (): boolean => typeof process !== 'undefined' && Boolean(process.versions?.node)

/** A module of Node's own. By a name that is no literal at the import: bundlers for the web must not look for it. */
export async function nodeModule<T>(name: string): Promise<T> {
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as T
}
