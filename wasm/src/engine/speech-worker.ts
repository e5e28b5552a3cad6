// The part of the engine's worker for Whisper models. It transcribes one audio at a time.
import { decodeSound } from '../audio/decode-sound.js'
import type { SpeechRecord } from '../audio/records.js'
import type { SoundRecord } from '../audio/sound-input.js'
import type { Sound } from '../audio/wav.js'
import type { Transcription, TranscriptSegment, TranscriptToken, TranscriptWord } from '../audio/types.js'
import { EngineError } from './engine-error.js'
import { bytesOf, check, type EngineHeap } from './heap.js'
import type { GpuSpeech } from '../gpu/gpu-speech.js'
import type { WasmSpeech, WasmSpeechType } from './classes.js'
import type { EngineModule } from './module.js'
import type {
  DevicePlan,
  PlanDeviceCall,
  ReachedWindow,
  TranscribeCall,
  TranscriptionProgress,
} from './protocol.js'

const kRate = 16000
const kChunkSeconds = 10
const kChunk = kChunkSeconds * kRate
/** More than the resampling filter reaches to each side, in samples of the lower rate. */
const kReach = 40
const kNumbers = 5 // numbers for each token in segmentTokens
const decoder = new TextDecoder()

/** Between two chunks of work: lets messages arrive, such as an abort. */
export interface Pauses {
  readonly cancelled: () => boolean
  readonly pause: () => Promise<void>
}
interface Hearing extends Pauses {
  readonly tell: (heard: TranscriptionProgress) => void
}

/** The result of a cancelled call, for which nobody waits. */
const nothing = (): Float32Array => new Float32Array(0)

/** Error: 'out-of-memory'. */
function floatsOf(count: number): Float32Array<ArrayBuffer> {
  try {
    return new Float32Array(count)
  } catch {
    throw new EngineError('out-of-memory', `No memory for audio of ${Math.round(count / kRate)} s.`)
  }
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

export class SpeechWorker {
  readonly #heap: EngineHeap
  readonly #speech: WasmSpeech
  readonly #defaults: SpeechRecord
  readonly #languages: readonly string[]
  /** the audio for evaluate() is encoded */
  #encoded = false
  #device: GpuSpeech | undefined

  constructor(heap: EngineHeap, speech: WasmSpeech, type: WasmSpeechType) {
    this.#heap = heap
    this.#speech = speech
    this.#defaults = type.defaultOptions()
    this.#languages = type.languageCodes().split(' ')
  }

  get device(): GpuSpeech | undefined {
    return this.#device
  }

  /** The opened model will run on a GPU. */
  async planDevice(
    call: PlanDeviceCall,
    open: typeof GpuSpeech.open,
    module: EngineModule,
  ): Promise<DevicePlan> {
    this.#device = await open(call, { module, heap: this.#heap, speech: this.#speech })
    return this.#device.facts
  }

  async transcribe(
    { sound: given, record, words, reached }: TranscribeCall,
    hearing: Hearing,
  ): Promise<Transcription> {
    const speech = this.#speech
    const sound = decodeSound(given)
    this.#encoded = false
    const all: TranscriptSegment[] = [...(reached?.segments ?? [])]
    let told = -1
    let more = await this.#hear(sound, reached ? { ...record, language: reached.language } : record, hearing)
    if (more && reached) {
      this.#put(reached.context)
      this.#check(speech.resumeAudio(reached.seek, reached.context.length))
    }
    while (more) {
      more = await this.#step(hearing)
      const segments = this.#segments(all.length - (reached?.segments.length ?? 0), words)
      all.push(...segments)
      const progress = speech.progress()
      if (segments.length > 0 || progress !== told) hearing.tell({ segments, progress, ...this.#reached() })
      told = progress
    }
    const probabilities = reached?.languageProbabilities ?? this.#heap.floats(speech.languageProbabilities())
    return {
      text: all
        .map(({ text }) => text)
        .join('')
        .trim(),
      language: speech.language(),
      languageName: speech.languageName(),
      languageProbabilities:
        probabilities.length === 0
          ? undefined
          : Object.fromEntries(this.#languages.map((code, i) => [code, probabilities[i]!])),
      duration: sound.samples.length / sound.sampleRate,
      warnings: sound.warning === undefined ? [] : [sound.warning],
      segments: all,
    }
  }

  async encode(sound: SoundRecord, audioContext: number, pauses: Pauses): Promise<Float32Array> {
    this.#encoded = false
    if (!(await this.#hear(decodeSound(sound), {}, pauses))) return nothing()
    this.#check(this.#speech.beginEncode(audioContext))
    while (await this.#step(pauses));
    if (pauses.cancelled()) return nothing()
    this.#encoded = true
    return this.#heap.floats(this.#speech.encoded())
  }

  async evaluate(tokens: Int32Array, sound: SoundRecord | undefined, pauses: Pauses): Promise<Float32Array> {
    if (sound) await this.encode(sound, 0, pauses)
    else if (!this.#encoded)
      throw new EngineError(
        'invalid-argument',
        'A Whisper model needs audio to evaluate tokens: pass the option audio.',
      )
    if (pauses.cancelled()) return nothing()
    this.#put(tokens)
    this.#check(this.#speech.beginEvaluate(tokens.length))
    while (await this.#step(pauses));
    return pauses.cancelled() ? nothing() : this.#heap.floats(this.#speech.logits())
  }

  async logMel(sound: SoundRecord, frames: number, pauses: Pauses): Promise<Float32Array> {
    this.#encoded = false
    if (!(await this.#hear(decodeSound(sound), {}, pauses))) return nothing()
    this.#check(this.#speech.spectrogram(frames))
    return this.#takeFloats()
  }

  tokenize(text: string): number[] {
    const bytes = new TextEncoder().encode(text)
    this.#put(bytes)
    return [...this.#heap.integers(this.#speech.tokenize(bytes.length))]
  }

  /** Passes the samples to the engine in chunks, to limit the memory. Returns false if the call was cancelled. */
  async #hear(given: Sound, record: SpeechRecord, pauses: Pauses): Promise<boolean> {
    const sound = given.sampleRate === kRate ? given.samples : await this.#resampled(given, pauses)
    if (pauses.cancelled()) return false
    const passed = Object.entries(record).filter(([, value]) => value !== undefined)
    const options = { ...this.#defaults, ...Object.fromEntries(passed) }
    this.#check(this.#speech.beginAudio(options, sound.length))
    for (let at = 0; at < sound.length; at += kChunk) {
      const chunk = sound.subarray(at, at + kChunk)
      this.#put(chunk)
      this.#check(this.#speech.addSamples(chunk.length))
      await pauses.pause()
      if (pauses.cancelled()) return false
    }
    return true
  }

  /** Resamples chunks that overlap. The result is that of one chunk. */
  async #resampled({ samples, sampleRate }: Sound, pauses: Pauses): Promise<Float32Array> {
    const common = divisor(sampleRate, kRate)
    // So many samples become a whole number of samples.
    const [step, becomes] = [sampleRate / common, kRate / common]
    const length = step * Math.ceil((kChunkSeconds * sampleRate) / step)
    const margin = step * Math.ceil((kReach * Math.max(1, sampleRate / kRate)) / step)
    const out = floatsOf(Math.ceil((samples.length * becomes) / step))
    for (let at = 0; at < samples.length; at += length) {
      const first = Math.max(0, at - margin)
      const chunk = samples.subarray(first, at + length + margin)
      this.#put(chunk)
      this.#check(this.#speech.resample(chunk.length, sampleRate))
      const skipped = ((at - first) / step) * becomes
      const end = skipped + (length / step) * becomes
      out.set(this.#takeFloats().subarray(skipped, end), (at / step) * becomes)
      await pauses.pause()
      if (pauses.cancelled()) break
    }
    return out
  }

  /** Computes the next step, on the device if it is one of its. Returns false if all is done, or the call was cancelled. */
  async #step({ pause, cancelled }: Pauses): Promise<boolean> {
    const onDevice = await this.#device?.run(async () => {
      await pause()
      return !cancelled()
    })
    const more = onDevice ? 1 : this.#speech.step()
    this.#check(more >= 0)
    await pause()
    return more === 1 && !cancelled()
  }

  /** Where another engine would go on. */
  #reached(): Omit<ReachedWindow, 'segments'> {
    const speech = this.#speech
    const languageProbabilities = this.#heap.floats(speech.languageProbabilities())
    const context = this.#heap.integers(speech.context())
    return { seek: speech.seek(), context, language: speech.language(), languageProbabilities }
  }

  #segments(from: number, words: boolean): TranscriptSegment[] {
    const speech = this.#speech
    const segments: TranscriptSegment[] = []
    for (let i = from; i < speech.segmentCount(); i++) {
      const { begin, end, seek, noSpeech, meanLogProbability, temperature } = speech.segment(i)
      const tokens = this.#tokens(i, words)
      segments.push({
        start: begin / 100,
        end: end / 100,
        text: decoder.decode(this.#heap.bytes(speech.segmentText(i))),
        tokens,
        words: words ? this.#words(tokens) : undefined,
        noSpeechProbability: noSpeech,
        meanLogprob: meanLogProbability,
        temperature,
        seek: seek / 100,
      })
    }
    return segments
  }

  #tokens(segment: number, words: boolean): TranscriptToken[] {
    const numbers = this.#heap.doubles(this.#speech.segmentTokens(segment))
    return Array.from({ length: numbers.length / kNumbers }, (_, i) => {
      const [id, probability, logprob, begin, end] = numbers.subarray(i * kNumbers, (i + 1) * kNumbers)
      const token = { id: id!, probability: probability!, logprob: logprob! }
      return words ? { ...token, start: begin! / 100, end: end! / 100 } : token
    })
  }

  /** Groups tokens into words. A word begins with a space or at the beginning; a code point may span several tokens. */
  #words(tokens: readonly TranscriptToken[]): TranscriptWord[] {
    const words: { bytes: number[]; start: number; end: number; probability: number }[] = []
    const { endOfText } = this.#speech.speechFacts()
    for (const { id, probability, start = 0, end = 0 } of tokens) {
      if (id >= endOfText) continue
      const bytes = this.#heap.bytes(this.#speech.tokenText(id))
      const last = words.at(-1)
      if (!last || bytes[0] === 0x20) words.push({ bytes: [...bytes], start, end, probability })
      else {
        last.bytes.push(...bytes)
        last.end = end
        last.probability = Math.min(last.probability, probability)
      }
    }
    return words.map(({ bytes, ...word }) => ({ word: decoder.decode(Uint8Array.from(bytes)), ...word }))
  }

  #check(done: boolean): void {
    check(done, this.#speech)
  }

  #put(bytes: ArrayBufferView): void {
    this.#heap.put(bytesOf(bytes), this.#speech)
  }

  #takeFloats(): Float32Array<ArrayBuffer> {
    const floats = this.#heap.floats(this.#speech.floats())
    this.#speech.freeFloats()
    return floats
  }
}
