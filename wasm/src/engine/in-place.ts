// The engine where there are no workers (service workers, workerd): in the calling thread, which it blocks
// for a token or a batch of the prompt at a time.
import type { Answer, Link } from './protocol.js'
import { EngineWorker } from './worker.js'

export function inPlace(heard: (answer: Answer) => void): Link {
  const worker = new EngineWorker({
    post: heard,
    yield: () => new Promise((resolve) => setTimeout(resolve, 0)),
  })
  return {
    post: (message) => worker.receive(message),
    end: () => worker.receive({ close: true }),
  }
}
