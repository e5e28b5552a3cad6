// Work on texts that takes long if they are long: tokens and prompts. It runs in this thread or in another one.
import { pairTokens } from '../../engine/rank.js'
import { encodeChat } from '../../engine/encode-chat.js'
import { GgufError } from '../../api/errors.js'
import type { EncodeOptions } from '../../api/text.js'
import type { EncodeChatOptions } from '../../engine/index.js'
import type { ChatMessage, GgufFile, RenderChatOptions } from '../../node.js'

export function textCalls(file: GgufFile) {
  return {
    encode: async (texts: readonly string[], options: EncodeOptions): Promise<number[][]> =>
      texts.map((text) => file.tokenizer().encode(text, options)),
    decode: async (ids: readonly number[]): Promise<string> => file.tokenizer().decode(ids),
    /** The inputs of a reranker. */
    pairs: async (query: string, documents: readonly string[]): Promise<number[][]> =>
      documents.map((document) => pairTokens(file, query, document)),
    render: async (messages: readonly ChatMessage[], options: RenderChatOptions): Promise<string> =>
      await file.renderChat(messages, options),
    /** Of messages without images and audio. */
    prompt: async (messages: readonly ChatMessage[], options: EncodeChatOptions): Promise<number[]> =>
      await encodeChat(file, messages, options, () => {
        throw new GgufError('unsupported', 'These messages have images or audio.')
      }),
  }
}
export type TextCalls = ReturnType<typeof textCalls>
