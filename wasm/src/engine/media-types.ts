// The types of images and audio in prompts.
import type { AudioInput } from '../audio/types.js'
import type { ImageInput } from '../media/image-input.js'

/** An image among tokens. */
export interface ImagePart {
  readonly type: 'image'
  readonly image: ImageInput
}

/** Audio among tokens. */
export interface AudioPart {
  readonly type: 'audio'
  readonly audio: AudioInput
}

export type MediaPart = ImagePart | AudioPart

export interface EncodeMediaOptions {
  signal?: AbortSignal | undefined
  /** Number of images before it in the prompt, which some models count. Default: 0. */
  imagesBefore?: number | undefined
  /** Called after each layer of the encoder, with the fraction of the image or audio that is done. */
  onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined
}

/** An image or audio, encoded by a projector. */
export interface EncodedMedia {
  /** The tokens that represent it in a prompt, including the tokens around it. Its own tokens have ids below -1. */
  readonly tokens: readonly number[]
  /** [number of its own tokens, floats that the model reads for one token] */
  readonly embeddings: Float32Array
  /**
   * [number of its own tokens, 3]: time, row and column, relative to the first token; without M-RoPE three equal
   * numbers.
   */
  readonly positions: Int32Array
  /** what an audio file lacks, such as samples that its header claims; otherwise empty */
  readonly warnings: readonly string[]
}
