// Decodes audio in the engine's worker: WAV files, and channels, which are averaged.
import type { Floats } from '../api/arrays.js'
import type { SoundRecord } from './sound-input.js'
import { decodeWav, type Sound } from './wav.js'

/** Errors: those of decodeWav. */
export function decodeSound(record: SoundRecord): Sound {
  if ('bytes' in record) return decodeWav(record.bytes)
  const { channels, sampleRate } = record
  const [first, ...others] = channels
  const samples = first as Floats
  for (const channel of others) for (let i = 0; i < samples.length; i++) samples[i]! += channel[i]!
  if (others.length > 0) for (let i = 0; i < samples.length; i++) samples[i]! /= channels.length
  return { samples, sampleRate }
}
