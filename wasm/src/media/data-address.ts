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

export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

const kDigits = new Int8Array(256).fill(-1)
for (const [value, digits] of [
  '0',
  '1',
  '2',
  '3',
  '4',
  '5',
  '6',
  '7',
  '8',
  '9',
  'aA',
  'bB',
  'cC',
  'dD',
  'eE',
  'fF',
].entries())
  for (const digit of digits) kDigits[digit.charCodeAt(0)] = value

/** The bytes of a text in which %XX is a byte. */
function percentDecoded(text: string): Bytes {
  const bytes = new TextEncoder().encode(text)
  let length = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    const high = byte === 0x25 ? kDigits[bytes[i + 1] ?? 0]! : -1
    const low = high < 0 ? -1 : kDigits[bytes[i + 2] ?? 0]!
    if (low >= 0) i += 2
    bytes[length++] = low >= 0 ? high * 16 + low : byte
  }
  return bytes.slice(0, length)
}

/** The body of a data: address, with escapes. It is decoded in the engine's worker. */
interface EscapedFile {
  readonly escaped: string
  readonly isBase64: boolean
  /** how messages of errors call it */
  readonly name: string
}

export type EncodedFile = Base64File | EscapedFile

/** Error: 'invalid-argument'. */
export function decodeFile(file: EncodedFile): Bytes {
  if (!('escaped' in file)) return decodeBase64(file)
  const bytes = percentDecoded(file.escaped)
  // A percent sign is no character of base64; some writers escape those that addresses reserve.
  return file.isBase64 ? decodeBase64({ base64: new TextDecoder().decode(bytes), name: file.name }) : bytes
}

export interface Address {
  readonly mediaType: string
  readonly file: EncodedFile
}

/** Takes a data: address apart. what: 'An image'. Error: 'invalid-argument' for another address, which is not fetched. */
export function readAddress(address: string, what: string): Address {
  const comma = address.indexOf(',')
  if (!/^data:/i.test(address) || comma < 0)
    throw new GgufError('invalid-argument', `${what} is given by a data: address; others are not fetched.`)
  const head = address.slice(5, comma)
  const body = address.slice(comma + 1)
  const mediaType = head.replace(/;\s*base64\s*$/i, '')
  const isBase64 = mediaType !== head
  const name = `${what}'s data: address`
  const isPlain = isBase64 && !body.includes('%')
  return { mediaType, file: isPlain ? { base64: body, name } : { escaped: body, isBase64, name } }
}
