// What a system message must say where a chat template knows nothing of tools.
import { schemaOfTool } from './tool-schemas.js'
import type { ChatFormat, FunctionTool } from './types.js'

/** A call as the format writes it; args is JSON. */
function written(format: ChatFormat, name: string, args: string): string {
  const { callOpen, nameOpen, nameClose, callClose, kind, keys } = format
  const call =
    kind === 'named'
      ? `${nameOpen}${name}${nameClose[0] ?? '\n'}${args}`
      : `{"${keys.name[0]!}": "${name}", "${keys.arguments[0]!}": ${args}}`
  return `${callOpen}${call}${callClose}`
}

/** Text for the system message: the functions, and how to call one. */
export function toolInstructions(format: ChatFormat, tools: readonly FunctionTool[]): string {
  const described = tools.map((tool) => {
    const { name, description } = tool.function
    return JSON.stringify({
      name,
      ...(description !== undefined && { description }),
      parameters: schemaOfTool(tool),
    })
  })
  return `You can call these functions:\n${described.join('\n')}\n\nTo call one, reply with nothing but\n${format.open}${written(format, 'NAME', '{"ARGUMENT": VALUE}')}${format.close}`
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

/** A conversation for a template that knows nothing of tools: instructions in the system message, calls and results as text. */
export function withoutTools(
  messages: readonly Message[],
  format: ChatFormat,
  tools: readonly FunctionTool[],
): Message[] {
  const names = new Map<string, string>() // by id of a call
  const out = messages.map(({ role, content, ...rest }): Message => {
    if (role === 'tool' || role === 'function') {
      const name = names.get(String(rest['tool_call_id'])) ?? rest['name']
      const text = typeof content === 'string' ? content : JSON.stringify(content)
      return { role: 'user', content: `Result${name === undefined ? '' : ` of ${String(name)}`}: ${text}` }
    }
    const { tool_calls: calls, ...others } = rest
    if (!Array.isArray(calls) || calls.length === 0) return { role, content, ...rest }
    const texts = (calls as readonly WrittenCall[]).map(({ id, function: called = {} }) => {
      const name = called.name ?? ''
      if (id !== undefined) names.set(id, name)
      const given = called.arguments ?? '{}'
      return written(format, name, typeof given === 'string' ? given : JSON.stringify(given))
    })
    const before = typeof content === 'string' && content !== '' ? `${content}\n` : ''
    return { ...others, role, content: `${before}${format.open}${texts.join(format.between)}${format.close}` }
  })
  if (tools.length === 0) return out
  const text = toolInstructions(format, tools)
  const [first, ...rest] = out
  if (first?.role !== 'system' || typeof first.content !== 'string')
    return [{ role: 'system', content: text }, ...out]
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest]
}
