// Voices as profiles: the words of a recording with their codes, as OuteTTS's own tools write them.
import { GgufError } from '../api/errors.js'

/** A voice for OuteTTS: the words of a recording, each with its sound. Files of OuteTTS 0.2 and 0.3 have this form. */
export interface VoiceProfile {
  readonly words: readonly {
    readonly word: string
    /** seconds */
    readonly duration: number
    /** WavTokenizer's */
    readonly codes: readonly number[]
  }[]
}

export const isProfile = (voice: unknown): voice is VoiceProfile =>
  typeof voice === 'object' && voice !== null && 'words' in voice

/** The lines that the engine reads: durations are hundredths of a second. Error: 'invalid-argument' for a profile of another form. */
export function profileLines({ words }: VoiceProfile): string {
  if (!Array.isArray(words))
    throw new GgufError('invalid-argument', "The words of a voice's profile must be an array.")
  const lines = words.map((one: unknown, i) => {
    const { word, duration, codes } = (one ?? {}) as Partial<VoiceProfile['words'][number]>
    if (
      typeof word === 'string' &&
      /^\S+$/.test(word) &&
      typeof duration === 'number' &&
      Array.isArray(codes)
    )
      return [word, duration.toFixed(2).replace('.', ''), ...(codes as number[])].map(String).join(' ')
    throw new GgufError(
      'invalid-argument',
      `Word ${i + 1} of the voice's profile lacks a word without spaces, a number "duration", or an array "codes".`,
    )
  })
  return lines.join('\n')
}

/** The profile in a JSON file; undefined: the bytes are no JSON, so they are a recording. Error: 'invalid-argument'. */
export function profileOfFile(bytes: Uint8Array): VoiceProfile | undefined {
  const first = bytes.find((byte) => byte > 0x20)
  if (first !== 0x7b) return undefined // {
  try {
    const profile: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (isProfile(profile)) return profile
  } catch {
    // it is refused below
  }
  throw new GgufError('invalid-argument', 'This JSON file is no profile of a voice: it has no "words".')
}
