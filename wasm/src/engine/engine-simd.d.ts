// The types of the glue of the engine without threads.
export { default } from './module.js'
