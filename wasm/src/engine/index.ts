export { GgufError } from '../api/errors.js'
export { load } from './load.js'
export {
  createChatCompletion,
  streamChatCompletion,
  type ChatCompletion,
  type ChatCompletionChunk,
  type ChatCompletionRequest,
  type ResponseFormat,
} from './chat-completion.js'
export { schemaToGrammar, type JsonSchema } from './json-schema.js'
export type {
  GenerateOptions,
  GenerateResult,
  LoadOptions,
  LoadProgress,
  Model,
  ModelInfo,
  OperationName,
  Peaks,
  Piece,
  Precision,
  ProfiledOperation,
  SamplingOptions,
  TokenProbability,
  Variant,
} from './types.js'
