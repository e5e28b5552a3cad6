// The script of a worker whose engine runs its model on a GPU: engine-worker.ts with what speaks WebGPU. It has no
// threads, because only the GPU computes.
import { GpuModel } from '../gpu/gpu-model.js'
import { messagePort } from './port.js'
import type { Answer, ForThread, Message, Threads } from './protocol.js'
import { EngineWorker } from './worker.js'

const port = messagePort<Answer, Message | Threads | ForThread>()
const worker = new EngineWorker({ ...port, threads: async () => [] }, GpuModel.open)
port.listen((message) => {
  if (!('thread' in message) && !('threads' in message)) worker.receive(message)
})
port.post({ id: 0, value: 'ready' }, [])
