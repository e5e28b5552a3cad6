// The script of the engine's workers. The worker's name determines whether it runs the engine or one of its threads.
// It is one script without static imports and top-level await, so that bundlers and pages of other origins have to
// find and start only one file.
import { messagePort, workerName } from './port.js'
import { runThread, type ThreadStart } from './thread.js'
import { kThreadName } from './threading.js'
import { EngineWorker } from './worker.js'
import type { Answer, Message } from './protocol.js'

if (workerName() === kThreadName) {
  runThread(messagePort<'ready' | 'left', ThreadStart>())
} else {
  const port = messagePort<Answer, Message>()
  const worker = new EngineWorker(port)
  port.listen((message) => worker.receive(message))
  port.post({ id: 0, value: 'ready' }, [])
}
