// Decodes files in data: addresses.
import { GgufError } from '../api/errors.js'

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(text, (character) => character.charCodeAt(0))

/** Decodes base64. Error: 'invalid-argument', whose message begins with `what`. */
export function fromBase64(text: string, what: string): Uint8Array<ArrayBuffer> {
  try {
    return bytesOf(atob(text))
  } catch {
    throw new GgufError('invalid-argument', `${what} is not in base64.`)
  }
}

/** Decodes a data: address. what: 'An image'. Error: 'invalid-argument' for another address, which is not fetched. */
export function fileOfAddress(address: string, what: string): Uint8Array<ArrayBuffer> {
  const [, encoding, body] = /^data:[^,]*?(;base64)?,(.*)$/s.exec(address) ?? []
  if (body === undefined)
    throw new GgufError('invalid-argument', `${what} is given by a data: address; others are not fetched.`)
  return encoding ? fromBase64(body, `${what}'s data: address`) : bytesOf(unescape(body))
}
