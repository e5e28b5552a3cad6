// Converts a conversation's tools, calls and results to the form that the template takes.
import { joinContents, joinedTexts } from './contents.js'
import { detectChatFormat } from './formats.js'
import { callsAsText, resultsAsText, withInstructions } from './instructions.js'
import { objectText, pythonJson } from './json-text.js'
import { toolVariables, type Message, type TemplateProbe } from './probe.js'
import type { DetectOptions, FunctionTool } from './types.js'

interface Called {
  readonly name?: unknown
  readonly arguments?: unknown
}
interface Call {
  readonly id?: unknown
  readonly function?: Called
  readonly [field: string]: unknown
}

const callsOf = (message: Message) => (message['tool_calls'] ?? []) as readonly Call[]
const isResult = ({ role }: Message) => role === 'tool' || role === 'function'

/** Adds missing ids to calls, and missing ids of their calls to results. */
function withIds(messages: readonly Message[]): Message[] {
  let count = 0
  let open: unknown[] = []
  return messages.map((message): Message => {
    const calls = callsOf(message)
    if (calls.length > 0) {
      const all = calls.map((call) => ({ ...call, id: call.id ?? `call${String(count++).padStart(5, '0')}` }))
      open = all.map(({ id }) => id)
      return { ...message, tool_calls: all }
    }
    if (!isResult(message)) return message
    const id = message['tool_call_id'] ?? open[0]
    open = open.filter((one) => one !== id)
    return { ...message, ...(id !== undefined && { tool_call_id: id }) }
  })
}

/**
 * Puts results into the order of their calls: templates that write no ids, or take them from a queue, tell results apart
 * by their places.
 */
function inOrderOfCalls(messages: readonly Message[]): Message[] {
  const out: Message[] = []
  let places = new Map<unknown, number>()
  let results: Message[] = []
  const place = (message: Message) => places.get(message['tool_call_id']) ?? places.size
  const end = () => {
    out.push(...results.sort((a, b) => place(a) - place(b)))
    results = []
  }
  for (const message of messages) {
    if (isResult(message)) {
      results.push(message)
      continue
    }
    end()
    places = new Map(callsOf(message).map(({ id }, i) => [id, i]))
    out.push(message)
  }
  end()
  return out
}

/** Kimi K2's ids: the function's name, and a count over the conversation. Results have those of their calls. */
function countedIds(messages: readonly Message[]): Message[] {
  let count = 0
  let open: { readonly given: unknown; readonly id: string }[] = []
  return messages.map((message): Message => {
    const calls = callsOf(message)
    if (calls.length > 0) {
      const all = calls.map((call) => ({
        ...call,
        id: `functions.${String(call.function?.name ?? call['name'])}:${count++}`,
      }))
      open = all.map(({ id }, i) => ({ given: calls[i]!.id, id }))
      return { ...message, tool_calls: all }
    }
    if (!isResult(message)) return message
    const own = open.findIndex(({ given }) => given !== undefined && given === message['tool_call_id'])
    const [taken] = open.splice(Math.max(own, 0), 1)
    return taken ? { ...message, tool_call_id: taken.id } : message
  })
}

/** Converts OpenAI's older form of calls and results, and adds the names of functions to their results. */
export function normalizeCalls(messages: readonly Message[]): Message[] {
  const names = new Map<unknown, unknown>() // by id
  return inOrderOfCalls(messages).map((message): Message => {
    const { function_call: old, ...rest } = message
    const next = old ? { ...rest, tool_calls: [{ type: 'function', function: old }] } : message
    for (const { id, function: called } of callsOf(next)) names.set(id, called?.name)
    if (!isResult(next)) return next
    const name = next['name'] ?? names.get(next['tool_call_id'])
    return { ...next, role: 'tool', ...(name !== undefined && { name }) }
  })
}

type Described = Readonly<Record<string, unknown>>
const functionOf = (tool: unknown) => (tool as { function?: unknown } | null)?.function ?? tool
const objectOf = (value: unknown): Described =>
  typeof value === 'object' && value !== null ? (value as Described) : {}
const propertiesOf = (tool: unknown) =>
  Object.entries(objectOf(objectOf(objectOf(tool)['parameters'])['properties']))

/** Whether a function lacks a field that is optional in OpenAI's form. */
const isSparse = (tool: unknown): boolean =>
  ['description', 'parameters'].some((name) => (objectOf(tool)[name] ?? null) === null) ||
  propertiesOf(tool).some(([, property]) => objectOf(property)['description'] === undefined)

/** Adds empty descriptions, for templates that write descriptions without a check that they exist. */
function filled(tool: unknown): Described {
  const { parameters, description, ...rest } = objectOf(tool)
  const properties = propertiesOf(tool).map(([key, property]) => [
    key,
    { description: '', ...objectOf(property) },
  ])
  return {
    ...rest,
    description: description ?? '',
    parameters: {
      type: 'object',
      ...objectOf(parameters),
      properties: Object.fromEntries(properties) as Described,
    },
  }
}

/**
 * Converts tools to the template's form. If it has none, instructions go into the system message, and calls become
 * text.
 */
export async function adaptTools(
  probe: TemplateProbe,
  messages: readonly Message[],
  tools: readonly unknown[],
  tokens: DetectOptions['tokens'],
): Promise<{ messages: readonly Message[]; variables: Readonly<Record<string, unknown>> }> {
  const taken = tools.length > 0 ? await probe.tools() : undefined
  const functions = tools.map(functionOf)
  let described = taken && toolVariables(taken, functions)
  if (described && functions.some(isSparse) && !(await probe.takes(described)))
    described = toolVariables(taken!, functions.map(filled))
  const variables = { ...(await probe.noTools()), ...described }
  const spoken = messages.some((message) => callsOf(message).length > 0)
  const results = !messages.some(isResult) || (await probe.resultRole()) !== undefined
  const calls = !spoken || (await probe.calls()) !== undefined
  const told = taken !== undefined || tools.length === 0
  if (calls && results && told) return { messages, variables }
  const format = detectChatFormat({ template: probe.source, tokens })
  let texts = calls ? messages : callsAsText(isCounted(probe) ? countedResults(messages) : messages, format)
  if (!results) texts = resultsAsText(texts)
  const wrapped = functions.map((one) => ({ type: 'function', function: one })) as FunctionTool[]
  return { messages: told ? texts : withInstructions(texts, format, wrapped), variables }
}

/** Whether the ids of calls are Kimi K2's. */
const isCounted = ({ source }: TemplateProbe): boolean =>
  detectChatFormat({ template: source }).name === 'kimi-k2'

/**
 * Results as Kimi K2's templates write them, in messages of the system: these templates count calls that they write
 * themselves, and Jinja's sandbox refuses how they do it.
 */
function countedResults(messages: readonly Message[]): Message[] {
  return countedIds(messages).map((message) =>
    isResult(message)
      ? {
          role: 'system',
          name: message['name'],
          content: joinContents(
            `## Return of ${String(message['tool_call_id'] ?? message['name'])}`,
            joinedTexts(message['content'] ?? '', 'A result'),
            '\n',
          ),
        }
      : message,
  )
}

/** Makes unique ids of nine letters and digits. */
function shortIds(): (id: unknown) => string {
  const known = new Map<unknown, string>()
  return (id) => {
    let short = known.get(id)
    if (short === undefined) {
      const plain = String(id ?? '')
        .replace(/[^a-zA-Z0-9]/g, '')
        .slice(-9)
      short = plain.length === 9 ? plain : plain.padStart(9, '0')
      for (let i = 0; [...known.values()].includes(short); i++) short = String(i).padStart(9, '0')
      known.set(id, short)
    }
    return short
  }
}

async function adaptCall(probe: TemplateProbe, call: Call, at: string): Promise<Call> {
  const form = (await probe.calls())!
  const { function: called, ...rest } = call
  if (called === undefined) return call // another form, which the template may know
  const given = called.arguments ?? '{}'
  const text = typeof given === 'string'
  const kept = text ? form.string : form.object
  const args = kept ? given : text ? objectText(given, `The arguments of ${at}`) : pythonJson(given)
  const adapted = { ...called, arguments: args }
  return form.nested ? { ...call, function: adapted } : { ...rest, ...adapted }
}

/** Writes one message for each call, followed by its result, for templates that take one call in a message. */
function oneByOne(messages: readonly Message[]): Message[] {
  const out: Message[] = []
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!
    const calls = callsOf(message)
    if (calls.length < 2) {
      out.push(message)
      continue
    }
    const results: Message[] = []
    while (i + 1 < messages.length && isResult(messages[i + 1]!)) results.push(messages[++i]!)
    calls.forEach((call, n) => {
      const own = results.findIndex((result) => result['tool_call_id'] === call.id)
      const [result] = own >= 0 ? results.splice(own, 1) : results.splice(0, 1)
      out.push({ ...message, ...(n > 0 && { content: '' }), tool_calls: [call] })
      if (result) out.push(result)
    })
    out.push(...results)
  }
  return out
}

/** Puts text and calls into separate messages. */
function textBeforeCalls(message: Message): Message[] {
  const { content, tool_calls: calls, ...rest } = message
  if (calls === undefined || content === undefined || content === null || content === '') return [message]
  return [
    { ...rest, content },
    { role: message.role, content: null, tool_calls: calls },
  ]
}

export async function adaptCalls(
  probe: TemplateProbe,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  if (!messages.some((message) => isResult(message) || callsOf(message).length > 0)) return messages
  const role = (await probe.resultRole()) ?? 'tool'
  if ((await probe.calls()) === undefined)
    return messages.map((message) => (isResult(message) ? { ...message, role } : message))
  if (!(await probe.callsBesideText())) messages = messages.flatMap(textBeforeCalls)
  const several = messages.some((message) => callsOf(message).length > 1)
  let all: readonly Message[] = several && !(await probe.parallel()) ? oneByOne(messages) : messages
  const ids = await probe.ids()
  if (isCounted(probe)) all = countedIds(all)
  else if (ids !== 'free') all = withIds(all)
  const idOf = ids === 'free' ? undefined : ids === 'short' ? shortIds() : (id: unknown) => String(id ?? '')
  return await Promise.all(
    all.map(async (message, i): Promise<Message> => {
      if (isResult(message)) {
        const id = message['tool_call_id']
        return { ...message, role, ...(idOf && { tool_call_id: idOf(id) }) }
      }
      const calls = callsOf(message)
      if (calls.length === 0) return message
      const adapted = calls.map(async (call, n) => {
        const one = await adaptCall(probe, call, `tool_calls[${n}] of message ${i}`)
        return idOf ? { ...one, id: idOf(one.id) } : one
      })
      return { ...message, tool_calls: await Promise.all(adapted) }
    }),
  )
}
