/** Lets the viewer work without a network from the next visit on, if the browser supports it. */
export async function workOffline() {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return
  const idle = globalThis.requestIdleCallback ?? ((done: () => void) => setTimeout(done, 2000))
  try {
    // The service worker fetches every panel, so it is installed after the page was loaded.
    if (document.readyState !== 'complete')
      await new Promise((done) => addEventListener('load', done, { once: true }))
    await new Promise<unknown>((done) => idle(done))
    await navigator.serviceWorker.register(new URL('./service-worker.js', document.baseURI))
    const { active } = await navigator.serviceWorker.ready
    // The remaining files are several megabytes that this visit may not need. With data saving they are not fetched.
    const connection = (navigator as { connection?: { saveData?: boolean } }).connection
    if (connection?.saveData !== true) idle(() => active?.postMessage('keep-rest'))
  } catch {
    // Browsers refuse service workers in private windows and with strict settings.
  }
}
