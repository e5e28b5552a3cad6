// Which content the messages of a conversation must have, for chat() and for requests in OpenAI's format.

/** Roles whose messages say something. Templates may give other roles fields of their own. */
const kSpeakers: ReadonlySet<unknown> = new Set(['user', 'system', 'developer', 'tool', 'function'])
/** What an assistant may say instead of content. */
const kInstead = ['tool_calls', 'function_call', 'reasoning_content', 'thinking', 'audio', 'refusal']

function problemOf(message: Readonly<Record<string, unknown>>, where: string): string | undefined {
  const { role, content } = message
  if (content === undefined) {
    const isSilent = role === 'assistant' && kInstead.every((name) => message[name] === undefined)
    return isSilent || kSpeakers.has(role) ? `${where} has no content.` : undefined
  }
  if (content === null || typeof content === 'string' || Array.isArray(content)) return undefined
  return `The content of ${where.replace('M', 'm')} must be a string or an array of parts.`
}

/** Says what is wrong with the content of a message; undefined: nothing. null counts as content, as in llama-server. */
export function contentProblem(what: string, messages: readonly object[]): string | undefined {
  if (messages.length === 0) return `${what} needs at least one message.`
  for (const [i, message] of messages.entries()) {
    const problem = problemOf(message as Record<string, unknown>, `Message ${i} of ${what}`)
    if (problem !== undefined) return problem
  }
  return undefined
}
