// Work on texts that takes long if they are long: tokens and prompts. It runs in this thread or in another one.
import { pairTokens } from '../../engine/rank.js'
import { encodeChatTexts, type MediaMarks } from '../../engine/encode-chat.js'
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
    /** Of messages whose images and audio are marked. */
    prompt: async (
      messages: readonly ChatMessage[],
      options: EncodeChatOptions,
      marks?: MediaMarks,
    ): Promise<number[][]> => await encodeChatTexts(file, messages, options, marks),
  }
}
export type TextCalls = ReturnType<typeof textCalls>
