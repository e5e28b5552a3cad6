// Starts workers. A browser refuses one whose script lies on another origin than the page, as that of an element from a content
// network does. A local script that imports it is allowed.

interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string }
}

/** Addresses of the package's wasm modules, for workers that do not know them. */
export const workerAssets: Record<string, string> = {}

type Trust = (address: string) => string
let trust: Trust | undefined

/** Marks an address as one that the page may start, for pages that allow only such addresses (Trusted Types). */
function trusted(address: string): string {
  const { trustedTypes } = globalThis as unknown as { trustedTypes?: Policies }
  const same: Trust = (url) => url
  try {
    const policy = trust ? undefined : trustedTypes?.createPolicy('gguf-viewer', { createScriptURL: same })
    trust ??= policy ? (url) => policy.createScriptURL(url) : same
  } catch {
    // The page's policy does not list this name.
    trust = same
  }
  return trust(address)
}

const isForeign = ({ protocol, origin }: URL) => /^https?:$/.test(protocol) && origin !== location.origin

/** Starts the worker with the script at that address, which belongs to this application. Errors: those of the browser. */
export function startWorker(address: string): Worker {
  const url = new URL(address, document.baseURI)
  if (!isForeign(url)) return new Worker(url.href, { type: 'module' })
  const script = new Blob([`import ${JSON.stringify(url.href)}`], { type: 'text/javascript' })
  const local = URL.createObjectURL(script)
  const worker = new Worker(trusted(local), { type: 'module' })
  const release = () => URL.revokeObjectURL(local)
  for (const event of ['message', 'error'] as const) worker.addEventListener(event, release, { once: true })
  return worker
}
