// The entry ggufscope/audit: checks of files before they are published, and hashes.
export { GgufError } from '../api/errors.js'
export { audit } from './audit.js'
export { toCycloneDx } from './cyclonedx.js'
export { hashFile } from './hash.js'
export { toMarkdown } from './markdown.js'
export { toSarif } from './sarif.js'
export type * from './types.js'
