// Instructions for the system message if a chat template does not support tools.
import { joinContents, joinedTexts } from './contents.js'
import { schemaOfTool } from './schema-of-tool.js'
import { exampleCall, writeCalls } from './write-calls.js'
import type { ChatFormat, FunctionTool } from './types.js'

/** Text for the system message that lists the functions and shows how to call one. */
function toolInstructions(format: ChatFormat, tools: readonly FunctionTool[]): string {
  const described = tools.map((tool) => {
    const { name, description } = tool.function
    return JSON.stringify({
      name,
      ...(description !== undefined && { description }),
      parameters: schemaOfTool(tool),
    })
  })
  return `You can call these functions:\n${described.join('\n')}\n\nTo call one, reply with nothing but\n${exampleCall(format)}`
}

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly [field: string]: unknown
}
interface WrittenCall {
  readonly id?: string
  readonly function?: { readonly name?: string; readonly arguments?: unknown }
}

/** The assistant's calls as text, for a template that does not write calls. */
export function callsAsText(messages: readonly Message[], format: ChatFormat): Message[] {
  let written = 0
  return messages.map((message): Message => {
    const { role, content, tool_calls: calls, ...rest } = message
    if (!Array.isArray(calls) || calls.length === 0) return message
    const all = (calls as readonly WrittenCall[]).map(({ id, function: called = {} }) => {
      const given = called.arguments ?? {}
      const args = typeof given === 'string' ? given.trim() || '{}' : JSON.stringify(given)
      return { name: called.name ?? '', args, id }
    })
    const text = writeCalls(format, all, written)
    written += all.length
    return { ...rest, role, content: joinContents(joinedTexts(content, 'A message with calls'), text, '\n') }
  })
}

/** Results of functions as user text, for a template that has no role for them. */
export function resultsAsText(messages: readonly Message[]): Message[] {
  return messages.map(({ role, content, ...rest }): Message => {
    if (role !== 'tool' && role !== 'function') return { role, content, ...rest }
    const { name } = rest
    const head = `Result${name === undefined ? '' : ` of ${String(name)}`}:`
    return { role: 'user', content: joinContents(head, joinedTexts(content ?? '', 'A result'), ' ') }
  })
}

/** Adds the functions to a conversation's system message. */
export function withInstructions(
  messages: readonly Message[],
  format: ChatFormat,
  tools: readonly FunctionTool[],
): Message[] {
  const text = toolInstructions(format, tools)
  const [first, ...rest] = messages
  if (first?.role !== 'system' || typeof first.content !== 'string')
    return [{ role: 'system', content: text }, ...messages]
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest]
}
