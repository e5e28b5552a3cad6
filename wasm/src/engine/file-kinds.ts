// Tells the kinds of models that are not text models apart, by their files.
import { kSpeaksAlone } from '../api/abilities.js'
import type { GgufFile } from '../api/file.js'

const architectureOf = ({ metadata }: Pick<GgufFile, 'metadata'>): unknown =>
  metadata.get('general.architecture')

/** A Whisper model. */
export const isSpeech = (file: Pick<GgufFile, 'metadata'>): boolean => architectureOf(file) === 'whisper'

export const speaksAlone = (file: Pick<GgufFile, 'metadata'>): boolean =>
  architectureOf(file) === kSpeaksAlone

/** Why this engine runs no model of the file's kind, although the package reads it; undefined: it may. */
export const whyNeverRun = (file: Pick<GgufFile, 'metadata'>): string | undefined =>
  architectureOf(file) === 'parakeet'
    ? 'A Parakeet model cannot be run: its decoder is a transducer, which this engine does not have. It can be opened and converted.'
    : undefined

/** The names in a key that holds a list of texts; none without it. */
export function namesIn(file: Pick<GgufFile, 'metadata'>, key: string): readonly string[] {
  const names = file.metadata.get(key)
  if (typeof names !== 'object' || names === null || !(Symbol.iterator in names)) return []
  return Array.from(names as Iterable<unknown>, String)
}
