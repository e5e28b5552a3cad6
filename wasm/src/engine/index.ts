export { GgufError } from '../api/errors.js'
export { load } from './load.js'
export * from '../openai/index.js'
export { schemaToGrammar, type JsonSchema } from '../schema/index.js'
export type {
  ChatOptions,
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
