// The prompt of a conversation as token ids.
import type { GgufFile } from '../api/file.js'
import type { ChatMessage } from '../api/text.js'
import type { EncodeChatOptions, MediaPart } from './types.js'

/** mediaTokens: the ids for an image or sound, after that number of images. */
export async function encodeChat(
  file: GgufFile,
  messages: readonly ChatMessage[],
  { specialContent = false, ...rendering }: EncodeChatOptions,
  mediaTokens: (part: MediaPart, images: number) => Promise<readonly number[]>,
): Promise<number[]> {
  const [{ renderChat }, { encodePrompt }, { markMedia, cutAtMarkers }] = await Promise.all([
    import('../text/render-chat.js'),
    import('../text/encode-prompt.js'),
    import('../media/chat-media.js'),
  ])
  const marked = markMedia(messages)
  const prompt = await renderChat(file, marked?.messages ?? messages, {
    ...rendering,
    adapt: rendering.adapt ?? true,
  })
  const tokenizer = file.tokenizer()
  const bos = tokenizer.special.bos
  const encode = (part: typeof prompt): number[] =>
    specialContent ? tokenizer.encode(part.text, { special: true }) : encodePrompt(tokenizer, part)
  const [first, ...others] = marked ? cutAtMarkers(prompt, marked.marker, marked.media.length) : [prompt]
  const tokens = encode(first as typeof prompt)
  let images = 0
  for (const [i, part] of others.entries()) {
    const medium = marked!.media[i]!
    for (const ids of [await mediaTokens(medium, images), encode(part)]) for (const id of ids) tokens.push(id)
    if (medium.type === 'image') images++
  }
  // Some templates write BOS themselves, others rely on the file's flag.
  if (tokenizer.addsBos && bos !== undefined && tokens[0] !== bos) tokens.unshift(bos)
  return tokens
}
