// The models that are kept in this browser.
import { StoredSource, type StoredFile } from 'ggufscope/store'
import type { Savable } from '../save/save-file'

/** A kept file as one to be saved elsewhere. It is read chunk by chunk. */
export function savableKept({ url, size }: StoredFile): Savable {
  const stream: Savable['stream'] = ({ signal, onProgress }) => {
    let written = 0
    const chunks = (async function* () {
      for await (const chunk of new StoredSource(url).stream(0, { signal })) {
        yield chunk.slice()
        written += chunk.length
        onProgress({ written, size, tensor: undefined })
      }
    })()
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: async () => void (await chunks.return(undefined)),
      },
      { highWaterMark: 0 },
    )
  }
  return { size, toRead: size, stream, blob: (options) => new Response(stream(options)).blob() }
}
