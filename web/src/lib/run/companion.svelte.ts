// A file that a model is loaded with: a projector or a draft model. Its header is read when it is chosen; its weights come with
// those of the model.
import { open, type GgufFile, type OpenProgress, type Source } from 'ggufscope'
import { absolute } from '../file/address'
import { keptSource } from '../hub/kept'
import { errorText } from '../language/error-text'

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
  /** where it can be fetched, and so kept; undefined: it is a file of this computer, or the open model itself */
  address = $state<string>()
  headers: Record<string, string> | undefined
  /** resolves when the file that was chosen last is in use or refused */
  settled: Promise<void> = Promise.resolve()

  /** the file from the server, which may still be in use when the kept one takes its place */
  private former: GgufFile | undefined
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

  /** What is wrong with a file. It does not reject. */
  protected fault(_file: GgufFile, _name: string): Promise<string | undefined> {
    return Promise.resolve(undefined)
  }

  use(source: Source | readonly Source[], name: string, headers?: Record<string, string>): Promise<void> {
    return (this.settled = this.open(source, name, headers))
  }

  private async open(source: Source | readonly Source[], name: string, headers?: Record<string, string>) {
    this.drop()
    this.opening = true
    const { signal } = this
    try {
      const onProgress = (progress: OpenProgress) => void (signal.aborted || (this.progress = progress))
      const from = await keptSource(source)
      const file = await open(from, { preview: 'full', signal, headers, onProgress })
      const fault = signal.aborted ? undefined : await this.fault(file, name)
      if (signal.aborted || fault !== undefined) file.close()
      if (fault !== undefined) throw new Error(fault)
      if (signal.aborted) return
      this.address = typeof source === 'string' ? absolute(source) : undefined
      this.headers = headers
      this.host = typeof source === 'string' && from === source ? hostOf(source) : undefined
      this.file = file
      this.name = name
    } catch (error) {
      if (!signal.aborted) this.failure = errorText(error)
    } finally {
      if (!signal.aborted) this.opening = false
    }
  }

  /** Reads what this browser keeps instead of the server, once that is complete. */
  async readKept() {
    const { address, host, file, signal } = this
    if (address === undefined || host === undefined || file === undefined) return
    const from = await keptSource(address)
    if (from === address) return
    const kept = await open(from, { preview: 'full', signal })
    if (signal.aborted || this.file !== file) return kept.close()
    this.former = file
    this.file = kept
    this.host = undefined
  }

  /** Opens it again from its server, after what was kept of it is removed. */
  async readServer() {
    const { address, host, name, headers } = this
    if (address !== undefined && host === undefined) await this.use(address, name, headers)
  }

  /** Takes no file, and ends the reading of one. */
  drop() {
    this.control.abort()
    this.control = new AbortController()
    if (this.closes()) this.file?.close()
    this.former?.close()
    this.former = undefined
    this.file = undefined
    this.address = undefined
    this.host = undefined
    this.progress = undefined
    this.name = ''
    this.failure = ''
    this.opening = false
  }
}
