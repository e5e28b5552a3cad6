export { GgufError, type GgufErrorCode, type GgufErrorDetails } from './errors.js'
export type * from './types.js'
export { open } from './open.js'
export { quantize } from './quantize.js'
