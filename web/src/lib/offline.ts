/** Lets the viewer work without a network from the next visit on, if the browser supports it. */
export async function workOffline() {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return
  try {
    await navigator.serviceWorker.register(new URL('./service-worker.js', document.baseURI))
    const { active } = await navigator.serviceWorker.ready
    const idle = globalThis.requestIdleCallback ?? ((done: () => void) => setTimeout(done, 2000))
    // Megabytes that this page may not need: not with data saving.
    const connection = (navigator as { connection?: { saveData?: boolean } }).connection
    if (connection?.saveData !== true) idle(() => active?.postMessage('keep-rest'))
  } catch {
    // Private windows and strict settings refuse it.
  }
}
