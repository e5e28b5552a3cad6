// Images and audio of a text model, from the caller's thread: they are decoded and encoded in the worker.
import { GgufError } from '../api/errors.js'
import { soundRecord, type SoundRecord } from '../audio/sound-input.js'
import type { AudioInput } from '../audio/types.js'
import { imageRecord, type Passed } from '../media/image-input.js'
import { checkReads } from './abilities.js'
import type { Caller } from './client.js'
import type { EncodedTokens } from './media-worker.js'
import type { EncodeMediaOptions, MediaPart, ModelInfo } from './types.js'

export interface MediaTokens {
  readonly tokens: readonly number[]
  readonly warnings: readonly string[]
}

/** Audio for the worker, which decodes base64 and escapes. */
export async function passSound(
  client: Caller,
  audio: AudioInput,
  signal: AbortSignal | undefined,
): Promise<Passed<SoundRecord>> {
  const passed = await soundRecord(audio, (file) => client.call('decodeFile', file, { signal }))
  signal?.throwIfAborted()
  return passed
}

/** The ids that represent an image or audio, and those before and after it. */
export async function mediaTokens(
  client: Caller,
  info: ModelInfo,
  part: MediaPart,
  { signal, onProgress, imagesBefore: number = 0 }: EncodeMediaOptions,
): Promise<MediaTokens> {
  signal?.throwIfAborted()
  const onSteps = (done: number, total: number) => onProgress?.({ done, total })
  const tokensOf = (encoded: EncodedTokens): MediaTokens => {
    if ('undecoded' in encoded) throw new GgufError('unsupported', 'This medium cannot be decoded.')
    const { tokens, warning } = encoded
    return { tokens: [...tokens], warnings: warning === undefined ? [] : [warning] }
  }
  if (part?.type === 'audio') {
    checkReads(info, 'audio')
    const { record, transfer } = await passSound(client, part.audio, signal)
    return tokensOf(await client.call('encodeAudio', record, { signal, transfer, onSteps }))
  }
  if (part?.type !== 'image')
    throw new GgufError(
      'invalid-argument',
      "What is encoded is { type: 'image', image } or { type: 'audio', audio }.",
    )
  checkReads(info, 'image')
  const { record, transfer } = await imageRecord(part.image)
  const encoded = await client.call('encodeImage', { image: record, number }, { signal, transfer, onSteps })
  if (!('undecoded' in encoded)) return tokensOf(encoded)
  const { decodedBySharp } = await import('../media/sharp.js')
  const decoded = await imageRecord(await decodedBySharp(encoded.undecoded))
  const call = { image: decoded.record, number, digest: encoded.digest }
  return tokensOf(await client.call('encodeImage', call, { signal, transfer: decoded.transfer, onSteps }))
}
