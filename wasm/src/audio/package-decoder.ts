// Decodes sound files in Node with the package audio-decode, if the user has installed it. It computes in JavaScript and
// wasm, so it runs in a thread of its own.
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import { nodeModule } from '../runtime/node-module.js'
import { optionalPackage } from '../runtime/optional-package.js'

interface Decoded {
  readonly channelData: readonly Float32Array[]
  readonly sampleRate: number
}
type Decode = (bytes: Uint8Array) => Promise<Decoded>

const kScript = `
const { parentPort, workerData } = require('node:worker_threads')
import(workerData.url)
  .then((found) => found.default(workerData.bytes))
  .then(
    ({ channelData, sampleRate }) => parentPort.postMessage({ channelData, sampleRate }),
    (error) => parentPort.postMessage({ reason: String(error?.message ?? error) }),
  )`

/** Where the package is. Undefined without it, and where a bundler changed import.meta. */
function packageUrl(): string | undefined {
  try {
    return import.meta.resolve('audio-decode')
  } catch {
    return undefined
  }
}

function decodedInThread(url: string, bytes: Bytes): Promise<Decoded> {
  const { Worker } = nodeModule<typeof import('node:worker_threads')>('node:worker_threads')
  const worker = new Worker(kScript, { eval: true, workerData: { url, bytes } })
  return new Promise<Decoded>((resolve, reject) => {
    worker.once('message', (answer: Decoded | { readonly reason: string }) =>
      'reason' in answer ? reject(new Error(answer.reason)) : resolve(answer),
    )
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the decoder ended')))
  }).finally(() => void worker.terminate())
}

/** Undefined without the package. Error: 'invalid-argument' for a file that it cannot decode. */
export async function decodedByPackage(bytes: Bytes): Promise<Decoded | undefined> {
  const url = packageUrl()
  const decode: Decode | undefined =
    url === undefined
      ? (await optionalPackage<{ default: Decode }>('audio-decode'))?.default
      : (all) => decodedInThread(url, all as Bytes)
  if (!decode) return undefined
  try {
    const { channelData, sampleRate } = await decode(bytes)
    if (!channelData[0]?.length) throw new Error('it has no samples')
    return { channelData, sampleRate }
  } catch (error) {
    throw new GgufError('invalid-argument', `This audio cannot be decoded: ${(error as Error).message}`)
  }
}
