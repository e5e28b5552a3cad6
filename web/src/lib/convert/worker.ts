// The worker that makes new files: it opens the file once more, plans what to write, and computes the bytes on demand.
import { GgufError, open, type GgufFile, type Source } from 'ggufscope'
import {
  applyChanges,
  parseImatrix,
  toNpy,
  toSafetensors,
  type ImportanceSource,
  type WrittenFile,
} from 'ggufscope/edit'
import { mixtures } from './choices'
import { bytesToRead } from '../save/save-file'
import type { FromWorker, Input, Output, Plan, Task, ToWorker } from './protocol'
import { writtenMixture } from './types'
import { errorText } from '../language/error-text'

type Answer = FromWorker extends infer One ? (One extends { id: number } ? Omit<One, 'id'> : never) : never
type Chunk = { bytes: Uint8Array; tensor: string | undefined }

/** Of Model-Q4_K_M: the new file is named after its own type alone. */
const kTypeAtEnd = new RegExp(`[-.](${mixtures.flatMap(({ names }) => names).join('|')})$`, 'i')

/** A file name for a tensor's name, which may contain any characters. */
const fileName = (name: string) => name.replace(/[^\w.-]+/g, '_').slice(0, 120)

interface Made {
  readonly name: string
  readonly file: WrittenFile
}

/** One plan: the opened files and the files to write. A new plan replaces it. */
class Job {
  private readonly control = new AbortController()
  private readonly opened: GgufFile[] = []
  private made: readonly Made[] = []
  private chunks: AsyncGenerator<Chunk> | undefined

  constructor(private readonly id: number) {}

  private post(answer: Answer) {
    if (!this.control.signal.aborted) postMessage({ id: this.id, ...answer })
  }

  private async openOne(source: Source | readonly Source[], headers?: Record<string, string>) {
    const file = await open(source, { headers, cache: true, signal: this.control.signal })
    this.opened.push(file)
    return file
  }

  private async openInput({ sources, headers, isKept }: Input): Promise<GgufFile> {
    if (isKept) {
      const { StoredSource } = await import('ggufscope/store')
      return await this.openOne(sources.map((one) => (typeof one === 'string' ? new StoredSource(one) : one)))
    }
    return await this.openOne(sources.length === 1 ? sources[0]! : sources, headers)
  }

  private async importanceIn(file: File | undefined): Promise<ImportanceSource | undefined> {
    if (!file) return undefined
    try {
      return await this.openOne(file)
    } catch (error) {
      if (!(error instanceof GgufError && error.code === 'bad-magic')) throw error
      return parseImatrix(new Uint8Array(await file.arrayBuffer()))
    }
  }

  async plan(input: Input, task: Task) {
    try {
      const file = await this.openInput(input)
      const plan = await this.planOf(file, input, task)
      this.post({ kind: 'plan', plan })
    } catch (error) {
      this.post({ kind: 'failed', message: errorText(error) })
    }
  }

  private async planOf(file: GgufFile, { name, changes }: Input, task: Task): Promise<Plan> {
    const { signal } = this.control
    const one = (made: WrittenFile, as: string): readonly Made[] => [{ name: as, file: made }]
    if (task.kind === 'npy') {
      this.made = await Promise.all(
        task.tensors.map(async (tensor) => ({
          name: `${fileName(tensor)}.npy`,
          file: await toNpy(file, tensor, { signal }),
        })),
      )
      return this.planned()
    }
    if (task.kind === 'safetensors') {
      const { tensors } = task
      this.made = one(await toSafetensors(file, { tensors, signal }), `${name}.safetensors`)
      return this.planned()
    }
    const builder = await file.edit()
    applyChanges(file, builder, changes)
    switch (task.kind) {
      case 'quantize':
        return await this.quantize(builder, task, name)
      case 'split': {
        const { maxBytes, maxTensors } = task
        const files = await builder.split(name, { maxBytes, maxTensors, signal })
        this.made = files.map((made) => ({ name: made.name ?? name, file: made }))
        return this.planned()
      }
      case 'gguf': {
        const { version, endianness } = task
        const made = await builder.removeSplit().build({ version, endianness, signal })
        this.made = one(made, `${name}-new.gguf`)
        return this.planned()
      }
      case 'adapter': {
        const adapter = await this.openOne(task.adapter)
        const merged = await builder.mergeAdapter(adapter, { scale: task.scale, signal })
        this.made = one(await builder.build({ signal }), `${name}-merged.gguf`)
        return { ...this.planned(), merged }
      }
    }
  }

  private async quantize(
    builder: Awaited<ReturnType<GgufFile['edit']>>,
    task: Extract<Task, { kind: 'quantize' }>,
    name: string,
  ): Promise<Plan> {
    const { signal } = this.control
    const { mixture, pure, allowRequantize } = task
    const importance = await this.importanceIn(task.importance)
    const options = { pure, allowRequantize, importance, importanceFile: task.importance?.name, signal }
    // The report also exists if the choice is refused, and says why.
    await builder.quantize(mixture, { ...options, dryRun: true })
    const quantized = builder.quantization
    const isRefused =
      quantized !== undefined &&
      (quantized.needsImportance.length > 0 || (!allowRequantize && quantized.requantized.length > 0))
    // Without a tensor of another type, there is nothing to write.
    if (!isRefused && quantized!.quantized > 0) {
      await builder.quantize(mixture, options)
      // llama.cpp keeps the name of what was asked for.
      const written = writtenMixture(quantized!)
      if (written.name !== mixture) builder.set('general.file_type', written.fileType, 'u32')
      const base = name.replace(kTypeAtEnd, '')
      this.made = [{ name: `${base}-${written.name}.gguf`, file: await builder.build({ signal }) }]
    }
    return { ...this.planned(), quantized }
  }

  private planned(): Plan {
    const outputs = this.made.map(({ name, file }): Output => {
      return { name, size: file.size, toRead: bytesToRead(file) }
    })
    return { outputs, quantized: undefined, merged: undefined }
  }

  async blob(output: number) {
    try {
      const blob = await this.made[output]!.file.blob({
        signal: this.control.signal,
        onProgress: ({ written, tensor }) => this.post({ kind: 'progress', progress: { written, tensor } }),
      })
      this.post({ kind: 'blob', blob })
    } catch (error) {
      this.post({ kind: 'failed', message: errorText(error) })
    }
  }

  private async *chunksOf(output: number): AsyncGenerator<Chunk> {
    let tensor: string | undefined
    const onProgress = (progress: { tensor: string | undefined }) => (tensor = progress.tensor)
    const { signal } = this.control
    for await (const bytes of this.made[output]!.file.chunks({ signal, onProgress })) yield { bytes, tensor }
  }

  async pull(output: number) {
    try {
      this.chunks ??= this.chunksOf(output)
      const next = await this.chunks.next()
      const chunk = next.done ? undefined : next.value
      if (!chunk) this.chunks = undefined
      // The bytes are copied, not transferred: the header is needed again when the file is saved again.
      this.post({ kind: 'chunk', bytes: chunk?.bytes, tensor: chunk?.tensor })
    } catch (error) {
      this.post({ kind: 'failed', message: errorText(error) })
    }
  }

  stop() {
    this.control.abort()
    for (const file of this.opened) file.close()
  }
}

let job: Job | undefined
let jobId = -1

onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'plan') {
    job?.stop()
    job = new Job(data.id)
    jobId = data.id
    void job.plan(data.input, data.task)
  } else if (data.id !== jobId) return
  else if (data.kind === 'blob') void job?.blob(data.output)
  else if (data.kind === 'pull') void job?.pull(data.output)
  else {
    job?.stop()
    job = undefined
  }
}
