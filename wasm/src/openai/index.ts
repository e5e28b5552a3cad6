// What the package exports for OpenAI's requests.
export { createChatCompletion, streamChatCompletion } from './chat.js'
export { createCompletion, streamCompletion } from './completion.js'
export { createEmbedding } from './embedding.js'
export { createDecision } from './decision.js'
export { createRerank } from './rerank.js'
export { createSpeech, type SpeechOptions, type SpeechRequest } from './speech.js'
export { createTranscription, type TranscriptionRequest, type VerboseTranscription } from './transcription.js'
export type * from './types.js'
