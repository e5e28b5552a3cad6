// What the scripts of the engine's workers have in common. The first message determines whether a worker runs the engine or
// one of its threads.
import { messagePort } from './port.js'
import type { Answer, ForThread, Message, Threads } from './protocol.js'
import { runThread } from './thread.js'
import { EngineWorker, type OpenGpu } from './worker.js'

/** openGpu: in the script for graphics cards */
export function runWorker(openGpu?: OpenGpu): void {
  const port = messagePort<Answer, Message | Threads | ForThread>()
  let receiveThreads: (threads: readonly MessagePort[]) => void
  const threads = (wanted: number): Promise<readonly MessagePort[]> =>
    new Promise((resolve) => {
      receiveThreads = resolve
      port.post({ id: 0, wanted }, [])
    })
  const worker = new EngineWorker({ ...port, threads }, openGpu)
  port.listen((message) => {
    if ('thread' in message) runThread(message.thread)
    else if ('threads' in message) receiveThreads(message.threads)
    else worker.receive(message)
  })
  port.post({ id: 0, value: 'ready' }, [])
}
