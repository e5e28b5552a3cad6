// Checks a file. The checks of a long header take too long for the page, so a worker makes them.
import type { Finding, GgufFile } from 'ggufscope'
import { startWorker, workerAssets } from '../page/worker'
import address from './lint-worker.ts?worker&url'

/** What the worker receives. */
export interface Header {
  readonly bytes: Uint8Array
  readonly size: number
  readonly name: string | undefined
  /** addresses of wasm modules that the worker does not know */
  readonly assets: Record<string, string>
}

/** Bytes of a header whose checks take some 50 ms. */
const longBytes = 1_000_000

/** Whether the checks of a file should be left to a worker. The headers of split models and older containers are short. */
export const isLong = (file: GgufFile) =>
  file.container === 'gguf' &&
  file.shards.length === 1 &&
  file.size !== undefined &&
  file.dataOffset > longBytes

/** The findings of a file with a long header; undefined if they could not be found in the worker. */
export async function lintInWorker(file: GgufFile): Promise<readonly Finding[] | undefined> {
  // An unchanged copy begins with the header.
  const { header } = await (await file.edit({ allowDamaged: true })).build()
  const worker = startWorker(address)
  try {
    return await new Promise((resolve) => {
      worker.onmessage = (event: MessageEvent<readonly Finding[] | undefined>) => resolve(event.data)
      worker.onerror = (event) => {
        event.preventDefault()
        resolve(undefined)
      }
      const message: Header = {
        bytes: header,
        size: file.size ?? 0,
        name: file.shards[0]?.name,
        assets: workerAssets,
      }
      worker.postMessage(message, [header.buffer])
    })
  } finally {
    worker.terminate()
  }
}
