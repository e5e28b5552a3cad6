// Lets the viewer work without a network from the next visit on, and tells when a newer version of it is there.

/** Milliseconds between two checks for a newer version, when the page becomes visible again. */
const checkEveryMs = 3_600_000

class Version {
  /** whether another version than this page's is stored in the browser and can be loaded */
  newer = $state(false)
  private waiting: ServiceWorker | undefined
  private isWanted = false

  /** Loads the newer version. The browser asks first if the page has unsaved changes. */
  load() {
    this.isWanted = true
    // Without a waiting service worker, another page has activated it already.
    if (this.waiting?.state === 'installed') this.waiting.postMessage('activate')
    else location.reload()
  }

  watch(registration: ServiceWorkerRegistration) {
    // The first visit has no service worker before the one that it installs, and no other version.
    let isControlled = navigator.serviceWorker.controller !== null
    navigator.serviceWorker.addEventListener('controllerchange', () => {
      if (this.isWanted) location.reload()
      else if (isControlled) void this.compare(navigator.serviceWorker.controller)
      isControlled = true
    })
    const follow = () =>
      registration.installing?.addEventListener('statechange', () => void this.offer(registration.waiting))
    registration.addEventListener('updatefound', follow)
    follow()
    void this.offer(registration.waiting)
    let checkedAt = performance.now()
    document.addEventListener('visibilitychange', () => {
      if (document.hidden || performance.now() - checkedAt < checkEveryMs) return
      checkedAt = performance.now()
      registration.update().catch(() => {})
    })
  }

  private async offer(waiting: ServiceWorker | null) {
    if (!waiting || waiting === this.waiting) return
    this.waiting = waiting
    await this.compare(waiting)
  }

  /** With a network, a page is loaded in its newest version, which may be the one of the waiting service worker. */
  private async compare(worker: ServiceWorker | null) {
    if (!worker) return
    const { port1, port2 } = new MessageChannel()
    const styles = document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')
    const own = [import.meta.url, ...[...styles].map(({ href }) => href)]
    const isSame = await new Promise<boolean>((done) => {
      port1.onmessage = ({ data }: MessageEvent<boolean>) => done(data)
      worker.postMessage({ has: own }, [port2])
    })
    port1.close()
    this.newer = !isSame
  }
}

export const version = new Version()

/** Registers the service worker, if the browser supports it. */
export async function workOffline() {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return
  const idle = globalThis.requestIdleCallback ?? ((done: () => void) => setTimeout(done, 2000))
  try {
    // The service worker fetches every panel, so it is installed after the page was loaded.
    if (document.readyState !== 'complete')
      await new Promise((done) => addEventListener('load', done, { once: true }))
    await new Promise<unknown>((done) => idle(done))
    const registration = await navigator.serviceWorker.register(
      new URL('./service-worker.js', document.baseURI),
    )
    version.watch(registration)
    const { active } = await navigator.serviceWorker.ready
    // The remaining files are several megabytes that this visit may not need. With data saving they are not fetched.
    const connection = (navigator as { connection?: { saveData?: boolean } }).connection
    if (connection?.saveData !== true) idle(() => active?.postMessage('keep-rest'))
  } catch {
    // Browsers refuse service workers in private windows and with strict settings.
  }
}
