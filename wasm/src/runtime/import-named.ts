/** A module by a name that is no literal at the import: bundlers for the web must not look for it. */
export async function importNamed<T>(name: string): Promise<T> {
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as T
}
