// What a loaded model can do.
import { kSpeaksAlone, modelAbilities, type Ability } from '../api/abilities.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import { isDecisionModel } from '../decision/kinds.js'
import type { PlannedModel } from './protocol.js'

// Weights of a classification head (core/model/pooling.hpp).
const kHeads = ['cls.weight', 'cls.output.weight']

/** The abilities in the order of modelAbilities. */
export function abilitiesOf(
  file: GgufFile,
  { facts, architecture }: PlannedModel,
  projector: GgufFile | undefined,
): Ability[] {
  if (architecture === 'whisper') return ['transcribe']
  if (architecture === kSpeaksAlone) return ['speak']
  const reads = (medium: string) => projector?.metadata.get(`clip.has_${medium}_encoder`) === true
  const has: Record<Ability, boolean> = {
    generate: facts.generationRefusal === '',
    embed: facts.pooling !== 'rank' && facts.decisionHead === '',
    rerank: facts.decisionHead === '' && kHeads.some((name) => file.tensor(name) !== undefined),
    decide: isDecisionModel(file),
    image: reads('vision'),
    audio: reads('audio'),
    transcribe: false,
    speak: facts.speech !== '',
  }
  return modelAbilities.filter((ability) => has[ability])
}

/** Refuses a medium that the model cannot read, before the medium is decoded. */
export function checkReads(
  { abilities }: { readonly abilities: readonly Ability[] },
  medium: 'image' | 'audio',
): void {
  if (abilities.includes(medium)) return
  const hasOther = abilities.includes('image') || abilities.includes('audio')
  const message = hasOther
    ? `This projector has no ${medium} encoder: it cannot read ${medium === 'image' ? 'images' : 'audio'}.`
    : 'The model was loaded without a projector: it can read neither images nor audio.'
  throw new GgufError('unsupported', message)
}
