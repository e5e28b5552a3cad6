// The script of a worker whose engine runs its model on a GPU: engine-worker.ts with what speaks WebGPU.
import { GpuModel } from '../gpu/gpu-model.js'
import { GpuSpeech } from '../gpu/gpu-speech.js'
import { runWorker } from './worker-script.js'

runWorker({ model: GpuModel.open, speech: GpuSpeech.open })
