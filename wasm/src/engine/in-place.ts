// Runs the engine in the calling thread if there are no workers (service workers, workerd). It blocks that thread for
// one token or one batch of the prompt at a time.
import type { Answer, Link } from './protocol.js'
import { EngineWorker } from './worker.js'
import { nextTask } from '../runtime/next-task.js'

export function inPlace(onAnswer: (answer: Answer) => void): Link {
  const worker = new EngineWorker({
    post: onAnswer,
    threads: async () => [],
    yield: nextTask,
  })
  return {
    post: (message) => worker.receive(message),
    end: () => worker.receive({ close: true }),
  }
}
