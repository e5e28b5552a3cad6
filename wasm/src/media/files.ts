// Files in messages: what a file is follows from its media type.
import { GgufError } from '../api/errors.js'
import type { MediaPart } from '../engine/types.js'
import { decodeBase64, decodeFile, isBase64File, readAddress, type Base64File } from './data-address.js'

export type FilePart = MediaPart | { readonly type: 'text'; readonly text: string }

// application/json, image/svg+xml and similar types are texts.
const kTexts =
  /^(text(\/|$)|application\/(json|xml|yaml|x-yaml|toml|javascript|x-sh|sql)$|[^/]+\/.*\+(json|xml|yaml)$)/

function kindOf(mediaType: string): FilePart['type'] | undefined {
  const type = mediaType.split(';', 1)[0]!.trim().toLowerCase()
  if (kTexts.test(type)) return 'text'
  return (['image', 'audio'] as const).find((kind) => type === kind || type.startsWith(`${kind}/`))
}

/**
 * The part of a message for a file, whose bytes may be in base64. what: 'The file of message 2'. Errors:
 * 'unsupported' for a media type that is neither an image, audio nor text, 'invalid-argument' for bad base64 or UTF-8.
 */
export function partOfFile(
  mediaType: string,
  data: Uint8Array | Base64File | string,
  what: string,
): FilePart {
  const kind = kindOf(mediaType)
  if (kind === undefined)
    throw new GgufError(
      'unsupported',
      `${what} has the media type "${mediaType}": images, audio and texts are understood.`,
    )
  const file = typeof data === 'string' ? { base64: data, name: what } : data
  if (kind === 'image') return { type: 'image', image: file }
  if (kind === 'audio') return { type: 'audio', audio: file }
  const bytes = isBase64File(file) ? decodeBase64(file) : file
  try {
    return { type: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    throw new GgufError('invalid-argument', `${what} is no text in UTF-8.`)
  }
}

/** The same for a file in a data: address. Error: 'invalid-argument' for another address, which is not fetched. */
export function partOfAddress(address: string, what: string): FilePart {
  const { mediaType, file } = readAddress(address, what)
  const kind = kindOf(mediaType || 'text/plain')
  // The engine's worker decodes them.
  if (kind === 'image') return { type: kind, image: address }
  if (kind === 'audio') return { type: kind, audio: address }
  return partOfFile(mediaType || 'text/plain', decodeFile(file), what)
}
