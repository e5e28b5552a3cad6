// The message that a reply's deltas add up to.
import { isUnfinished } from '../api/unfinished-json.js'
import type { FinishReason, ReplyDelta, ReplyMessage } from './types.js'

/** An empty message, for addDelta(). */
export function emptyMessage(): ReplyMessage {
  return { role: 'assistant', content: '' }
}

export function addDelta(
  message: ReplyMessage,
  { content, reasoning_content, tool_calls = [] }: ReplyDelta,
): void {
  if (content !== undefined) message.content = (message.content ?? '') + content
  if (reasoning_content !== undefined)
    message.reasoning_content = (message.reasoning_content ?? '') + reasoning_content
  for (const { index, id, function: called } of tool_calls) {
    const calls = (message.tool_calls ??= [])
    calls[index] ??= { id: id ?? '', type: 'function', function: { name: called.name ?? '', arguments: '' } }
    calls[index].function.arguments += called.arguments ?? ''
  }
}

/** After the last delta: a message of calls alone has no content. */
export function endMessage(message: ReplyMessage): void {
  if (message.tool_calls && message.content === '') message.content = null
}

/** The reason why a reply ended, given the reason why its text did: tool_calls if the model ended it with whole calls. */
export function replyReason(reason: FinishReason, { tool_calls: calls = [] }: ReplyMessage): FinishReason {
  const isWhole = calls.length > 0 && !calls.some((call) => isUnfinished(call.function.arguments))
  return isWhole && (reason === 'end' || reason === 'stop') ? 'tool_calls' : reason
}
