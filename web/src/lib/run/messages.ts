// Turns of a conversation as messages for the chat template.
import type { ChatMessage } from 'ggufscope'
import { partsOf } from './attachments'
import type { Call, Turn } from './conversation.svelte'

/** Whether a call's arguments are whole. Those of a call that a limit or a stop cut are no JSON, and stay unanswered. */
function isWhole(call: Call): boolean {
  try {
    JSON.parse(call.arguments)
    return true
  } catch {
    return false
  }
}

/** A turn as a message for the chat template. */
export function messageOf({ role, text, attachments = [], reasoning, calls: all = [] }: Turn): ChatMessage {
  const calls = role === 'tool' ? all : all.filter(isWhole)
  if (role === 'tool') return { role, content: text, tool_call_id: calls[0]?.id, name: calls[0]?.name }
  const media = partsOf(attachments)
  if (role === 'user' && media.length > 0) return { role, content: [...media, { type: 'text', text }] }
  if (role === 'user') return { role, content: text }
  return {
    role,
    content: text,
    ...(reasoning && { reasoning_content: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
    }),
  }
}
