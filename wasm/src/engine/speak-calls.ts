// Speaks a text, in the engine's worker, and posts its samples while it goes on.
import { decodeSound } from '../audio/decode-sound.js'
import type { SoundRecord } from '../audio/sound-input.js'
import type { SpokenPart, SpokenResult } from '../audio/speak-types.js'
import { EngineError } from './engine-error.js'
import { bytesOf, check, type EngineHeap } from './heap.js'
import type { WasmEngine, WasmSpeaker } from './classes.js'
import type { EngineModule } from './module.js'

export interface SpeakCall {
  readonly sequence: number
  readonly text: string
  readonly voice: SoundRecord | undefined
  /** of the voice, or its name; empty: none */
  readonly profile: string
  readonly language: string
  /** below 0: the model's */
  readonly temperature: number
  readonly speed: number
  readonly seed: number
}

interface SpeakHost {
  cancelled(): boolean
  post(part: SpokenPart): void
  /** Handles messages, and rests while the reader is behind. Returns the rest's time. */
  waitForReader(): Promise<number>
}

async function useVoice(
  heap: EngineHeap,
  speaker: WasmSpeaker,
  voice: SoundRecord | undefined,
  host: SpeakHost,
): Promise<string | undefined> {
  if (!voice) {
    check(speaker.setVoice(0), speaker)
    return undefined
  }
  const { samples, sampleRate, warning } = decodeSound(voice)
  heap.put(bytesOf(samples), speaker)
  check(speaker.beginVoice(samples.length, sampleRate), speaker)
  for (let more = 1; more === 1 && !host.cancelled();) {
    more = speaker.stepVoice()
    check(more >= 0, speaker)
    await host.waitForReader()
  }
  return warning
}

export async function speak(
  { module, heap, engine }: { module: EngineModule; heap: EngineHeap; engine: WasmEngine },
  { sequence, text, voice, profile, language, temperature, speed, seed }: SpeakCall,
  host: SpeakHost,
): Promise<SpokenResult> {
  check(engine.select(sequence), engine)
  const speaker = new module.Speaker(engine.session())
  const startedAt = performance.now()
  let [sampleCount, restedMs] = [0, 0]
  try {
    check(speaker.open(), speaker)
    const { rate: sampleRate, languages } = speaker.facts()
    if (language !== '' && languages === '')
      throw new EngineError(
        'invalid-argument',
        'This model speaks one language: leave out the option language.',
      )
    const ofVoice = await useVoice(heap, speaker, voice, host)
    const bytes = new TextEncoder().encode(text)
    heap.put(bytes, speaker)
    const given = { profile, language, temperature, speed, seed }
    const options = { ...module.Speaker.defaultOptions(), ...given }
    check(speaker.begin(bytes.length, options), speaker)
    const warnings = [...speaker.facts().warning.split('\n'), ofVoice].filter((text) => text)
    for (let more = 1; more === 1 && !host.cancelled();) {
      more = speaker.next()
      check(more >= 0, speaker)
      const samples = heap.floats(speaker.samples())
      sampleCount += samples.length // before they are transferred
      if (samples.length > 0) host.post({ samples, sampleRate, done: speaker.progress() })
      restedMs += await host.waitForReader()
    }
    const ms = performance.now() - startedAt - restedMs
    return { sampleCount, sampleRate, ms, warnings: warnings as string[] }
  } finally {
    speaker.end()
    speaker.delete()
  }
}
