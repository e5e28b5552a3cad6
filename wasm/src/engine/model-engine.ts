// The engine of a loaded model. If its graphics card fails, the model moves to the CPU, and calls continue there.
import { callBack } from '../api/callbacks.js'
import { GgufError, quoted } from '../api/errors.js'
import type { Caller, CallOptions, CallResult, Client } from './client.js'
import { reasonToMove } from './engine-error.js'
import type {
  GenerateCall,
  GenerateStatistics,
  ReachedWindow,
  TranscribeCall,
  TranscriptionProgress,
} from './protocol.js'
import type { DeviceReport, LoadOptions, ModelInfo, Piece } from './types.js'
import type { Handlers } from './worker.js'

/** An engine that was started, and what it says about the model. */
export interface StartedEngine {
  readonly client: Client
  readonly info: ModelInfo
}

/** How a model moves from the graphics card to the CPU. */
export interface Move {
  readonly toCpu: (reason: string) => Promise<StartedEngine>
  /** also for what only the CPU can do */
  readonly always: boolean
  readonly onDevice: LoadOptions['onDevice']
  /** The model has encoded images and audio, which move with it. */
  readonly media: boolean
}

/** What a model's methods need of its engine. */
export type EngineCalls = Pick<ModelEngine, 'info' | 'call' | 'generate' | 'end'>

export class ModelEngine implements Caller {
  #started: StartedEngine
  #move: Move | undefined
  #moving: Promise<void> | undefined
  #ended = false

  constructor(started: StartedEngine, move: Move | undefined) {
    this.#started = started
    this.#move = move
  }

  get info(): ModelInfo {
    return this.#started.info
  }

  async call<Name extends keyof Handlers>(
    name: Name,
    argument: Parameters<Handlers[Name]>[0],
    options?: CallOptions,
  ): Promise<CallResult<Name>> {
    const { client } = this.#started
    let reached: ReachedWindow | undefined
    const onHeard = ({ progress, ...next }: TranscriptionProgress): void => {
      reached = { ...next, segments: [...(reached?.segments ?? []), ...next.segments] }
      options?.onHeard?.({ progress, ...next })
    }
    // What is transferred is gone, and this call may have to be made again.
    const kept = this.#move && options ? { ...options, transfer: [], onHeard } : options
    try {
      return await client.call(name, argument, kept)
    } catch (error) {
      await this.#moveAfter(client, error, options?.signal)
      // A transcription goes on where it was.
      const rest = reached ? { ...(argument as TranscribeCall), reached } : argument
      return await this.#started.client.call(name, rest, options)
    }
  }

  /** A call of generate(). After a move, the CPU continues the answer where the graphics card stopped. */
  async generate(call: GenerateCall, options: CallOptions): Promise<GenerateStatistics> {
    const { client } = this.#started
    const answered: number[] = [...call.answered]
    const onPieces = (pieces: readonly Piece[]): void => {
      for (const { token } of pieces) if (token >= 0) answered.push(token)
      options.onPieces?.(pieces)
    }
    try {
      return await this.#continue(client, call, { ...options, onPieces })
    } catch (error) {
      await this.#moveAfter(client, error, options.signal)
      const rest = { ...call, answered: Int32Array.from(answered) }
      return await this.#continue(this.#started.client, rest, options)
    }
  }

  /** Continues an answer after the tokens of `answered`. */
  async #continue(client: Client, call: GenerateCall, options: CallOptions): Promise<GenerateStatistics> {
    const { answered, tokens } = call
    const isFull = tokens.length + answered.length > this.info.contextLength
    if (answered.length === 0 || !isFull) return await client.call('generate', call, options)
    // The last token, which has no place in the context, comes again, and then the answer's end.
    let isAgain = true
    const onPieces = (pieces: readonly Piece[]): void => {
      const news = isAgain ? pieces.slice(1) : pieces
      isAgain = false
      if (news.length > 0) options.onPieces?.(news)
    }
    return await client.call(
      'generate',
      { ...call, answered: answered.subarray(0, -1) },
      { ...options, onPieces },
    )
  }

  end(): void {
    this.#ended = true
    this.#started.client.end()
  }

  /** Moves the model if the error is one of its graphics card; otherwise throws it. */
  async #moveAfter(client: Client, error: unknown, signal: AbortSignal | undefined): Promise<void> {
    const { code } = error as { code?: unknown }
    const isCpuOnly = code === 'cpu-only'
    const failed = isCpuOnly || code === 'device-lost' || code === 'crashed'
    if (!failed || this.#ended || signal?.aborted) throw error
    // Otherwise another call that failed has moved the model.
    if (this.#started.client === client) {
      const move = this.#move
      if (isCpuOnly && !move?.always) throw new GgufError('unsupported', (error as Error).message)
      if (!move) throw error
      await (this.#moving ??= this.#moveNow(move, error as Error))
    }
    signal?.throwIfAborted()
  }

  async #moveNow(move: Move, cause: Error): Promise<void> {
    const old = this.#started.client
    // They are in the memory of the worker, which has lost only its card. A worker that crashed has none.
    const media = move.media ? await old.call('saveEncoded', undefined).catch(() => undefined) : undefined
    // Waiting calls continue on the CPU, too.
    old.end(new GgufError('device-lost', cause.message))
    let started: StartedEngine
    try {
      started = await move.toCpu(reasonToMove(cause))
      if (media) await started.client.call('loadEncoded', media, { transfer: [media.buffer] })
    } catch (error) {
      throw new GgufError(
        'device-lost',
        `${quoted(cause)}. The model cannot continue on the CPU: ${quoted(error)}.`,
        { cause: error },
      )
    }
    if (this.#ended) {
      started.client.end()
      throw new GgufError('closed', 'This model was closed.')
    }
    this.#started = started
    this.#move = undefined
    const { device, deviceReason, adapter }: DeviceReport = started.info
    await callBack(move.onDevice, { device, deviceReason, adapter })
  }
}
