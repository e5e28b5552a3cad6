// The thread of text-thread.ts: it opens the model's header and answers calls.
import { parentPort, workerData } from 'node:worker_threads'
import type { ByteSource } from '../../api/source.js'
import { open } from '../../file/open-paths.js'
import { textCalls } from './text-calls.js'
import { failed, type TextAnswer, type TextCall, type TextHeader } from './text-protocol.js'

/** The file without its weights, which texts do not need. */
function headerSource({ header, size }: TextHeader): ByteSource {
  return {
    size,
    read: async (offset, length) => {
      const bytes = new Uint8Array(length)
      bytes.set(header.subarray(offset, offset + length))
      return bytes
    },
  }
}

const opening = open(headerSource(workerData as TextHeader), { allowMissingShards: true }).then(
  async (file) => {
    await file.loadTokenizer()
    return textCalls(file)
  },
)

async function answer({ id, name, args }: TextCall): Promise<TextAnswer> {
  try {
    const calls = await opening
    return { id, value: await (calls[name] as (...args: unknown[]) => Promise<unknown>)(...args) }
  } catch (error) {
    return { id, error: failed(error) }
  }
}

parentPort!.on('message', (call: TextCall) => void answer(call).then((done) => parentPort!.postMessage(done)))
