// The entry ggufscope/engine: load() and what works with a loaded model.
export { GgufError } from '../api/errors.js'
export { modelAbilities, type Ability } from '../api/abilities.js'
export { embedAll, type EmbedAllOptions } from './embed-all.js'
export { load } from './load.js'
export { lintLoad } from './lint-load.js'
export { memoryLimits, type MemoryLimits } from './memory-limits.js'
export * from '../chat/index.js'
export * from '../openai/index.js'
export { decodeWav } from '../audio/wav.js'
export { toSrt, toText, toVtt } from '../audio/formats.js'
export { transcribeStream, type TranscribeStreamOptions, type TranscriptUpdate } from '../audio/stream.js'
export { speechLanguages } from '../audio/languages.js'
export type { Phonemize } from '../audio/phonemes.js'
export type * from '../audio/speak-types.js'
export type * from '../audio/types.js'
export type { VoiceProfile } from '../audio/voice-profile.js'
export { toWav } from '../audio/write-wav.js'
export type * from '../decision/types.js'
export type * from './trace-types.js'
export type { Base64File } from '../media/data-address.js'
export type { ImageInput, RawImage } from '../media/image-input.js'
export { schemaToGrammar, type JsonSchema } from '../schema/index.js'
export type {
  AdapterChoice,
  AdapterInfo,
  AudioPart,
  ChatOptions,
  ChatPiece,
  ChatResult,
  DeviceKind,
  DeviceReport,
  EmbedOptions,
  EmbedResult,
  EncodeChatOptions,
  WarningOptions,
  EncodedMedia,
  EncodeMediaOptions,
  GenerateOptions,
  LintLoadOptions,
  GenerateResult,
  GpuAdapter,
  ImagePart,
  LoadOptions,
  LoadedModel,
  LoadProgress,
  MediaPart,
  Model,
  ModelInfo,
  OperationName,
  Peaks,
  Piece,
  Pooling,
  Precision,
  ProfiledOperation,
  RankedDocument,
  RerankOptions,
  SamplerOptions,
  SamplingOptions,
  SetAdaptersOptions,
  SpeechModel,
  TokenProbability,
  Variant,
} from './types.js'
