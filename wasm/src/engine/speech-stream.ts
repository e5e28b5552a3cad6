// Speaks a text in the worker, and yields its samples as they arrive.
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import { inEnglishWords } from '../audio/english.js'
import { asKokoroReads, languageOfVoice, phonemeParts, usualVoice } from '../audio/phonemes.js'
import type { SoundRecord } from '../audio/sound-input.js'
import type { SpeakOptions, SpokenPart, SpokenResult } from '../audio/speak-types.js'
import { isProfile, profileLines } from '../audio/voice-profile.js'
import { WordList } from '../audio/word-list.js'
import type { Passed } from '../media/image-input.js'
import { kSpeaksAlone } from '../api/abilities.js'
import { passSound } from './media-calls.js'
import type { EngineCalls } from './model-engine.js'
import { PieceQueue } from './piece-queue.js'
import type { SpeakCall } from './speak-calls.js'

type Speaking = AsyncGenerator<SpokenPart, SpokenResult, void>

const invalid = (message: string): GgufError => new GgufError('invalid-argument', message)

/** Speaks a text in one call of the engine. Leaving the loop early ends the speech. */
async function* spokenAtOnce(
  engine: EngineCalls,
  { voice: sound, ...call }: Omit<SpeakCall, 'voice'> & { voice?: Passed<SoundRecord> | undefined },
  signal: AbortSignal | undefined,
): Speaking {
  const control = new AbortController()
  const stop = () => control.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  const queue = new PieceQueue<SpokenPart>()
  try {
    const spoken = engine
      .call(
        'speak',
        { ...call, voice: sound?.record },
        {
          signal: control.signal,
          transfer: sound?.transfer ?? [],
          onStart: (setPause) => (queue.setPause = setPause),
          onSpoken: (part) => queue.push([part]),
        },
      )
      .finally(() => queue.end())
    spoken.catch(() => {}) // awaited below, unless the caller leaves the loop
    for (let part = await queue.next(signal); part; part = await queue.next(signal)) yield part
    return await spoken
  } finally {
    if (!queue.ended) control.abort()
    signal?.removeEventListener('abort', stop)
  }
}

type CallOptions = Pick<SpeakCall, 'sequence' | 'temperature' | 'speed' | 'seed'>

/** With a model that reads words. */
async function* spokenWords(
  engine: EngineCalls,
  text: string,
  options: CallOptions,
  { voice, language = '', ipa, signal }: SpeakOptions,
): Speaking {
  if (ipa) throw invalid('This model reads words, not phonemes: leave out the option ipa.')
  if (typeof voice === 'string' && !voice.startsWith('data:'))
    throw invalid('The voices of this model have no names: a voice is a recording, or a profile.')
  const profile = isProfile(voice) ? profileLines(voice) : ''
  const sound = voice === undefined || isProfile(voice) ? undefined : await passSound(engine, voice, signal)
  return yield* spokenAtOnce(engine, { ...options, text, voice: sound, profile, language }, signal)
}

/** The name of a voice of the file. */
function chosenVoice(voices: readonly string[], voice: SpeakOptions['voice']): string {
  if (voice === undefined) return usualVoice(voices)
  if (typeof voice !== 'string')
    throw invalid('A voice of this model is a name, such as info.voices has them.')
  if (voices.includes(voice)) return voice
  throw invalid(`This model has no voice ${JSON.stringify(voice)}, but ${voices.join(', ')}.`)
}

const kNamedWords = 20

function namedWords(words: ReadonlySet<string>): string {
  const named = [...words].slice(0, kNamedWords).map((word) => JSON.stringify(word))
  return [...named, ...(words.size > kNamedWords ? ['…'] : [])].join(', ')
}

function* listWarnings({ spelled, lost }: WordList): Generator<string, void, void> {
  if (spelled.size > 0)
    yield `The file's list of words lacks ${namedWords(spelled)}: spelled letter by letter.`
  if (lost.size > 0)
    yield `The file's list of words has neither ${namedWords(lost)} nor names of their letters: left out.`
}

/** With a model that reads phonemes: part by part, so that memory is bounded. */
async function* spokenPhonemes(
  engine: EngineCalls,
  file: GgufFile,
  text: string,
  { seed, ...options }: CallOptions,
  { voice, language, phonemize, ipa = false, signal }: SpeakOptions,
): Speaking {
  const list = phonemize || ipa ? undefined : WordList.of(file)
  if (!phonemize && !ipa && !list)
    throw invalid(
      'This model reads phonemes: pass phonemize(text, language), a function that returns the phonemes of a clause, or phonemes as the text with ipa: true.',
    )
  const profile = chosenVoice(engine.info.voices, voice)
  const spoken = language ?? languageOfVoice(profile)
  const phonemesOf = async (words: string) => {
    if (list) return list.phonemize(words)
    const phonemes: unknown = await phonemize!(words, spoken)
    return typeof phonemes === 'string' ? asKokoroReads(phonemes, spoken) : (phonemes as string)
  }
  const parts = phonemeParts(list ? inEnglishWords(text) : text, ipa ? (words) => words : phonemesOf, signal)
  const call = { ...options, profile, language: '' }
  const warnings = new Set<string>()
  let result: SpokenResult | undefined
  let [from, count] = [0, 0]
  const speak = async function* (phonemes: string, until: number): AsyncGenerator<SpokenPart, void, void> {
    const samples = spokenAtOnce(engine, { ...call, text: phonemes, seed: (seed + count++) >>> 0 }, signal)
    let next = await samples.next()
    try {
      for (; !next.done; next = await samples.next())
        yield { ...next.value, done: from + (until - from) * next.value.done }
    } finally {
      if (!next.done) await samples.return(undefined as never)
    }
    const { value } = next
    for (const warning of value.warnings) warnings.add(warning)
    const { sampleCount = 0, ms = 0 } = result ?? {}
    result = { ...value, sampleCount: sampleCount + value.sampleCount, ms: ms + value.ms }
    from = until
  }
  for await (const { phonemes, done } of parts) yield* speak(phonemes, done)
  if (!result && list && list.lost.size > 0)
    throw invalid(
      `The file's list of words has neither ${namedWords(list.lost)} nor names of their letters: there is nothing to speak.`,
    )
  if (!result) yield* speak('', 1) // which is refused
  return { ...result!, warnings: [...warnings, ...(list ? listWarnings(list) : [])] }
}

/** Leaving the loop early ends the speech. */
export async function* speechStream(
  engine: EngineCalls,
  file: GgufFile,
  sequence: number,
  text: string,
  options: SpeakOptions,
): Speaking {
  const { temperature = -1, speed = 1, seed = Math.floor(Math.random() * 2 ** 32), signal } = options
  signal?.throwIfAborted()
  if (!engine.info.abilities.includes('speak'))
    throw new GgufError(
      'unsupported',
      "This model cannot speak: that needs a model for speech and its projector, such as Pocket TTS's or Qwen3-TTS's, or OuteTTS with WavTokenizer's decoder, or Kokoro.",
    )
  const call = { sequence, temperature, speed, seed: seed >>> 0 }
  return engine.info.architecture === kSpeaksAlone
    ? yield* spokenPhonemes(engine, file, text, call, options)
    : yield* spokenWords(engine, text, call, options)
}
