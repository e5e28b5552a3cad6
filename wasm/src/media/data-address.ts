// Decodes files in base64 and in data: addresses.
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'

/** A file in base64. It is decoded in the engine's worker. */
export interface Base64File {
  readonly base64: string
  /** how messages of errors call it; default: 'A file' */
  readonly name?: string | undefined
}

export const isBase64File = (value: unknown): value is Base64File =>
  typeof value === 'object' && value !== null && typeof (value as Base64File).base64 === 'string'

// Browsers since 2025.
const { fromBase64: native } = Uint8Array as unknown as { fromBase64?: (text: string) => Bytes }

/** Error: 'invalid-argument'. */
export function decodeBase64({ base64, name = 'A file' }: Base64File): Bytes {
  try {
    if (native) return native.call(Uint8Array, base64)
    const characters = atob(base64)
    const bytes = new Uint8Array(characters.length)
    for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i)
    return bytes
  } catch {
    throw new GgufError('invalid-argument', `${name} is not in base64.`)
  }
}

const hexDigit = (byte: number | undefined): number => {
  const digit = Number.parseInt(String.fromCharCode(byte ?? 0), 16)
  return Number.isNaN(digit) ? -1 : digit
}

/** The bytes of a text in which %XX is a byte. */
export function percentDecoded(text: string): Bytes {
  const from = new TextEncoder().encode(text)
  const to = new Uint8Array(from.length)
  let length = 0
  for (let i = 0; i < from.length; i++) {
    const byte = from[i]!
    const [high, low] = byte === 0x25 ? [hexDigit(from[i + 1]), hexDigit(from[i + 2])] : [-1, -1]
    if (high >= 0 && low >= 0) i += 2
    to[length++] = high >= 0 && low >= 0 ? high * 16 + low : byte
  }
  return to.slice(0, length)
}

export interface Address {
  readonly mediaType: string
  readonly file: Bytes | Base64File
}

/** Takes a data: address apart. what: 'An image'. Error: 'invalid-argument' for another address, which is not fetched. */
export function readAddress(address: string, what: string): Address {
  const comma = address.indexOf(',')
  if (!/^data:/i.test(address) || comma < 0)
    throw new GgufError('invalid-argument', `${what} is given by a data: address; others are not fetched.`)
  const head = address.slice(5, comma)
  const body = address.slice(comma + 1)
  const mediaType = head.replace(/;\s*base64\s*$/i, '')
  if (mediaType === head) return { mediaType, file: percentDecoded(body) }
  // A percent sign is no character of base64; some writers escape those that addresses reserve.
  const base64 = body.includes('%') ? new TextDecoder().decode(percentDecoded(body)) : body
  return { mediaType, file: { base64, name: `${what}'s data: address` } }
}

export const fileOfAddress = (address: string, what: string): Bytes | Base64File =>
  readAddress(address, what).file
