// The files that come with the viewer, by their names in web/public. Names of models follow GGUF's naming convention.
export const kSample = 'Little-Animal-Stories-2.0M-v1.0-Q4_K_M.gguf'
export const kSpeechSample = 'Little-Commands-1.2M-v1.0-Q8_0.gguf'
export const kRecording = 'speech.wav'

const formerNames = new Map([
  ['sample.gguf', kSample],
  ['speech.gguf', kSpeechSample],
])

/** The address of a file. A link may contain a sample's former name. */
export const currentName = (address: string): string => formerNames.get(address) ?? address
