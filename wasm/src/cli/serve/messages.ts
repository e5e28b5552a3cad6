// Anthropic's Messages API, in the form of llama.cpp's server: requests become chat requests, chunks its events.
import { either, flag, list, object, text } from '../../api/checks.js'
import {
  streamChatCompletion,
  type ChatCompletionChunk,
  type ChatCompletionRequest,
  type CompletionModel,
} from '../../engine/index.js'
import { RequestError } from './failures.js'
import {
  checkFields,
  fieldsOf,
  listOf,
  observed,
  refuse,
  type Fields,
  type Item,
  type ObservedModel,
} from './requests.js'

/** A text or image in the form of chat requests. */
function partOf(block: Fields): unknown {
  const { type, text, source } = block
  if (type === 'text') return { type, text }
  const { type: kind, media_type, data, url } = fieldsOf(source)
  if ((type === 'image' || type === 'document') && (kind === 'base64' || kind === 'url')) {
    if (kind === 'base64' && (typeof media_type !== 'string' || typeof data !== 'string'))
      refuse(`A block of type "${type}" needs source.media_type and source.data, two texts.`)
    const address = kind === 'url' ? url : `data:${String(media_type)};base64,${String(data)}`
    return type === 'image'
      ? { type: 'image_url', image_url: { url: address } }
      : { type: 'file', file: { file_data: address } }
  }
  if (type === 'document' && kind === 'text') return { type: 'text', text: data }
  const of = kind === undefined ? '' : ` with a source of type ${JSON.stringify(kind)}`
  return refuse(`A block of type ${JSON.stringify(type)}${of} is not supported here.`)
}

/** The messages of one of Anthropic's: results of tools come first, as messages of their own. */
function messagesOf(message: unknown): Item[] {
  const { role, content } = fieldsOf(message)
  if ((content ?? undefined) === undefined) return [{ role }] // the check of chat requests refuses it
  const results: Item[] = []
  const parts: unknown[] = []
  const calls: unknown[] = []
  let reasoning = ''
  for (const block of listOf(content).map(fieldsOf)) {
    if (block['type'] === 'tool_result')
      results.push({
        role: 'tool',
        tool_call_id: block['tool_use_id'],
        content: listOf(block['content']).map((part) => partOf(fieldsOf(part))),
      })
    else if (block['type'] === 'tool_use') {
      const { id, name, input } = block
      calls.push({ id, type: 'function', function: { name, arguments: JSON.stringify(input ?? {}) } })
    } else if (block['type'] === 'thinking') reasoning += String(block['thinking'] ?? '')
    else if (block['type'] !== 'redacted_thinking') parts.push(partOf(block))
  }
  if (parts.length + calls.length === 0) return results
  return [
    ...results,
    {
      role,
      content: parts.length > 0 ? parts : null,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(reasoning !== '' && { reasoning_content: reasoning }),
    },
  ]
}

function toolOf(tool: unknown): unknown {
  const { type = 'custom', name, description, input_schema: parameters } = fieldsOf(tool)
  return type === 'custom'
    ? { type: 'function', function: { name, description, parameters } }
    : refuse(`A tool of type ${JSON.stringify(type)} is not supported.`)
}

function choiceOf(choice: Fields): unknown {
  const { type, name } = choice
  if (type === 'tool') return { type: 'function', function: { name } }
  return type === 'any' ? 'required' : type
}

/** The fields of a chat request that say what the answer is like. */
function outputOf(config: unknown): Item {
  const { format, effort } = fieldsOf(config ?? {})
  const { type, schema } = fieldsOf(format ?? {})
  if (type !== undefined && type !== 'json_schema')
    refuse(`An output of type ${JSON.stringify(type)} is not supported.`)
  return {
    ...(type !== undefined && { response_format: { type, json_schema: { name: 'output', schema } } }),
    ...(typeof effort === 'string' && { reasoning_effort: effort }),
  }
}

/** The client of Anthropic then sends whole conversations. */
function refuseThread(): never {
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  const message = 'The server keeps no threads: send the whole conversation.'
  throw new RequestError(400, 'unsupported', message, {}, details)
}

/** The fields that are not passed on. */
const kFields = {
  system: either(text, list),
  tools: list,
  tool_choice: object,
  stop_sequences: list,
  thinking: object,
  output_config: object,
  stream: flag,
  metadata: object,
}

const kIgnored = ['metadata', 'service_tier', 'stream', 'container', 'context_management', 'cache_control']

/** The chat request for a request of the Messages API. Other fields, such as min_p, are passed on. */
export function chatRequestOf(body: Fields): ChatCompletionRequest {
  const { system, messages, tools, tool_choice, stop_sequences, thinking, thread, output_config, ...others } =
    body
  if (thread) refuseThread()
  if (!Array.isArray(messages) || messages.length === 0)
    throw new RequestError(400, 'invalid-argument', 'The request needs messages: an array of at least one.')
  checkFields(body, kFields)
  const rest = Object.entries(others).filter(([name]) => !kIgnored.includes(name))
  const texts = listOf(system).map((block) => partOf(fieldsOf(block)))
  const choice = fieldsOf(tool_choice)
  const called = listOf(tools)
  const all = messages.flatMap(messagesOf)
  const last = all.at(-1)
  // The answer continues a last message of the assistant.
  const isBegun = last?.['role'] === 'assistant' && last['tool_calls'] === undefined
  return {
    ...Object.fromEntries(rest),
    messages: [...(texts.length > 0 ? [{ role: 'system', content: texts }] : []), ...all],
    stop: stop_sequences,
    ...outputOf(output_config),
    ...(isBegun && { continue: true }),
    ...(fieldsOf(thinking)['type'] === 'disabled' && { reasoning_effort: 'none' }),
    ...(called.length > 0 && { tools: called.map(toolOf), tool_choice: choiceOf(choice) }),
    ...(called.length > 0 && choice['disable_parallel_tool_use'] === true && { parallel_tool_calls: false }),
  } as unknown as ChatCompletionRequest
}

/** The fields in which blocks and their deltas hold their content. */
const kBlocks = {
  text: { field: 'text', delta: 'text_delta', part: 'text' },
  thinking: { field: 'thinking', delta: 'thinking_delta', part: 'thinking' },
  tool_use: { field: 'input', delta: 'input_json_delta', part: 'partial_json' },
} as const
type BlockType = keyof typeof kBlocks

/**
 * Makes the blocks of an answer, and the events that tell of them. A call's input is an object: the whole answer lacks a
 * call that is not complete.
 */
class BlockWriter {
  readonly content: Item[] = []
  #open: BlockType | undefined
  #text = ''
  #call = -1
  #count = 0;

  *read(delta: ChatCompletionChunk['choices'][number]['delta']): Generator<Item> {
    if (delta.reasoning_content) yield* this.#append('thinking', delta.reasoning_content)
    if (delta.content) yield* this.#append('text', delta.content)
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      if (index !== this.#call) {
        this.#call = index
        yield* this.#begin('tool_use', { id, name: called?.name, input: {} })
      }
      if (called?.arguments) yield this.#delta(called.arguments)
    }
  }

  *end(): Generator<Item> {
    if (this.#open === undefined) return
    const block = this.content.at(-1)!
    const index = this.#count - 1
    if (this.#open !== 'tool_use') block[kBlocks[this.#open].field] = this.#text
    else if (isObject(this.#text)) block['input'] = JSON.parse(this.#text)
    else this.content.pop()
    this.#open = undefined
    yield { type: 'content_block_stop', index }
  }

  *#append(type: 'text' | 'thinking', text: string): Generator<Item> {
    if (this.#open !== type)
      yield* this.#begin(type, { [type]: '', ...(type === 'thinking' && { signature: '' }) })
    yield this.#delta(text)
  }

  *#begin(type: BlockType, fields: Item): Generator<Item> {
    yield* this.end()
    this.#open = type
    this.#text = ''
    const block = { type, ...fields }
    this.content.push(block)
    yield { type: 'content_block_start', index: this.#count++, content_block: { ...block } }
  }

  #delta(text: string): Item {
    this.#text += text
    const { delta, part } = kBlocks[this.#open!]
    return {
      type: 'content_block_delta',
      index: this.#count - 1,
      delta: { type: delta, [part]: text },
    }
  }
}

/** Whether a text is a JSON object. */
function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const kStops = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const

/** Checks the request. The events of an answer; the message of the first one has the whole answer in the end. */
export function messageEvents(
  model: CompletionModel,
  body: Fields,
  signal: AbortSignal,
): AsyncGenerator<Item, void, void> {
  const request = { ...chatRequestOf(body), stream_options: { include_usage: true } }
  const watched = observed(model)
  return eventsOf(streamChatCompletion(watched.model, request, { signal }), watched, request.model)
}

async function* eventsOf(
  chunks: AsyncIterable<ChatCompletionChunk>,
  watched: ObservedModel,
  model: ChatCompletionRequest['model'],
): AsyncGenerator<Item, void, void> {
  const writer = new BlockWriter()
  const id = `msg_${crypto.randomUUID().replaceAll('-', '')}`
  const usage: Item = { input_tokens: 0, output_tokens: 0 }
  const message: Item = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage } // prettier-ignore
  yield { type: 'message_start', message: { ...message, usage: { ...usage } } }
  for await (const { choices, usage: counted } of chunks) {
    const [choice] = choices
    if (choice) yield* writer.read(choice.delta)
    if (choice?.finish_reason) message['stop_reason'] = kStops[choice.finish_reason]
    if (!counted) continue
    const { cached_tokens } = counted.prompt_tokens_details
    usage['input_tokens'] = counted.prompt_tokens - cached_tokens
    usage['cache_read_input_tokens'] = cached_tokens
    usage['output_tokens'] = counted.completion_tokens
  }
  yield* writer.end()
  message['content'] = writer.content
  if (message['stop_reason'] === 'tool_use' && !writer.content.some(({ type }) => type === 'tool_use'))
    message['stop_reason'] = 'end_turn' // the model ended its answer inside the call
  const word = watched.result?.stopString
  if (word !== undefined && message['stop_reason'] === 'end_turn')
    Object.assign(message, { stop_reason: 'stop_sequence', stop_sequence: word })
  const { stop_reason, stop_sequence } = message
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { ...usage }, message }
  yield { type: 'message_stop' }
}

/** The events as they are sent. */
export async function* sentEvents(events: AsyncIterable<Item>): AsyncGenerator<Item, void, void> {
  for await (const { message, ...event } of events)
    yield event['type'] === 'message_start' ? { ...event, message } : event
}

/** The whole answer. */
export async function wholeMessage(events: AsyncIterable<Item>): Promise<unknown> {
  let message: unknown
  for await (const event of events) message = event['message'] ?? message
  return message
}
