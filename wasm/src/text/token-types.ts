// The names and numbers of token types.
import type { TokenType } from '../api/text.js'

/** Token types in the order of their numbers in tokenizer.ggml.token_type. */
export const kTokenTypes: readonly TokenType[] = [
  'undefined',
  'normal',
  'unknown',
  'control',
  'user-defined',
  'unused',
  'byte',
]

/** A token type's number in tokenizer.ggml.token_type. */
export const tokenTypeId = (type: TokenType): number => kTokenTypes.indexOf(type)
