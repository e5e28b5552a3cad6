// The script of the engine's workers. The first message determines whether a worker runs the engine or one of its
// threads. It is one script without static imports and top-level await, so that bundlers and pages of other origins
// have to find and start only one file.
import { messagePort } from './port.js'
import { runThread } from './thread.js'
import { EngineWorker } from './worker.js'
import type { Answer, ForThread, Message, Threads } from './protocol.js'

const port = messagePort<Answer, Message | Threads | ForThread>()
let receiveThreads: (threads: readonly MessagePort[]) => void
const worker = new EngineWorker({
  ...port,
  threads: (wanted) =>
    new Promise((resolve) => {
      receiveThreads = resolve
      port.post({ id: 0, wanted }, [])
    }),
})
port.listen((message) => {
  if ('thread' in message) runThread(message.thread)
  else if ('threads' in message) receiveThreads(message.threads)
  else worker.receive(message)
})
port.post({ id: 0, value: 'ready' }, [])
