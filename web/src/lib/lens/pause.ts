/**
 * Resolves when the messages that have already arrived were handled, without the delay of a timer. Any number of callers
 * may wait at a time, because each has its own channel.
 */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}
