// Long texts are tokenized in another thread, so that the server answers other requests meanwhile; schemas whose
// conversion takes long become grammars there. Others are not worth the way there. The thread starts when it is first
// needed, because it has a vocabulary of its own.
import { Worker } from 'node:worker_threads'
import { GgufError } from '../../api/errors.js'
import { openFile } from '../../edit/open-file.js'
import type { GgufFile } from '../../node.js'
import { textCalls, type TextCalls } from './text-calls.js'
import { errorOf, type TextAnswer, type TextCall, type TextHeader } from './text-protocol.js'

// Characters that this thread encodes in about 10 ms.
const kLong = 50_000
// Steps of a schema's conversion that take about as long.
const kFewSteps = 50_000

/** The number of characters and numbers in a value, which has no cycle. It counts no further than kLong. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Int32Array) return value.length
  if (typeof value !== 'object' || value === null) return 1
  if (Array.isArray(value) && value.length >= kLong) return value.length
  let size = 0
  for (const one of Object.values(value)) {
    size += 1 + sizeOf(one)
    if (size >= kLong) break
  }
  return size
}

/** Whether a call may have failed here only because a schema takes more than a few steps. */
const mayTakeLonger = (name: keyof TextCalls, error: unknown): boolean =>
  (name === 'grammar' || name === 'reply') && error instanceof GgufError && error.code === 'unsupported'

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

export class TextThread {
  readonly #file: GgufFile
  readonly #here: TextCalls
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0

  constructor(file: GgufFile) {
    this.#file = file
    this.#here = textCalls(file, kFewSteps)
  }

  /** Calls one of the functions of text-calls.ts. Its errors are the same in both threads. */
  async call<Name extends keyof TextCalls>(
    name: Name,
    ...args: Parameters<TextCalls[Name]>
  ): Promise<Awaited<ReturnType<TextCalls[Name]>>> {
    type Result = Awaited<ReturnType<TextCalls[Name]>>
    const here = this.#here[name] as (...args: readonly unknown[]) => Promise<unknown>
    if (sizeOf(args) < kLong)
      try {
        return (await here(...args)) as Result
      } catch (error) {
        if (!mayTakeLonger(name, error)) throw error
      }
    const worker = (this.#worker ??= this.#start())
    const id = ++this.#lastId
    return await new Promise<Result>((resolve, reject) => {
      this.#waiting.set(id, { resolve: (value) => resolve(value as Result), reject })
      worker.ref()
      worker.postMessage({ id, name, args } satisfies TextCall)
    })
  }

  close(): void {
    void this.#worker?.terminate()
  }

  #start(): Worker {
    const { header, source } = openFile(this.#file).parts[0]!
    const workerData: TextHeader = { header: header.bytes(), size: source.size! }
    const worker = new Worker(new URL('./text-worker.js', import.meta.url), { workerData })
    worker.on('message', (answer: TextAnswer) => {
      const waiting = this.#waiting.get(answer.id)
      this.#waiting.delete(answer.id)
      if (this.#waiting.size === 0) worker.unref()
      if ('error' in answer) waiting?.reject(errorOf(answer.error))
      else waiting?.resolve(answer.value)
    })
    const end = (reason: string): void => {
      this.#worker = undefined // the next call starts another one
      for (const { reject } of this.#waiting.values()) reject(new GgufError('wasm', reason))
      this.#waiting.clear()
    }
    worker.on('error', (error: Error) => end(`The thread for texts failed: ${error.message}.`))
    worker.on('exit', () => end('The thread for texts ended.'))
    worker.unref()
    return worker
  }
}
