// The prompt of a conversation as token ids.
import type { GgufFile } from '../api/file.js'
import type { ChatMessage } from '../api/text.js'
import type { EncodeChatOptions, MediaPart } from './types.js'

/** Where images and audio were in rendered messages. */
export interface MediaMarks {
  readonly marker: string
  readonly count: number
}

/** The ids of a prompt's texts: those before, between and after its images and audio. */
export async function encodeChatTexts(
  file: GgufFile,
  messages: readonly ChatMessage[],
  { specialContent = false, ...rendering }: EncodeChatOptions,
  marks?: MediaMarks,
): Promise<number[][]> {
  const [{ renderChat }, { encodePrompt }, { cutAtMarkers }] = await Promise.all([
    import('../text/render-chat.js'),
    import('../text/encode-prompt.js'),
    import('../media/chat-media.js'),
  ])
  const prompt = await renderChat(file, messages, { ...rendering, adapt: rendering.adapt ?? true })
  const tokenizer = file.tokenizer()
  const bos = tokenizer.special.bos
  const parts = marks ? cutAtMarkers(prompt, marks.marker, marks.count) : [prompt]
  const texts = parts.map((part) =>
    specialContent ? tokenizer.encode(part.text, { special: true }) : encodePrompt(tokenizer, part),
  )
  // Some templates write BOS themselves, others rely on the file's flag.
  const [first] = texts
  if (tokenizer.addsBos && bos !== undefined && first![0] !== bos) first!.unshift(bos)
  return texts
}

/**
 * texts: encodeChatTexts() for the messages without their media. mediaTokens: the ids for an image or sound, after that
 * number of images.
 */
export async function encodeChat(
  messages: readonly ChatMessage[],
  texts: (messages: readonly ChatMessage[], marks: MediaMarks | undefined) => Promise<number[][]>,
  mediaTokens: (part: MediaPart, images: number) => Promise<readonly number[]>,
): Promise<number[]> {
  const { markMedia } = await import('../media/chat-media.js')
  const marked = markMedia(messages)
  const marks = marked && { marker: marked.marker, count: marked.media.length }
  const [first, ...others] = await texts(marked?.messages ?? messages, marks)
  const tokens = first!
  let images = 0
  for (const [i, part] of others.entries()) {
    const medium = marked!.media[i]!
    for (const ids of [await mediaTokens(medium, images), part]) for (const id of ids) tokens.push(id)
    if (medium.type === 'image') images++
  }
  return tokens
}
