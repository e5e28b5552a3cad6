// The files that come with the viewer, by their names in web/public. Names of models follow GGUF's naming convention.
import type { Plain } from '../../texts/text.ts'
import { absolute } from './address.ts'

export const kSample = 'Little-Animal-Stories-2.0M-v1.4-Q4_K_M.gguf'
export const kSpeechSample = 'Little-Commands-1.2M-v1.0-Q8_0.gguf'
export const kVoiceSample = 'Little-Voice-0.8M-v1.0-F16.gguf'
export const kRecording = 'speech.wav'

interface Sample {
  readonly file: string
  /** the button that opens it */
  readonly title: Plain
  /** the panel that shows what it is for */
  readonly panel: string
}
/** Those that the start page offers. */
export const samples: readonly Sample[] = [
  { file: kSample, title: 'Open the sample', panel: 'overview' },
  { file: kSpeechSample, title: 'Speech-to-text sample', panel: 'transcribe' },
  { file: kVoiceSample, title: 'Text-to-speech sample', panel: 'speak' },
]

const formerNames = new Map([
  ['sample.gguf', kSample],
  ['speech.gguf', kSpeechSample],
])

/** The address of a file. A link may contain a sample's former name. */
export function currentName(address: string): string {
  for (const [former, name] of formerNames)
    if (address.endsWith(former) && absolute(address) === absolute(former)) return name
  return address
}
