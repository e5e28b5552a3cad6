// The accepted forms of audio, and what is passed to the worker of each: a file, or channels of samples.
import type { Bytes, Floats } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import type { EncodedFile } from '../media/data-address.js'
import { fileRecord, type Passed } from '../media/image-input.js'
import { isNode } from '../runtime/node-module.js'
import type { AudioBufferLike, AudioInput } from './types.js'
import { isWav, kMaxRate, kMinRate, readWavHeader } from './wav.js'

const kRate = 16000

/** Audio for the worker. */
export type SoundRecord =
  | { readonly bytes: Bytes }
  | { readonly channels: readonly Floats[]; readonly sampleRate: number }

function channelsRecord(channels: readonly Float32Array[], sampleRate: unknown): Passed<SoundRecord> {
  const [first] = channels
  if (!first || channels.some((one) => !(one instanceof Float32Array) || one.length !== first.length))
    throw new GgufError(
      'invalid-argument',
      'Audio must have one Float32Array for each channel, all of the same length.',
    )
  if (!Number.isInteger(sampleRate) || (sampleRate as number) < kMinRate || (sampleRate as number) > kMaxRate)
    throw new GgufError(
      'invalid-argument',
      `sampleRate must be a whole number from ${kMinRate} to ${kMaxRate}, not ${String(sampleRate)}.`,
    )
  const copies = channels.map((channel) => new Float32Array(channel))
  return {
    record: { channels: copies, sampleRate: sampleRate as number },
    transfer: copies.map(({ buffer }) => buffer),
  }
}

/** Decodes a file with the browser's decoder, which exists only in pages. Undefined if there is none. */
async function decodedByBrowser(bytes: Bytes): Promise<Passed<SoundRecord> | undefined> {
  if (typeof OfflineAudioContext !== 'function') return undefined
  let buffer: AudioBuffer
  try {
    buffer = await new OfflineAudioContext(1, 1, kRate).decodeAudioData(bytes.slice().buffer)
  } catch {
    throw new GgufError('invalid-argument', 'This audio cannot be decoded.')
  }
  return channelsRecord(channelsOf(buffer), Math.round(buffer.sampleRate))
}

const channelsOf = (buffer: AudioBufferLike): Float32Array[] =>
  Array.from({ length: buffer.numberOfChannels }, (_, i) => buffer.getChannelData(i))

async function decodedElsewhere(bytes: Bytes): Promise<Passed<SoundRecord> | undefined> {
  if (!isNode()) return await decodedByBrowser(bytes)
  const { decodedByPackage } = await import('./package-decoder.js')
  const decoded = await decodedByPackage(bytes)
  return decoded && channelsRecord(decoded.channelData, decoded.sampleRate)
}

/** A file for the worker, or decoded by others: in a browser by the page's decoder, in Node by an optional package. */
async function soundFileRecord(bytes: Bytes): Promise<Passed<SoundRecord>> {
  if (bytes.length === 0) throw new GgufError('invalid-argument', 'This audio has no bytes.')
  if (isWav(bytes)) {
    try {
      readWavHeader(bytes)
    } catch (error) {
      // Others may know the format.
      const isOther = error instanceof GgufError && error.code === 'unsupported'
      const decoded = isOther ? await decodedElsewhere(bytes).catch(() => undefined) : undefined
      if (decoded) return decoded
      throw error
    }
    return { record: { bytes }, transfer: [bytes.buffer] }
  }
  const decoded = await decodedElsewhere(bytes)
  if (decoded) return decoded
  throw new GgufError(
    'unsupported',
    'Only WAV files can be decoded here: in Node, install the package audio-decode, or decode other files to { samples, sampleRate } first.',
  )
}

/** Decodes base64 and escapes, which the worker does. */
type DecodeFile = (file: EncodedFile) => Promise<Bytes>

/** Errors: 'invalid-argument' for other values and for files that the page cannot decode; those of decodeFile. */
export async function soundRecord(audio: AudioInput, decodeFile: DecodeFile): Promise<Passed<SoundRecord>> {
  if (audio instanceof Float32Array) return channelsRecord([audio], kRate)
  const file = await fileRecord(audio, 'Audio')
  if (file) {
    const bytes = 'bytes' in file.record ? file.record.bytes : await decodeFile(file.record)
    return await soundFileRecord(bytes)
  }
  if (typeof audio === 'object' && audio !== null) {
    if ('samples' in audio) {
      const { samples, sampleRate } = audio
      return channelsRecord(
        Array.isArray(samples) ? (samples as Float32Array[]) : [samples as Float32Array],
        sampleRate,
      )
    }
    if ('getChannelData' in audio) return channelsRecord(channelsOf(audio), Math.round(audio.sampleRate))
  }
  throw new GgufError(
    'invalid-argument',
    'Audio must be a Float32Array at 16 kHz, { samples, sampleRate }, an AudioBuffer, or a file, such as WAV: its bytes, a Blob, { base64 } or a data: address.',
  )
}
