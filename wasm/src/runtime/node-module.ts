/** Whether this is Node, or what acts as it; else a browser. */
export const isNode = (): boolean => typeof process !== 'undefined' && Boolean(process.versions?.node)

/** A module of Node's own. */
export async function nodeModule<T>(name: string): Promise<T> {
  const { importNamed } = await import('./import-named.js')
  return await importNamed<T>(name)
}
