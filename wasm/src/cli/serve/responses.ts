// OpenAI's Responses API without stored responses: its requests become chat requests, and their chunks its events.
import { either, flag, integer, list, object, oneOf, text as string } from '../../api/checks.js'
import {
  GgufError,
  streamChatCompletion,
  type ChatCompletionChunk,
  type ChatCompletionRequest,
  type CompletionModel,
} from '../../engine/index.js'
import { isUnfinished } from '../../api/unfinished-json.js'
import { RequestError } from './failures.js'
import { checkFields, fieldsOf, listOf, refuse, type Fields, type Item } from './requests.js'

/** A part of a message in the form of chat requests. */
function partOf(part: unknown): unknown {
  const { type, text, image_url, file_data, file_id, refusal } = fieldsOf(part)
  if (file_id !== undefined && file_id !== null && (image_url ?? file_data ?? undefined) === undefined)
    refuse('No files are stored here: send a data: address instead of a file_id.')
  if (type === 'input_text' || type === 'output_text') return { type: 'text', text }
  if (type === 'refusal') return { type: 'text', text: refusal }
  if (type === 'input_image') return { type: 'image_url', image_url: { url: image_url } }
  if (type === 'input_file') return { type: 'file', file: { file_data } }
  return part
}

const contentOf = (content: unknown): unknown => (Array.isArray(content) ? content.map(partOf) : content)

/** Messages of the items of an input. Calls that follow each other are one message. */
function messagesOf(input: unknown, instructions: unknown): Item[] {
  const messages: Item[] = instructions ? [{ role: 'system', content: instructions }] : []
  const items: readonly unknown[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : Array.isArray(input) ? input : []
  if (items.length === 0)
    throw new RequestError(400, 'invalid-argument', 'The request needs an input: a text, or items.')
  let reasoning: string | undefined
  const assistant = (): Item => {
    const last = messages.at(-1)
    const message = last?.['role'] === 'assistant' ? last : { role: 'assistant', content: null }
    if (message !== last) messages.push(message)
    if (reasoning !== undefined) message['reasoning_content'] = reasoning
    reasoning = undefined
    return message
  }
  for (const item of items.map(fieldsOf)) {
    const { type = 'message', role, content, call_id, name, arguments: given, output } = item
    if (type === 'message' && role === 'assistant') assistant()['content'] = contentOf(content)
    else if (type === 'message') messages.push({ role, content: contentOf(content) })
    else if (type === 'function_call') {
      const message = assistant()
      const call = { id: call_id, type: 'function', function: { name, arguments: given } }
      message['tool_calls'] = [...((message['tool_calls'] ?? []) as unknown[]), call]
    } else if (type === 'function_call_output')
      messages.push({ role: 'tool', tool_call_id: call_id, content: contentOf(output) })
    else if (type === 'reasoning')
      reasoning = listOf(content)
        .map((part) => String(fieldsOf(part)['text'] ?? ''))
        .join('')
    else refuse(`An item of type ${JSON.stringify(type)} is not supported.`)
  }
  return messages
}

function toolOf(tool: unknown): unknown {
  // Arguments always match the schema. Clients send "strict" even where the tool has not, and models were not trained on it.
  const { type, strict: _, ...described } = fieldsOf(tool)
  return type === 'function'
    ? { type, function: described }
    : refuse(`A tool of type ${JSON.stringify(type)} is not supported.`)
}

function choiceOf(choice: unknown): unknown {
  const { type, name } = fieldsOf(choice)
  return type === 'function' ? { type, function: { name } } : choice
}

function formatOf(text: unknown): unknown {
  const { type, ...schema } = fieldsOf(fieldsOf(text)['format'])
  if (type === 'json_schema') return { type, json_schema: schema }
  return type === undefined ? undefined : { type }
}

/** The fields that are not passed on. */
const kFields = {
  instructions: string,
  tools: list,
  tool_choice: either(oneOf('none', 'auto', 'required'), object),
  text: object,
  max_output_tokens: integer(-1),
  reasoning: object,
  stream: flag,
  stream_options: object,
  store: flag,
  include: list,
}

// Fields without effect here, and those that need stored responses.
const kIgnored = [
  'store',
  'include',
  'truncation',
  'service_tier',
  'stream_options',
  'max_tool_calls',
  'stream',
]
const kStored = ['previous_response_id', 'conversation', 'prompt', 'background']

/** The chat request for a request of the Responses API. Other fields, such as min_p, are passed on. */
export function chatRequestOf(body: Fields): ChatCompletionRequest {
  for (const name of kStored)
    if (body[name]) refuse(`The field ${name} is not supported: send the whole input.`)
  checkFields(body, kFields)
  const { input, instructions, tools, tool_choice, text, max_output_tokens, reasoning, ...others } = body
  const rest = Object.entries(others).filter(([name]) => !kIgnored.includes(name) && !kStored.includes(name))
  const called = listOf(tools)
  return {
    ...Object.fromEntries(rest),
    messages: messagesOf(input, instructions),
    ...(called.length > 0 && { tools: called.map(toolOf), tool_choice: choiceOf(tool_choice) }),
    response_format: formatOf(text),
    max_completion_tokens: max_output_tokens,
    reasoning_effort: fieldsOf(reasoning)['effort'],
  } as unknown as ChatCompletionRequest
}

const idOf = (prefix: string): string => `${prefix}_${crypto.randomUUID().replaceAll('-', '')}`

/** Makes the output items of an answer, and the events that tell of them. */
class ItemWriter {
  readonly output: Item[] = []
  #text = ''
  #open: 'reasoning' | 'message' | 'function_call' | undefined
  #call = -1;

  *read(delta: ChatCompletionChunk['choices'][number]['delta']): Generator<Item> {
    if (delta.reasoning_content) yield* this.#append('reasoning', delta.reasoning_content)
    if (delta.content) yield* this.#append('message', delta.content)
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      if (index !== this.#call) {
        yield* this.end('completed')
        this.#call = index
        yield* this.#begin('function_call', { call_id: id, name: called?.name, arguments: '' }, 'fc')
      }
      if (called?.arguments) yield this.#delta('response.function_call_arguments', called.arguments)
    }
  }

  *end(status: string): Generator<Item> {
    if (this.#open === undefined) return
    const item = this.output.at(-1)!
    const [text, kind] = [this.#text, this.#open]
    this.#open = undefined
    if (kind === 'function_call') {
      item['arguments'] = text
      yield this.#event('response.function_call_arguments.done', { arguments: text, name: item['name'] })
    } else {
      const part = this.#part(kind, text)
      item['content'] = [part]
      const at = { content_index: 0 }
      yield this.#event(`response.${part.type}.done`, { ...at, text, logprobs: [] })
      yield this.#event('response.content_part.done', { ...at, part })
    }
    item['status'] = kind === 'function_call' && isUnfinished(text) ? 'incomplete' : status
    yield { type: 'response.output_item.done', output_index: this.output.length - 1, item: { ...item } }
  }

  *#append(kind: 'reasoning' | 'message', text: string): Generator<Item> {
    if (this.#open !== kind) {
      yield* this.end('completed')
      const fields = kind === 'message' ? { role: 'assistant' } : { summary: [] }
      yield* this.#begin(kind, { ...fields, content: [] }, kind === 'message' ? 'msg' : 'rs')
      const part = this.#part(kind, '')
      yield this.#event('response.content_part.added', { content_index: 0, part })
    }
    yield this.#delta(`response.${this.#part(kind, '').type}`, text, { content_index: 0, logprobs: [] })
  }

  *#begin(kind: 'reasoning' | 'message' | 'function_call', fields: Item, prefix: string): Generator<Item> {
    this.#open = kind
    this.#text = ''
    const item = { id: idOf(prefix), type: kind, status: 'in_progress', ...fields }
    this.output.push(item)
    yield { type: 'response.output_item.added', output_index: this.output.length - 1, item: { ...item } }
  }

  #part(kind: 'reasoning' | 'message', text: string) {
    return kind === 'message'
      ? { type: 'output_text', text, annotations: [], logprobs: [] }
      : { type: 'reasoning_text', text }
  }

  #delta(type: string, delta: string, fields: Item = {}): Item {
    this.#text += delta
    return this.#event(`${type}.delta`, { ...fields, delta })
  }

  #event(type: string, fields: Item): Item {
    return { type, item_id: this.output.at(-1)!['id'], output_index: this.output.length - 1, ...fields }
  }
}

/** Checks the request. The events of a response; the last one has the whole response. */
export function responseEvents(
  model: CompletionModel,
  body: Fields,
  signal: AbortSignal,
): AsyncGenerator<Item, void, void> {
  const request = { ...chatRequestOf(body), stream_options: { include_usage: true } }
  return eventsOf(streamChatCompletion(model, request, { signal }), request, body)
}

async function* eventsOf(
  chunks: AsyncIterable<ChatCompletionChunk>,
  { model, metadata }: ChatCompletionRequest,
  body: Fields,
): AsyncGenerator<Item, void, void> {
  const writer = new ItemWriter()
  const response: Item = {
    id: idOf('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'in_progress',
    model,
    output: [],
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    metadata: metadata ?? {},
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
  }
  let sequence_number = 0
  const numbered = (event: Item): Item => ({ ...event, sequence_number: sequence_number++ })
  yield numbered({ type: 'response.created', response: { ...response } })
  yield numbered({ type: 'response.in_progress', response: { ...response } })
  let isCut = false
  for await (const { choices, usage } of chunks) {
    const [choice] = choices
    if (choice) for (const event of writer.read(choice.delta)) yield numbered(event)
    isCut ||= choice?.finish_reason === 'length'
    if (!usage) continue
    response['usage'] = {
      input_tokens: usage.prompt_tokens,
      input_tokens_details: usage.prompt_tokens_details,
      output_tokens: usage.completion_tokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.total_tokens,
    }
  }
  const status = isCut ? 'incomplete' : 'completed'
  for (const event of writer.end(status)) yield numbered(event)
  response['status'] = status
  response['output'] = writer.output
  if (isCut) response['incomplete_details'] = { reason: 'max_output_tokens' }
  else response['completed_at'] = Math.floor(Date.now() / 1000)
  yield numbered({ type: `response.${status}`, response })
}

/** The whole response. */
export async function wholeResponse(
  model: CompletionModel,
  body: Fields,
  signal: AbortSignal,
): Promise<unknown> {
  let last: Item | undefined
  for await (const event of responseEvents(model, body, signal)) last = event
  if (last === undefined) throw new GgufError('closed', 'The response ended early.')
  return last['response']
}
