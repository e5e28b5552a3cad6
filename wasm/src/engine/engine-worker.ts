// The script of the engine's workers: the engine, or one of its threads, as the worker's name says. One script, without
// imports and top-level await: bundlers and pages of other origins have one file to find and start.
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
