// Bodies of requests: their size, compression, JSON and forms.
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { RequestError } from './failures.js'

// Largest depth of JSON: functions of JavaScript that walk values call themselves.
const kMaxDepth = 500
// Largest number of bytes of a refused body that are still read.
const kMaxDrained = 256 << 20

const kDecoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const

const tooLarge = (max: number): RequestError =>
  new RequestError(413, 'body_too_large', `The body has more than ${max} bytes.`)

/** Limits of a body: bytes, and milliseconds without any. */
export interface BodyLimits {
  readonly maxBody: number
  readonly patience: number
}

async function received(message: IncomingMessage, { maxBody: max, patience }: BodyLimits): Promise<Buffer> {
  if (Number(message.headers['content-length'] ?? 0) > max) throw tooLarge(max)
  const pieces: Buffer[] = []
  let length = 0
  // A refused body gets a response, so the connection stays open until it is sent.
  const iterator = (message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)[
    Symbol.asyncIterator
  ]()
  for (;;) {
    const next = await within(patience, iterator.next())
    if (next.done) return Buffer.concat(pieces)
    length += next.value.length
    if (length > max) throw tooLarge(max)
    pieces.push(next.value)
  }
}

/** Error: 408 if a promise takes longer. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const message = `No byte of the body came for ${Math.round(ms / 1000)} seconds.`
    timer = setTimeout(() => reject(new RequestError(408, 'request_timeout', message)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The body of at most that many bytes, before and after it is decompressed. */
export async function bytesOf(message: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { maxBody: max } = limits
  const name = (message.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (name !== 'identity' && !Object.hasOwn(kDecoders, name))
    throw new RequestError(
      415,
      'unsupported_encoding',
      `The body is in ${name}; ${Object.keys(kDecoders).join(', ')} are understood.`,
      { 'accept-encoding': Object.keys(kDecoders).join(', ') },
    )
  const bytes = await received(message, limits)
  if (name === 'identity') return bytes
  try {
    return await kDecoders[name as keyof typeof kDecoders](bytes, { maxOutputLength: max })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(max)
    throw new RequestError(400, 'invalid_encoding', `The body is no ${name}.`)
  }
}

/** The index of the quotation mark that ends a string of JSON, or the length. */
function endOfString(bytes: Buffer, begin: number): number {
  for (let end = bytes.indexOf(34, begin + 1); end >= 0; end = bytes.indexOf(34, end + 1)) {
    let slashes = 0
    while (bytes[end - 1 - slashes] === 92) slashes++
    if (slashes % 2 === 0) return end
  }
  return bytes.length
}

function checkDepth(bytes: Buffer): void {
  let depth = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === 34) i = endOfString(bytes, i)
    else if (byte === 91 || byte === 123) depth++
    else if (byte === 93 || byte === 125) depth--
    if (depth > kMaxDepth)
      throw new RequestError(
        400,
        'nesting-too-deep',
        `The JSON is nested more than ${kMaxDepth} levels deep at byte ${i}.`,
      )
  }
}

export function jsonOf(bytes: Buffer): unknown {
  checkDepth(bytes)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new RequestError(400, 'invalid_json', 'The body is no JSON.')
  }
}

export async function formOf(bytes: Buffer, { headers }: IncomingMessage): Promise<FormData> {
  try {
    const type = { 'content-type': headers['content-type'] ?? '' }
    return await new Response(new Uint8Array(bytes), { headers: type }).formData()
  } catch {
    throw new RequestError(400, 'invalid_form', 'The body is no multipart/form-data.')
  }
}

const kAnswered = new WeakSet<object>()
/** Whether a request of this connection had its response before its end. */
export const isAnswered = (socket: object): boolean => kAnswered.has(socket)

/**
 * Reads the rest of a refused body, up to limits of bytes and of milliseconds without one, so that the client can read
 * the response.
 */
export function drain(message: IncomingMessage, patience: number): void {
  if (message.complete || message.destroyed) return
  const { socket } = message
  kAnswered.add(socket)
  let left = kMaxDrained
  const timer = setTimeout(() => socket.destroySoon(), patience)
  timer.unref()
  message.on('data', (piece: Buffer) => {
    timer.refresh()
    left -= piece.length
    if (left < 0) socket.destroy()
  })
  message.on('end', () => kAnswered.delete(socket))
  for (const event of ['end', 'close'] as const) message.on(event, () => clearTimeout(timer))
}
