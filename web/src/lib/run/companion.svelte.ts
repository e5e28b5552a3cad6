// A file that a model is loaded with: a projector or a draft model. Its header is read when it is chosen; its weights come with
// those of the model.
import { open, type GgufFile, type OpenProgress, type Source } from 'ggufscope'

const hostOf = (address: string) => new URL(address, document.baseURI).host

export const bytesOf = (tensors: GgufFile['tensors']) =>
  tensors.reduce((sum, { byteLength }) => sum + byteLength, 0)

export abstract class Companion {
  abstract readonly role: 'projector' | 'draft'
  /** open while it is in use */
  file = $state.raw<GgufFile>()
  name = $state('')
  failure = $state('')
  opening = $state(false)
  /** how far its header is read */
  progress = $state.raw<OpenProgress>()
  /** the server that its bytes come from; undefined: this computer */
  host = $state<string>()

  private control = new AbortController()

  /** ends when another file is taken, or none */
  protected get signal(): AbortSignal {
    return this.control.signal
  }

  /** bytes of weights that are read of it */
  get size(): number {
    return bytesOf(this.file?.tensors ?? [])
  }

  /** Bytes that come from a server when it is loaded. */
  get toFetch(): number {
    return this.host === undefined ? 0 : this.size
  }

  /** Whether the file is the user's own choice, which is closed when it is not needed. */
  protected closes(): boolean {
    return true
  }

  /** What is wrong with a file. */
  protected fault(_file: GgufFile, _name: string): string | undefined {
    return undefined
  }

  async use(source: Source | readonly Source[], name: string, headers?: Record<string, string>) {
    this.drop()
    this.opening = true
    const { signal } = this
    try {
      const onProgress = (progress: OpenProgress) => void (signal.aborted || (this.progress = progress))
      const file = await open(source, { preview: 'full', signal, headers, onProgress })
      const fault = signal.aborted ? undefined : this.fault(file, name)
      if (signal.aborted || fault !== undefined) file.close()
      if (fault !== undefined) throw new Error(fault)
      if (signal.aborted) return
      this.host = typeof source === 'string' ? hostOf(source) : undefined
      this.file = file
      this.name = name
    } catch (error) {
      if (!signal.aborted) this.failure = error instanceof Error ? error.message : String(error)
    } finally {
      if (!signal.aborted) this.opening = false
    }
  }

  /** Takes no file, and ends the reading of one. */
  drop() {
    this.control.abort()
    this.control = new AbortController()
    if (this.closes()) this.file?.close()
    this.file = undefined
    this.host = undefined
    this.progress = undefined
    this.name = ''
    this.failure = ''
    this.opening = false
  }
}
