// Sparse previews of all models of a repository at once: the header of each file shows its types and the memory it takes.
import { open, type GgufFile, type Summary } from 'ggufscope'
import type { HubVariant } from 'ggufscope/hub'
import { earlyAssets } from '../page/early'
import { SvelteMap } from 'svelte/reactivity'

/** Of more models than these, the others are listed without a preview. */
const max = 60

export interface Preview {
  readonly file: GgufFile
  readonly summary: Summary
}

export class Previews {
  /** the models whose headers are read, by name */
  readonly names: readonly string[]
  /** what was read, or why it could not be read */
  readonly found = new SvelteMap<string, Preview | Error>()
  private readonly control = new AbortController()

  constructor(variants: readonly HubVariant[], headers: Record<string, string> | undefined) {
    const { connection } = navigator as { connection?: { saveData?: boolean } }
    const models = variants
      .filter(({ kind, missing }) => kind === 'model' && missing === 0)
      .slice(0, connection?.saveData === true ? 1 : max)
    this.names = models.map(({ name }) => name)
    void this.readAll(models, headers)
  }

  /** What is known of the first model that could be read. */
  get first(): Summary | undefined {
    for (const one of this.found.values()) if (!(one instanceof Error)) return one.summary
    return undefined
  }

  get failure(): Error | undefined {
    const all = [...this.found.values()]
    return all.length === this.names.length ? all.find((one) => one instanceof Error) : undefined
  }

  close() {
    this.control.abort()
    for (const one of this.found.values()) if (!(one instanceof Error)) one.file.close()
  }

  private async readAll(models: readonly HubVariant[], headers: Record<string, string> | undefined) {
    const read = async ({ name, files }: HubVariant) => {
      const found = await this.read(
        files.map(({ url }) => url),
        headers,
      )
      if (found) this.found.set(name, found)
    }
    // They have the same vocabulary. From the first preview the package knows where the arrays of the others end.
    const [first, ...others] = models
    if (first) await read(first)
    await Promise.all(others.map(read))
  }

  private async read(urls: readonly string[], headers: Record<string, string> | undefined) {
    const { signal } = this.control
    try {
      const file = await open(urls, { ...earlyAssets(), preview: 'sparse', cache: true, headers, signal })
      if (!signal.aborted) return { file, summary: file.summary() }
      file.close()
    } catch (error) {
      if (!signal.aborted) return error instanceof Error ? error : new Error(String(error))
    }
    return undefined
  }
}
