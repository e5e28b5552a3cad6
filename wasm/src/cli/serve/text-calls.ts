// Work on texts and schemas that takes long if they are large: tokens, prompts, grammars. It runs in this thread or in
// another one.
import { pairTokens } from '../../engine/rank.js'
import { encodeChatTexts, type MediaMarks } from '../../engine/encode-chat.js'
import type { EncodeOptions } from '../../api/text.js'
import { replyPlanOf, type ReplyRequest } from '../../chat/plan.js'
import type { EncodeChatOptions, GenerateOptions } from '../../engine/index.js'
import type { ChatMessage, GgufFile, RenderChatOptions } from '../../node.js'
import { schemaToGrammar, type JsonSchema } from '../../schema/index.js'
import { withinLimit } from '../../schema/steps.js'

/** JSON of tokens with their texts; those of incomplete characters with their bytes. Each token is written once. */
function piecesJson(file: GgufFile, ids: readonly number[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const { tokens } = file.tokenizer()
  const written = new Map<number, string>()
  const write = (id: number): string => {
    const { bytes } = tokens.at(id)!
    let piece: string | number[]
    try {
      piece = decoder.decode(bytes)
    } catch {
      piece = [...bytes]
    }
    const json = JSON.stringify({ id, piece })
    written.set(id, json)
    return json
  }
  return `[${ids.map((id) => written.get(id) ?? write(id)).join(',')}]`
}

/** maxSteps: of a schema's conversion; default: what the package allows. */
export function textCalls(file: GgufFile, maxSteps?: number) {
  return {
    encode: async (texts: readonly string[], options: EncodeOptions): Promise<number[][]> =>
      texts.map((text) => file.tokenizer().encode(text, options)),
    decode: async (ids: readonly number[] | Int32Array): Promise<string> => file.tokenizer().decode([...ids]),
    /** The JSON that answers a request for a text's tokens. */
    tokenize: async (text: string, options: EncodeOptions, withPieces: boolean): Promise<string> => {
      const ids = file.tokenizer().encode(text, options)
      return `{"tokens":${withPieces ? piecesJson(file, ids) : JSON.stringify(ids)}}`
    },
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
    /** The grammar of a schema. */
    grammar: async (schema: JsonSchema): Promise<string> =>
      withinLimit(() => schemaToGrammar(schema), maxSteps),
    /** What constrains the reply to a request with tools. */
    reply: async (request: ReplyRequest, promptEnd: string): Promise<GenerateOptions> => {
      const plan = await replyPlanOf({ file, tokenizer: file.tokenizer() }, request)
      return withinLimit(() => plan.optionsAfter(promptEnd), maxSteps)
    },
  }
}
export type TextCalls = ReturnType<typeof textCalls>
