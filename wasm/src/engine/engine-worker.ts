// The script of the engine's workers. It is one script without static imports and top-level await, so that bundlers and
// pages of other origins have to find and start only one file.
import { runWorker } from './worker-script.js'

runWorker()
