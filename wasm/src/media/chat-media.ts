// Images, audio and files in messages. Each image and sound is replaced by a random marker that a message cannot contain, and the rendered
// prompt is split at the markers.
import { GgufError } from '../api/errors.js'
import type { ChatMessage } from '../api/text.js'
import type { AudioInput } from '../audio/types.js'
import type { MediaPart } from '../engine/types.js'
import type { Rendered } from '../text/render-template.js'
import { partOfAddress, type FilePart } from './files.js'
import type { ImageInput } from './image-input.js'

/** A part of a message's content that is not text. */
interface Part {
  readonly type: string
  readonly image?: ImageInput
  readonly image_url?: string | URL | { readonly url: string | URL }
  readonly audio?: AudioInput
  readonly audio_url?: string | URL | { readonly url: string | URL }
  /** OpenAI's form: base64 of a file */
  readonly input_audio?: { readonly data: string; readonly format?: string }
  /** OpenAI's form: a data: address */
  readonly file?: { readonly file_data?: unknown }
}

function addressOf(part: Part, name: 'image_url' | 'audio_url'): string {
  const address = part[name]
  const given: unknown =
    typeof address === 'object' && address !== null && 'url' in address ? address.url : address
  const url = given instanceof URL ? given.href : given
  if (typeof url !== 'string')
    throw new GgufError('invalid-argument', `A part of type ${name} has its address in ${name}.url.`)
  return url
}

function valueOf<T>(part: { readonly type: string }, value: T | undefined): T {
  if (value !== undefined && value !== null) return value
  throw new GgufError('invalid-argument', `A part of type ${part.type} lacks its content, ${part.type}.`)
}

/** The image, audio or text that a part holds; undefined if it is another part. */
function mediumOf(part: Part): FilePart | undefined {
  switch (part.type) {
    case 'image':
      return { type: 'image', image: valueOf(part, part.image) }
    case 'image_url':
      return { type: 'image', image: addressOf(part, 'image_url') }
    case 'audio':
      return { type: 'audio', audio: valueOf(part, part.audio) }
    case 'audio_url':
      return { type: 'audio', audio: addressOf(part, 'audio_url') }
    case 'input_audio': {
      const data = part.input_audio?.data
      if (typeof data !== 'string')
        throw new GgufError('invalid-argument', 'A part of type input_audio has base64 in input_audio.data.')
      return { type: 'audio', audio: { base64: data, name: 'input_audio.data' } }
    }
    case 'file': {
      const address = part.file?.file_data
      if (typeof address === 'string') return partOfAddress(address, "A file's file_data")
      throw new GgufError('unsupported', 'A part of type file has a data: address in file.file_data.')
    }
    case 'video':
    case 'video_url':
      throw new GgufError('unsupported', 'Videos are not supported: send images.')
    default:
      return undefined
  }
}

interface MarkedMessages {
  readonly messages: readonly ChatMessage[]
  readonly media: readonly MediaPart[]
  readonly marker: string
}

/** Finds the images, audio and files in messages; undefined if there are none. */
export function markMedia(messages: readonly ChatMessage[]): MarkedMessages | undefined {
  const media: MediaPart[] = []
  const marker = `<__media_${crypto.randomUUID()}__>`
  const marked = messages.map((message) => {
    if (!Array.isArray(message.content)) return message
    let found = 0
    const parts = (message.content as readonly Part[]).map((part) => {
      const medium = typeof part === 'object' && part !== null ? mediumOf(part) : undefined
      if (medium === undefined) return part
      found++
      if (medium.type === 'text') return medium
      media.push(medium)
      return { type: 'text', text: marker }
    })
    return found === 0 ? message : { ...message, content: parts }
  })
  const isMarked = marked.some((message, i) => message !== messages[i])
  return isMarked ? { messages: marked, media, marker } : undefined
}

/** Splits the prompt at the markers. The result has one text more than there are markers. */
export function cutAtMarkers({ text, runs }: Rendered, marker: string, count: number): Rendered[] {
  const texts = text.split(marker)
  if (texts.length !== count + 1)
    throw new GgufError(
      'unsupported',
      `The chat template leaves out images or audio: it wrote ${texts.length - 1} of ${count}.`,
    )
  const encoder = new TextEncoder()
  const skipped = encoder.encode(marker).length
  let begin = 0
  return texts.map((part) => {
    const end = begin + encoder.encode(part).length
    const cut: { bytes: number; content: boolean }[] = []
    let at = 0
    for (const run of runs) {
      const bytes = Math.min(at + run.bytes, end) - Math.max(at, begin)
      if (bytes > 0) cut.push({ bytes, content: run.content })
      at += run.bytes
    }
    begin = end + skipped
    return { text: part, runs: cut }
  })
}
