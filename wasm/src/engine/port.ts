// The messages of a worker, in browsers and in Node.
import { isNode, nodeModule } from '../runtime/node-module.js'

/** A worker's connection to the page, inside the worker. It is the same in browsers and in Node. */
export interface Port<Out, In> {
  post(message: Out, transfer: ArrayBuffer[]): void
  listen(listener: (message: In) => void): void
  /** lets pending messages be handled */
  yield(): Promise<void>
}

const threads = () => nodeModule<typeof import('node:worker_threads')>('node:worker_threads')

export function messagePort<Out, In>(): Port<Out, In> {
  if (isNode()) {
    const { parentPort } = threads()
    return {
      post: (message, transfer) => parentPort!.postMessage(message, transfer),
      listen: (listener) => parentPort!.on('message', listener),
      yield: () => new Promise((resolve) => setImmediate(resolve)),
    }
  }
  const { port1, port2 } = new MessageChannel()
  let resume = () => {}
  port1.onmessage = () => resume()
  const scope = globalThis as unknown as {
    postMessage(message: Out, transfer: ArrayBuffer[]): void
    addEventListener(type: 'message', listener: (event: { data: In }) => void): void
  }
  return {
    post: (message, transfer) => scope.postMessage(message, transfer),
    listen: (listener) => scope.addEventListener('message', (event) => listener(event.data)),
    yield: () =>
      new Promise((resolve) => {
        resume = resolve
        port2.postMessage(0)
      }),
  }
}
