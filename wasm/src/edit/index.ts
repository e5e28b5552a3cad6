export { GgufError } from '../errors.js'
export { GgufBuilder } from './builder.js'
export { WrittenFile } from './written-file.js'
export type * from './types.js'
