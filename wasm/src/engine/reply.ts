// The replies of chat(): what is generated, with its content, reasoning and calls told apart.
import { callBack } from '../api/callbacks.js'
import { addDelta, emptyMessage, endMessage, replyReason } from '../chat/message.js'
import type { ReplyDelta, ReplyParser } from '../chat/types.js'
import type { ChatPiece, ChatResult, GenerateOptions, GenerateResult, Piece } from './generate-types.js'

type OnGenerated = (result: GenerateResult) => void

/** The caller's options together with those that the format of a reply needs. */
export function withReplyOptions(
  options: GenerateOptions,
  reply: GenerateOptions,
  onDone: OnGenerated,
): GenerateOptions {
  const showTokens = [...(options.showTokens ?? []), ...(reply.showTokens ?? [])]
  return { ...options, ...reply, showTokens, onDone }
}

/** generate: starts the generation, and calls back when it has ended. */
export async function* readReply(
  { parser, warnings }: { readonly parser: ReplyParser; readonly warnings: readonly string[] },
  onDone: ((result: ChatResult) => void) | undefined,
  generate: (onGenerated: OnGenerated) => AsyncIterable<Piece>,
): AsyncGenerator<ChatPiece, ChatResult, void> {
  const message = emptyMessage()
  const read = (deltas: ReplyDelta[]): ReplyDelta[] => {
    for (const delta of deltas) addDelta(message, delta)
    return deltas
  }
  let generated: GenerateResult | undefined
  for await (const piece of generate((result) => (generated = result)))
    yield { ...piece, deltas: read(parser.push(piece.text)) }
  const { finishReason } = generated!
  const rest = read(parser.end(finishReason))
  if (rest.length > 0) yield { text: '', token: -1, deltas: rest }
  endMessage(message)
  const result: ChatResult = {
    ...generated!,
    finishReason: replyReason(finishReason, message),
    message,
    warnings,
  }
  await callBack(onDone, result)
  return result
}
