/** Resolves in a later task, so that other events are handled first. A hidden page's timers take a second or longer. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const isPage = 'document' in globalThis && 'MessageChannel' in globalThis // not in jsdom
    if (!isPage) return void setTimeout(resolve)
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(0)
  })
}
