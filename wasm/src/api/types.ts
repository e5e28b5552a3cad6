// All public types of the package's main entry, by subject.
export type * from './arrays.js'
export type * from './assets.js'
export type * from './file.js'
export type * from './findings.js'
export type * from './metadata.js'
export type * from './source.js'
export type * from './tensors.js'
export type * from './text.js'
