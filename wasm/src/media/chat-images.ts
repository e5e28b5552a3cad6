// Images in the messages of a conversation: each gives its place to a marker that no message can know, and the rendered
// prompt is cut there.
import { GgufError } from '../api/errors.js'
import type { ChatMessage } from '../api/text.js'
import type { Rendered } from '../text/render-template.js'
import type { ImageInput } from './pixels.js'

/** What a part of a message's content may be, beside text. */
interface ImageUrlPart {
  readonly type: 'image_url'
  readonly image_url: string | { readonly url: string }
}
interface ImageContentPart {
  readonly type: 'image'
  readonly image: ImageInput
}
type Part = ImageUrlPart | ImageContentPart | { readonly type: string; readonly text?: string }

function imageOf(part: Part): ImageInput | undefined {
  if (part.type === 'image' && 'image' in part) return part.image
  if (part.type !== 'image_url') return undefined
  const address = 'image_url' in part ? part.image_url : undefined
  const url = typeof address === 'object' && address !== null ? address.url : address
  if (typeof url !== 'string')
    throw new GgufError('invalid-argument', 'A part of type image_url has its address in image_url.url.')
  return url
}

export interface MarkedMessages {
  readonly messages: readonly ChatMessage[]
  readonly images: readonly ImageInput[]
  readonly marker: string
}

/** undefined: there are no images. */
export function markImages(messages: readonly ChatMessage[]): MarkedMessages | undefined {
  const images: ImageInput[] = []
  const marker = `<__media_${crypto.randomUUID()}__>`
  const marked = messages.map((message) => {
    if (!Array.isArray(message.content)) return message
    const before = images.length
    const parts = (message.content as readonly Part[]).map((part) => {
      const image = typeof part === 'object' && part !== null ? imageOf(part) : undefined
      if (image === undefined) return part
      images.push(image)
      return { type: 'text', text: marker }
    })
    if (images.length === before) return message
    return { ...message, content: parts }
  })
  return images.length > 0 ? { messages: marked, images, marker } : undefined
}

/** The prompt between the markers, one more than there are images. */
export function cutAtMarkers({ text, runs }: Rendered, marker: string, count: number): Rendered[] {
  const texts = text.split(marker)
  if (texts.length !== count + 1)
    throw new GgufError(
      'unsupported',
      `The chat template leaves out images: it wrote ${texts.length - 1} of ${count}.`,
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
