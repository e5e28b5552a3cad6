// The part of the engine's worker for images and audio that a text model reads: decodes and encodes them.
import type { Bytes } from '../api/arrays.js'
import { decodeSound } from '../audio/decode-sound.js'
import type { SoundRecord } from '../audio/sound-input.js'
import { decodeFile } from '../media/data-address.js'
import { decodeImage } from '../media/decode-image.js'
import type { ImageRecord } from '../media/image-input.js'
import { checkedBytes, pixelsOfBytes, type Pixels } from '../media/rgb.js'
import { bytesOf, check, type EngineHeap } from './heap.js'
import type { WasmEngine } from './classes.js'
import type { Pauses } from './speech-worker.js'

/** Images whose tokens are kept. */
const kMaxKnown = 256

export interface EncodingCalls extends Pauses {
  readonly step: (done: number, of: number) => void
}

/** Computes layers of an encoder on another device; see GpuModel.runLayers. */
type RunLayers = (step: () => Promise<boolean>) => Promise<boolean>

export interface ImageCall {
  readonly image: ImageRecord
  /** images before it */
  readonly number: number
  /** of the file from which the page decoded it */
  readonly digest?: string | undefined
}

/** The tokens that represent a medium; or a file for which the worker has no decoder. */
export type EncodedTokens =
  | { readonly tokens: Int32Array; readonly warning?: string | undefined }
  | { readonly undecoded: Bytes; readonly digest: string | undefined }

/** SHA-256. Undefined where there is none: in pages of http addresses. */
async function digestOf(data: ArrayBufferView, kind: string): Promise<string | undefined> {
  const hash = await globalThis.crypto?.subtle?.digest('SHA-256', bytesOf(data) as Bytes)
  return hash && `${kind} ${new Uint32Array(hash).join(' ')}`
}

function bytesOfPixels(data: ArrayBufferView & ArrayLike<number>): Bytes {
  return data instanceof Uint8Array || data instanceof Uint8ClampedArray
    ? (bytesOf(data) as Bytes)
    : checkedBytes(data)
}

export class MediaWorker {
  readonly #heap: EngineHeap
  readonly #engine: WasmEngine
  readonly #runLayers: RunLayers | undefined
  /** tokens of images by their digests: a conversation repeats its images at every turn */
  readonly #known = new Map<string, Int32Array>()

  constructor(heap: EngineHeap, engine: WasmEngine, runLayers?: RunLayers) {
    this.#heap = heap
    this.#engine = engine
    this.#runLayers = runLayers
  }

  async encodeImage({ image, number, digest }: ImageCall, calls: EncodingCalls): Promise<EncodedTokens> {
    if ('data' in image) {
      const { width, height, data } = image
      const own = digest ?? (await digestOf(data, `${width} x ${height}`))
      return await this.#encode(own, number, () => pixelsOfBytes(width, height, bytesOfPixels(data)), calls)
    }
    const bytes = 'bytes' in image ? image.bytes : decodeFile(image)
    const own = await digestOf(bytes, 'file')
    const known = this.#tokensOf(own, number)
    if (known) return { tokens: known }
    const pixels = await decodeImage(bytes)
    return pixels ? await this.#encode(own, number, () => pixels, calls) : { undecoded: bytes, digest: own }
  }

  async encodeAudio(record: SoundRecord, calls: EncodingCalls): Promise<EncodedTokens> {
    const { samples, sampleRate, warning } = decodeSound(record)
    this.#put(samples)
    check(this.#engine.beginAudio(samples.length, sampleRate), this.#engine)
    return { tokens: await this.#run(calls), warning }
  }

  /** The tokens of an image that need not be encoded again. */
  #tokensOf(digest: string | undefined, number: number): Int32Array | undefined {
    const tokens = this.#known.get(`${digest} ${number}`)
    if (!tokens) return undefined
    this.#put(tokens)
    return this.#engine.holdsMedia(tokens.length) ? tokens : undefined
  }

  async #encode(
    digest: string | undefined,
    number: number,
    pixelsOf: () => Pixels,
    calls: EncodingCalls,
  ): Promise<EncodedTokens> {
    const known = this.#tokensOf(digest, number)
    if (known) return { tokens: known }
    const { width, height, rgb } = pixelsOf()
    this.#put(rgb)
    check(this.#engine.beginImage(width, height, number), this.#engine)
    const tokens = await this.#run(calls)
    if (digest !== undefined && !calls.cancelled()) {
      if (this.#known.size >= kMaxKnown) this.#known.delete(this.#known.keys().next().value!)
      this.#known.set(`${digest} ${number}`, tokens)
    }
    return { tokens }
  }

  /** After an abort, the run is abandoned; the engine starts the next one from the beginning. */
  async #run({ cancelled, pause, step }: EncodingCalls): Promise<Int32Array> {
    const engine = this.#engine
    const of = engine.mediaSteps()
    let done = 0
    const stepped = async (): Promise<boolean> => {
      if (done < of) step(++done, of)
      await pause()
      return !cancelled()
    }
    while (engine.moreMedia() && !cancelled()) {
      if (await this.#runLayers?.(stepped)) continue
      check(engine.stepMedia(), engine)
      await stepped()
    }
    return this.#heap.integers(engine.mediaTokens())
  }

  #put(bytes: ArrayBufferView): void {
    this.#heap.put(bytesOf(bytes), this.#engine)
  }
}
