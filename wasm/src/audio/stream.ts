// Transcription of a stream of samples, such as a microphone's. The samples since the last final segment are kept and
// transcribed again whenever more have arrived. A segment is final when another one or a pause follows it.
import { checkArgument, checkOptions, integer, isIterable, modelWith, number } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { SpeechModel } from '../engine/types.js'
import { kTranscribeChecks } from './records.js'
import type { TranscribeOptions, TranscriptSegment, TranscriptWord } from './types.js'

export interface TranscribeStreamOptions extends Omit<
  TranscribeOptions,
  'offset' | 'duration' | 'timestamps' | 'keepContext' | 'onSegment' | 'onProgress'
> {
  /** Sample rate of the blocks. Default: 16000. */
  sampleRate?: number | undefined
  /** Seconds of new audio after which it is transcribed again. Default: 1. */
  interval?: number | undefined
  /** Seconds of audio after the last segment that make it final. Default: 1. */
  pause?: number | undefined
  /** Longest audio without a final segment, in seconds; then all that was heard is final. Default: 25. */
  limit?: number | undefined
}

export interface TranscriptUpdate {
  /** segments that became final with this update; times in seconds from the beginning of the stream */
  readonly final: readonly TranscriptSegment[]
  /** segments after them, which may still change */
  readonly partial: readonly TranscriptSegment[]
  /** seconds of audio that have arrived */
  readonly duration: number
}

const kPromptLength = 200 // characters of final text before the audio that is transcribed

const kFixed = new Set(['offset', 'duration', 'timestamps', 'keepContext', 'onSegment', 'onProgress'])
const kChecks = {
  ...Object.fromEntries(Object.entries(kTranscribeChecks).filter(([name]) => !kFixed.has(name))),
  sampleRate: integer(1, 768000),
  interval: number(0.1, 60),
  pause: number(0, 60),
  limit: number(2, 3600),
}

/** Collects the blocks of a stream while earlier ones are transcribed. */
class Blocks {
  #blocks: Float32Array[] = []
  #ended = false
  #stopped = false
  #error: Error | undefined
  #wake = (): void => {}
  /** number of samples that have arrived in all */
  arrived = 0

  constructor(blocks: AsyncIterable<Float32Array> | Iterable<Float32Array>) {
    void this.#collect(blocks)
  }

  async #collect(blocks: AsyncIterable<Float32Array> | Iterable<Float32Array>): Promise<void> {
    try {
      for await (const block of blocks) {
        if (!(block instanceof Float32Array))
          throw new GgufError('invalid-argument', 'A block of the stream is not a Float32Array.')
        if (this.#stopped) return
        this.#blocks.push(block.slice()) // a worklet reuses its block
        this.arrived += block.length
        this.#wake()
      }
    } catch (error) {
      this.#error = error instanceof Error ? error : new Error(String(error))
    }
    this.#ended = true
    this.#wake()
  }

  /** Ends the stream that gives the blocks. */
  stop(): void {
    this.#stopped = true
  }

  /** Waits until that many samples have arrived or the stream ends. Returns whether it goes on. */
  async until(arrived: number, signal: AbortSignal | undefined): Promise<boolean> {
    const stop = (): void => this.#wake()
    signal?.addEventListener('abort', stop)
    while (!this.#ended && this.arrived < arrived && !signal?.aborted)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    signal?.removeEventListener('abort', stop)
    signal?.throwIfAborted()
    if (this.#error) throw this.#error
    return !this.#ended
  }

  /** The samples that are kept. */
  joined(): Float32Array {
    const all = new Float32Array(this.#blocks.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const block of this.#blocks) {
      all.set(block, at)
      at += block.length
    }
    this.#blocks = [all]
    return all
  }

  /** Forgets the first samples. */
  drop(n: number): void {
    this.#blocks = [this.joined().slice(n)]
  }
}

function moved(segment: TranscriptSegment, by: number): TranscriptSegment {
  const move = <T extends { start?: number | undefined; end?: number | undefined }>(one: T): T =>
    one.start === undefined ? one : { ...one, start: one.start + by, end: one.end! + by }
  return {
    ...move(segment),
    seek: segment.seek + by,
    tokens: segment.tokens.map(move),
    words: segment.words?.map((word: TranscriptWord) => move(word)),
  }
}

/** How many of the segments are final, if the audio has that many seconds. */
function countFinal(segments: readonly TranscriptSegment[], seconds: number, pause: number): number {
  const last = segments.at(-1)
  if (!last) return 0
  return last.end + pause <= seconds ? segments.length : segments.length - 1
}

/**
 * Transcribes a stream of samples while it arrives: mono blocks of any length, from -1 to 1. Yields an update after
 * each transcription. Breaking the loop ends the stream after its next block. Errors: those of transcribe(), and those of the stream.
 */
export async function* transcribeStream(
  model: Pick<SpeechModel, 'transcribe'>,
  blocks: AsyncIterable<Float32Array> | Iterable<Float32Array>,
  options: TranscribeStreamOptions = {},
): AsyncGenerator<TranscriptUpdate, void, void> {
  checkOptions('transcribeStream()', options, kChecks)
  checkArgument('transcribeStream()', 'model', model, modelWith('transcribe'))
  checkArgument('transcribeStream()', 'stream', blocks, isIterable)
  const { sampleRate = 16000, interval = 1, pause = 1, limit = 25, prompt = '', ...rest } = options
  const stream = new Blocks(blocks)
  try {
    yield* updatesOf(
      stream,
      async (samples, told) =>
        (await model.transcribe({ samples, sampleRate }, { ...rest, prompt: told })).segments,
      { sampleRate, interval, pause, limit, prompt, signal: options.signal },
    )
  } finally {
    stream.stop()
  }
}

interface Settings {
  readonly sampleRate: number
  readonly interval: number
  readonly pause: number
  readonly limit: number
  readonly prompt: string
  readonly signal: AbortSignal | undefined
}

async function* updatesOf(
  stream: Blocks,
  hear: (samples: Float32Array, told: string) => Promise<readonly TranscriptSegment[]>,
  { sampleRate, interval, pause, limit, prompt, signal }: Settings,
): AsyncGenerator<TranscriptUpdate, void, void> {
  let begin = 0 // of the kept samples, in samples
  let told = prompt
  for (let more = true, heard = 0; more;) {
    more = await stream.until(heard + interval * sampleRate, signal)
    heard = stream.arrived
    const samples = stream.joined()
    const seconds = samples.length / sampleRate
    const segments = await hear(samples, told)
    const all = !more || seconds >= limit
    const n = all ? segments.length : countFinal(segments, seconds, pause)
    const by = begin / sampleRate
    const update = segments.map((segment) => moved(segment, by))
    const final = update.slice(0, n)
    // Of audio without any text, a second is kept: a word may have begun.
    const done = n > 0 ? segments[n - 1]!.end : segments.length === 0 ? seconds - 1 : 0
    const dropped = Math.max(0, Math.min(samples.length, Math.floor(done * sampleRate)))
    stream.drop(dropped)
    begin += dropped
    told = `${told}${final.map(({ text }) => text).join('')}`.slice(-kPromptLength)
    yield { final, partial: update.slice(n), duration: heard / sampleRate }
  }
}
