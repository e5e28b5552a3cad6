// The methods of a loaded Whisper model.
import { withCallbacks } from '../api/callbacks.js'
import { checkEvaluateSpeech } from './options.js'
import { checkOptions, integer, kReadChecks } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { Tokenizer } from '../api/text.js'
import { speechRecord } from '../audio/records.js'
import type { AudioInput, TranscribeOptions, Transcription } from '../audio/types.js'
import { passSound } from './media-calls.js'
import type { EngineCalls } from './model-engine.js'
import type { ModelInfo, ProfiledOperation, SpeechModel } from './types.js'

/** A loaded Whisper model. */
export class WhisperModel implements SpeechModel {
  readonly file: GgufFile
  readonly #client: EngineCalls
  readonly #ownsFile: boolean
  #closed = false

  constructor(file: GgufFile, client: EngineCalls, ownsFile: boolean) {
    this.file = file
    this.#client = client
    this.#ownsFile = ownsFile
  }

  get info(): ModelInfo {
    return this.#client.info
  }

  get #open(): EngineCalls {
    if (this.#closed) throw new GgufError('closed', 'This model was closed.')
    return this.#client
  }

  async transcribe(audio: AudioInput, options: TranscribeOptions = {}): Promise<Transcription> {
    const client = this.#open
    return await withCallbacks(options, (all) => this.#transcribe(client, audio, all))
  }

  async #transcribe(
    client: EngineCalls,
    audio: AudioInput,
    options: TranscribeOptions,
  ): Promise<Transcription> {
    const record = speechRecord(options) // checks the options
    const { signal, onSegment, onProgress, words = false } = options
    signal?.throwIfAborted()
    const { record: sound, transfer } = await passSound(client, audio, signal)
    return await client.call(
      'transcribe',
      { sound, record, words },
      {
        signal,
        transfer,
        onHeard: ({ segments, progress }) => {
          if (signal?.aborted) return
          for (const segment of segments) onSegment?.(segment)
          onProgress?.(progress)
        },
      },
    )
  }

  async encode(
    audio: AudioInput,
    options: { audioContext?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<Float32Array> {
    checkOptions('encode()', options, { ...kReadChecks, audioContext: integer(0, 2 ** 31) })
    const { audioContext = 0, signal } = options
    const client = this.#open
    const { record, transfer } = await passSound(client, audio, signal)
    return await client.call('encodeSpeech', { sound: record, audioContext }, { signal, transfer })
  }

  async logMel(
    audio: AudioInput,
    options: { frames?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<Float32Array> {
    checkOptions('logMel()', options, { ...kReadChecks, frames: integer(0, 2 ** 31) })
    const { frames = 0, signal } = options
    const client = this.#open
    const { record, transfer } = await passSound(client, audio, signal)
    return await client.call('logMel', { sound: record, frames }, { signal, transfer })
  }

  async evaluate(
    tokens: readonly number[],
    options: { audio?: AudioInput | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<Float32Array> {
    checkEvaluateSpeech(tokens, options)
    const { audio, signal } = options
    const client = this.#open
    const ids = Int32Array.from(tokens)
    if (audio === undefined) return await client.call('evaluateSpeech', { tokens: ids }, { signal })
    const { record, transfer } = await passSound(client, audio, signal)
    return await client.call('evaluateSpeech', { tokens: ids, sound: record }, { signal, transfer })
  }

  async profile(): Promise<readonly ProfiledOperation[]> {
    return await this.#open.call('profile', undefined)
  }

  get tokenizer(): Tokenizer {
    return this.file.tokenizer()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#client.end()
    if (this.#ownsFile) this.file.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}
