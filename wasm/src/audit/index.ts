// The entry ggufscope/audit: checks of files before they are published, and hashes.
export { GgufError } from '../api/errors.js'
export { hashFile } from './hash.js'
export type * from './types.js'
