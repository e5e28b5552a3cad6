// Decodes audio files to samples.
import { GgufError } from '../api/errors.js'
import type { AudioInput } from './types.js'
import { decodeWav, isWav, type Sound } from './wav.js'

const kRate = 16000

function mean(channels: readonly Float32Array[], sampleRate: number): Sound {
  const [first] = channels
  if (!first || channels.some((one) => !(one instanceof Float32Array) || one.length !== first.length))
    throw new GgufError(
      'invalid-argument',
      'Audio must have one Float32Array for each channel, all of the same length.',
    )
  const samples = new Float32Array(first)
  for (const channel of channels.slice(1)) for (let i = 0; i < samples.length; i++) samples[i]! += channel[i]!
  if (channels.length > 1) for (let i = 0; i < samples.length; i++) samples[i]! /= channels.length
  return { samples, sampleRate }
}

function checkRate(rate: unknown): number {
  if (!Number.isInteger(rate) || (rate as number) < 1 || (rate as number) > 768000)
    throw new GgufError(
      'invalid-argument',
      `sampleRate must be a whole number from 1 to 768000, not ${String(rate)}.`,
    )
  return rate as number
}

/** What is used of the package audio-decode. */
interface AudioDecode {
  default: (bytes: Uint8Array) => Promise<{ channelData: Float32Array[]; sampleRate: number }>
}

/** Decodes a file with the package audio-decode, if Node has it. */
async function decodedByPackage(bytes: Uint8Array<ArrayBuffer>): Promise<Sound | undefined> {
  const { optionalPackage } = await import('../runtime/optional-package.js')
  const decode = (await optionalPackage<AudioDecode>('audio-decode'))?.default
  if (!decode) return undefined
  try {
    const { channelData, sampleRate } = await decode(bytes)
    return mean(channelData, checkRate(sampleRate))
  } catch (error) {
    throw new GgufError('invalid-argument', `This audio cannot be decoded: ${(error as Error).message}`)
  }
}

/**
 * Decodes a file: WAV in this package, other formats with the browser's decoder, which exists only in pages, not in
 * workers, or in Node with an optional package.
 */
async function decoded(bytes: Uint8Array<ArrayBuffer>): Promise<Sound> {
  if (isWav(bytes)) return decodeWav(bytes)
  if (bytes.length === 0) throw new GgufError('invalid-argument', 'This audio has no bytes.')
  if (typeof OfflineAudioContext !== 'function') {
    const sound = await decodedByPackage(bytes)
    if (sound) return sound
    throw new GgufError(
      'unsupported',
      'Only WAV files can be decoded here: in Node, install the package audio-decode, or decode other files to { samples, sampleRate } first.',
    )
  }
  let buffer: AudioBuffer
  try {
    buffer = await new OfflineAudioContext(1, 1, kRate).decodeAudioData(bytes.slice().buffer)
  } catch {
    throw new GgufError('invalid-argument', 'This audio cannot be decoded.')
  }
  return await soundOf(buffer)
}

/**
 * Returns a copy of the samples, mixed to one channel. Errors: those of decodeWav; 'invalid-argument' for other values.
 */
export async function soundOf(audio: AudioInput): Promise<Sound> {
  if (audio instanceof Float32Array) return mean([audio], kRate)
  if (audio instanceof Uint8Array) return await decoded(new Uint8Array(audio))
  if (audio instanceof ArrayBuffer) return await decoded(new Uint8Array(audio))
  if (typeof Blob !== 'undefined' && audio instanceof Blob)
    return await decoded(new Uint8Array(await audio.arrayBuffer()))
  if (typeof audio === 'object' && audio !== null) {
    if ('samples' in audio) {
      const { samples } = audio
      const channels = Array.isArray(samples) ? (samples as Float32Array[]) : [samples as Float32Array]
      return mean(channels, checkRate(audio.sampleRate))
    }
    if ('getChannelData' in audio) {
      const buffer = audio
      const channels = Array.from({ length: buffer.numberOfChannels }, (_, i) => buffer.getChannelData(i))
      return mean(channels, checkRate(Math.round(buffer.sampleRate)))
    }
  }
  throw new GgufError(
    'invalid-argument',
    'Audio must be a Float32Array at 16 kHz, { samples, sampleRate }, an AudioBuffer, or the bytes of a WAV file or of another file that the browser decodes.',
  )
}
