export { default } from './module.js'
