// The entry ggufscope: opens, reads and checks files.
export { GgufError, type CoreErrorCode, type GgufErrorCode, type GgufErrorDetails } from './api/errors.js'
export type * from './api/types.js'
export { compare } from './file/compare.js'
export { open } from './file/open.js'
export { quantize } from './tensors/quantize.js'
