// What models can do. The doors of the package take their parts from this list: the server's routes, the AI SDK's
// models, the tools of MCP, the commands. A test walks all of them.

/**
 * generate: continues and answers texts; embed: makes vectors of texts; rerank: scores documents; decide: answers
 * questions with probabilities, in one pass; image, audio: reads them in messages, with a projector; transcribe: writes
 * down speech; speak: makes speech of a text, with a projector that has a voice.
 */
export const modelAbilities = [
  'generate',
  'embed',
  'rerank',
  'decide',
  'image',
  'audio',
  'transcribe',
  'speak',
] as const
export type Ability = (typeof modelAbilities)[number]

/** The architecture of models that speak without a text model; they read phonemes (core/speech/kokoro.hpp). */
export const kSpeaksAlone = 'kokoro'
