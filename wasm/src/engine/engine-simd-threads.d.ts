// The types of the glue of the engine with threads.
export { default } from './module.js'
