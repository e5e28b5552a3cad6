// Writes samples as a WAV file.
import { checkArgument, integer, type Check } from '../api/checks.js'
import type { Bytes } from '../api/arrays.js'

const isFloats: Check = (value) => (value instanceof Float32Array ? undefined : 'a Float32Array')

/** Samples of one channel, from -1 to 1, as 16-bit PCM, little-endian. */
export function toPcm(samples: Float32Array): Bytes {
  const bytes = new Uint8Array(2 * samples.length)
  const view = new DataView(bytes.buffer)
  samples.forEach((sample, i) =>
    view.setInt16(2 * i, Math.round(Math.max(-1, Math.min(1, sample)) * 32767), true),
  )
  return bytes
}

/**
 * A WAV file of one channel with 16 bits a sample. samples: from -1 to 1; sampleRate: samples per second. Error:
 * 'invalid-argument' for other values.
 */
export function toWav(samples: Float32Array, sampleRate: number): Bytes {
  checkArgument('toWav()', 'samples', samples, isFloats)
  checkArgument('toWav()', 'sampleRate', sampleRate, integer(1, 2 ** 31))
  return joined([toPcm(samples)], sampleRate)
}

/** Parts of toPcm() as one file: WAV with a rate, otherwise as they are. */
export function joined(parts: readonly Bytes[], sampleRate?: number): Bytes {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const header = sampleRate === undefined ? new Uint8Array(0) : headerOf(length, sampleRate)
  const bytes = new Uint8Array(header.length + length)
  bytes.set(header)
  let at = header.length
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function headerOf(length: number, sampleRate: number): Bytes {
  const bytes = new Uint8Array(44)
  const view = new DataView(bytes.buffer)
  const text = (at: number, name: string): void => bytes.set(new TextEncoder().encode(name), at)
  text(0, 'RIFF')
  view.setUint32(4, 36 + length, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true) // PCM
  view.setUint16(22, 1, true) // channels
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, 2 * sampleRate, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  text(36, 'data')
  view.setUint32(40, length, true)
  return bytes
}
