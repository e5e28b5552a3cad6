// Converts OpenAI's messages to the form that a chat template takes. What the template takes already stays unchanged.
import { GgufError } from '../api/errors.js'
import { adaptContents, joinContents } from './contents.js'
import { adaptCalls, adaptTools, normalizeCalls } from './histories.js'
import { kReasoningFields, type Message, type TemplateProbe } from './probe.js'
import type { DetectOptions } from './types.js'

export interface Conversation {
  readonly messages: readonly Message[]
  readonly tools: readonly unknown[] | undefined
  readonly documents: readonly unknown[] | undefined
  /** the date, for templates that take it as a variable */
  readonly now?: Date | undefined
  /** the variables that the caller gives the template */
  readonly variables?: Readonly<Record<string, unknown>> | undefined
  /** tests whether the vocabulary has a token */
  readonly tokens?: DetectOptions['tokens']
}
/** The template's input. The variable of the tools need not be named `tools`. */
export interface AdaptedConversation {
  readonly messages: readonly Message[]
  readonly variables: Readonly<Record<string, unknown>>
}

function checkMessages(messages: readonly unknown[]): void {
  if (!Array.isArray(messages)) throw new GgufError('invalid-argument', 'The messages must be an array.')
  messages.forEach((message, i) => {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown }
    if (typeof role !== 'string')
      throw new GgufError('invalid-argument', `Message ${i} is not an object with a role.`)
    if (content !== null && content !== undefined && typeof content !== 'string' && !Array.isArray(content))
      throw new GgufError('invalid-argument', `The content of message ${i} is no string or array of parts.`)
  })
}

const kRoles = ['system', 'developer', 'user', 'assistant', 'tool', 'function']

/** Refuses roles that OpenAI's API lacks, unless the template has a use for them. A mistyped role is none. */
async function checkRoles(probe: TemplateProbe, messages: readonly Message[]): Promise<void> {
  for (const [i, { role }] of messages.entries()) {
    if (kRoles.includes(role)) continue
    const { nearest } = await import('../api/nearest.js')
    const near = role === '' ? role : nearest(role.toLowerCase(), kRoles)
    if (probe.names(role) || (near === undefined && (await probe.writes(role)))) continue
    throw new GgufError(
      'invalid-argument',
      `Message ${i} has the role ${JSON.stringify(role)}. Roles are ${kRoles.join(', ')}, and what the chat template names.`,
    )
  }
}

/** Removes fields that are null (except content), and empty lists of calls: both mean that the field is absent. */
function withoutNulls(message: Message): Message {
  const absent = (name: string, value: unknown) =>
    (name !== 'content' && value === null) ||
    (name === 'tool_calls' && Array.isArray(value) && value.length === 0)
  if (!Object.entries(message).some(([name, value]) => absent(name, value))) return message
  return Object.fromEntries(
    Object.entries(message).filter(([name, value]) => !absent(name, value)),
  ) as unknown as Message
}

/** Renames the role developer to system, or system to developer, if the template knows only the other one. */
async function adaptDeveloper(
  probe: TemplateProbe,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  if (!messages.some(({ role }) => role === 'developer' || role === 'system')) return messages
  const developer = await probe.knows('developer')
  const system = !developer || (await probe.system()).first
  return messages.map((message) => {
    if (message.role === 'developer' && !developer) return { ...message, role: 'system' }
    return message.role === 'system' && !system ? { ...message, role: 'developer' } : message
  })
}

const instructs = ({ role }: Message) => role === 'system' || role === 'developer'

/** Moves system messages for which the template has no place into the next user message. */
async function adaptSystem(probe: TemplateProbe, messages: readonly Message[]): Promise<readonly Message[]> {
  if (!messages.some(instructs)) return messages
  const { first, later, several } = await probe.system()
  const begun = messages.findIndex((message) => !instructs(message))
  const leading = messages.slice(0, begun < 0 ? messages.length : begun)
  const others = messages.slice(leading.length)
  const content = leading.map((one) => one.content).reduce((a, b) => joinContents(a, b), undefined)
  const head = leading.length < 2 || several ? leading : [{ ...leading[0]!, content }]
  const out: Message[] = first ? [...head] : []
  let pending = first ? undefined : content
  for (const message of others) {
    if (instructs(message) && !later) pending = joinContents(pending, message.content)
    else if (message.role === 'user' && pending !== undefined) {
      out.push({ ...message, content: joinContents(pending, message.content) })
      pending = undefined
    } else out.push(message)
  }
  return pending === undefined ? out : [...out, { role: 'user', content: pending }]
}

const saysNothing = (message: Message) =>
  message.role === 'assistant' &&
  [undefined, null, ''].includes(message.content as undefined) &&
  !message['tool_calls'] &&
  !message['refusal'] &&
  kReasoningFields.every((field) => !message[field])

/** Joins consecutive messages of the same role if the template requires alternating roles. */
async function adaptRepeats(probe: TemplateProbe, messages: readonly Message[]): Promise<readonly Message[]> {
  const out: Message[] = []
  for (const message of messages) {
    if (saysNothing(message) && !(await probe.silence())) continue
    const last = out.at(-1)
    const { role } = message
    const joined =
      last?.role === role &&
      (role === 'user' || (role === 'assistant' && !last['tool_calls'])) &&
      !(await probe.repeats(role))
    if (joined)
      out[out.length - 1] = { ...last, ...message, content: joinContents(last.content, message.content) }
    else out.push(message)
  }
  return out
}

/** Renames the reasoning field to the one that the template reads. */
async function adaptReasoning(probe: TemplateProbe, message: Message): Promise<Message> {
  if (message.role !== 'assistant') return message
  const given = kReasoningFields.find((field) => typeof message[field] === 'string')
  if (given === undefined || message[given] === '') return message
  const field = await probe.reasoning(given)
  const { [given]: reasoning, content, ...rest } = message
  if (field === undefined) {
    // Ministral 3 takes reasoning as a part of the content.
    if (!(await probe.thinkingParts())) return message
    const texts =
      typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : content
    return { ...rest, content: [{ type: 'thinking', thinking: reasoning }, ...((texts ?? []) as unknown[])] }
  }
  const crowded =
    message['tool_calls'] !== undefined &&
    typeof content === 'string' &&
    content !== '' &&
    !(await probe.reasonsBesideText(field))
  if (crowded) return { ...rest, [field]: joinContents(reasoning, content) }
  if (field === given) return message
  return { ...rest, content, [field]: reasoning }
}

/**
 * Converts a conversation in OpenAI's form to a template's input.
 * Errors: 'invalid-argument' for messages of another form, 'unsupported' for images, sounds, documents and texts for
 * which the template has no place.
 */
export async function adaptConversation(
  probe: TemplateProbe,
  { messages, tools = [], documents = [], tokens, now = new Date(), variables: given }: Conversation,
): Promise<AdaptedConversation> {
  checkMessages(messages)
  await checkRoles(probe, messages)
  if (documents.length > 0 && !(await probe.documents()))
    throw new GgufError('unsupported', 'The chat template does not support documents.')
  let all: readonly Message[] = normalizeCalls(messages.map(withoutNulls))
  const described = await adaptTools(probe, all, tools, tokens)
  all = await adaptDeveloper(probe, described.messages)
  all = await adaptSystem(probe, all)
  all = await adaptCalls(probe, all)
  all = await Promise.all(all.map((message) => adaptReasoning(probe, message)))
  all = await adaptRepeats(probe, all)
  const { variables } = described
  const dated = 'datetime' in variables ? { ...variables, datetime: now.toUTCString() } : variables
  return { messages: await adaptContents(probe, all, given), variables: dated }
}
