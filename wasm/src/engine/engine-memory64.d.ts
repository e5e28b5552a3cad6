// The types of the glue of engine-memory64.wasm.
export { default } from './module.js'
