// A download of bytes that arrive piece by piece, for browsers without a dialog for saving: a hidden frame requests an
// address that the service worker answers with the pieces. Nothing but the current piece is in memory.
import { t } from '../language/text'

/** Interval in milliseconds of messages that keep the service worker running. Browsers stop idle ones after 30 s. */
const awakeMs = 8_000

export const canStream = () => Boolean(navigator.serviceWorker?.controller)

let downloads = 0

/** Resolves when the last piece was taken. */
export async function streamDownload(
  stream: ReadableStream<Uint8Array>,
  name: string,
  size: number,
  signal: AbortSignal,
) {
  const worker = navigator.serviceWorker.controller
  if (!worker) throw new Error(t('This page has no service worker: load it again.'))
  const { port1: port, port2 } = new MessageChannel()
  const id = `${Date.now()}-${++downloads}`
  const frame = document.createElement('iframe')
  frame.hidden = true
  const awake = setInterval(() => worker.postMessage('awake'), awakeMs)
  const reader = stream.getReader()
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      port.onmessage = async ({ data }: MessageEvent<'ready' | 'pull' | 'cancel'>) => {
        if (data === 'ready') {
          frame.src = new URL(`download/${id}`, document.baseURI).href
          document.body.append(frame)
        } else if (data === 'cancel') reject(new Error(t('The browser ended the download.')))
        else
          try {
            const { value, done } = await reader.read()
            port.postMessage(done ? 'end' : value)
            if (done) resolve()
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)))
          }
      }
      worker.postMessage({ download: id, name, size }, [port2])
    })
  } catch (error) {
    port.postMessage('failed')
    await reader.cancel(error).catch(() => {})
    throw error
  } finally {
    clearInterval(awake)
    // The frame's request is the download: it goes on until its last bytes are taken.
    setTimeout(() => {
      frame.remove()
      port.close()
    }, 2_000)
  }
}
