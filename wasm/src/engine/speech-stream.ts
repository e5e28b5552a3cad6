// Speaks a text in the worker, and yields its samples as they arrive.
import { GgufError } from '../api/errors.js'
import type { SpeakOptions, SpokenPart, SpokenResult } from '../audio/speak-types.js'
import { isProfile, profileLines } from '../audio/voice-profile.js'
import { passSound } from './media-calls.js'
import type { EngineCalls } from './model-engine.js'
import { PieceQueue } from './piece-queue.js'

/** Leaving the loop early ends the speech. */
export async function* speechStream(
  engine: EngineCalls,
  sequence: number,
  text: string,
  { voice, language = '', temperature = -1, seed, signal }: SpeakOptions,
): AsyncGenerator<SpokenPart, SpokenResult, void> {
  signal?.throwIfAborted()
  if (!engine.info.abilities.includes('speak'))
    throw new GgufError(
      'unsupported',
      "This model cannot speak: that needs a model for speech and its projector, such as Pocket TTS's or Qwen3-TTS's, or OuteTTS with WavTokenizer's decoder.",
    )
  const control = new AbortController()
  const stop = () => control.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  const queue = new PieceQueue<SpokenPart>()
  try {
    const profile = isProfile(voice) ? profileLines(voice) : ''
    const sound =
      voice === undefined || isProfile(voice) ? undefined : await passSound(engine, voice, control.signal)
    const random = seed ?? Math.floor(Math.random() * 2 ** 32)
    const record = sound?.record
    const call = { sequence, text, voice: record, profile, language, temperature, seed: random >>> 0 }
    const spoken = engine
      .call('speak', call, {
        signal: control.signal,
        transfer: sound?.transfer ?? [],
        onStart: (setPause) => (queue.setPause = setPause),
        onSpoken: (part) => queue.push([part]),
      })
      .finally(() => queue.end())
    spoken.catch(() => {}) // awaited below, unless the caller leaves the loop
    for (let part = await queue.next(signal); part; part = await queue.next(signal)) yield part
    return await spoken
  } finally {
    if (!queue.ended) control.abort()
    signal?.removeEventListener('abort', stop)
  }
}
