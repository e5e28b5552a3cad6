// Converts calls of the AI SDK to OpenAI's requests.
import { GgufError } from '../api/errors.js'
import type { ChatCompletionMessage, ChatCompletionRequest } from '../openai/types.js'
import type { MediaPart } from '../engine/types.js'
import { partOfAddress, partOfFile } from '../media/files.js'
import type { CallOptions, FilePart, Part, PromptMessage, TextPart, ToolOutput, Warning } from './types.js'

type ToolContent = Extract<ToolOutput, { type: 'content' }>['value'][number]

type PromptContent = string | (TextPart | MediaPart)[]

/** The text, image or audio of a part. where: 'a user message' */
function contentPart(part: TextPart | FilePart, where: string): TextPart | MediaPart {
  if (part.type === 'text') return part
  const { mediaType, data } = part
  const what = `A file of ${where}`
  switch (data.type) {
    case 'data':
      return partOfFile(mediaType, data.data, what)
    case 'text':
      return data
    case 'url':
      return partOfAddress(data.url.href, what)
    default:
      throw new GgufError('unsupported', `${what} is a ${data.type}: send its bytes.`)
  }
}

/** Parts of an assistant's message that are neither text nor files, and become other fields of the message. */
const kOther: readonly string[] = [
  'reasoning',
  'tool-call',
  'tool-result',
  'tool-approval-request',
  'tool-approval-response',
]

/** The texts and files among the parts. Texts alone are one text. */
function contentOf(parts: readonly (Part | ToolContent)[], where: string): PromptContent {
  const content = parts.flatMap((part) => {
    if (part.type === 'text' || part.type === 'file') return [contentPart(part, where)]
    if (part.type === 'media') return [partOfFile(part.mediaType, part.data, `A file of ${where}`)]
    if (kOther.includes(part.type)) return []
    throw new GgufError(
      'unsupported',
      `A part of type "${part.type}" of ${where} is not supported: send text.`,
    )
  })
  return content.every((part) => part.type === 'text') ? content.map(({ text }) => text).join('\n') : content
}

function outputOf(output: ToolOutput): PromptContent {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value)
    case 'execution-denied':
      return output.reason ?? 'The execution of this tool was denied.'
    case 'content':
      return contentOf(output.value, "a tool's result")
  }
}

function resultsOf(parts: readonly Part[]): ChatCompletionMessage[] {
  return parts.flatMap((part) =>
    part.type === 'tool-result'
      ? [{ role: 'tool', tool_call_id: part.toolCallId, name: part.toolName, content: outputOf(part.output) }]
      : [],
  )
}

function messagesOf(message: PromptMessage): ChatCompletionMessage[] {
  if (message.role === 'system') return [message]
  const { role, content } = message
  if (role === 'tool') return resultsOf(content)
  if (role === 'user') return [{ role, content: contentOf(content, 'a user message') }]
  const calls = content.flatMap((part) =>
    part.type === 'tool-call'
      ? [
          {
            id: part.toolCallId,
            type: 'function',
            function: { name: part.toolName, arguments: JSON.stringify(part.input) },
          },
        ]
      : [],
  )
  const reasoning = content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('\n')
  const text = contentOf(content, 'an assistant message')
  return [
    {
      role,
      content: text === '' && calls.length > 0 ? null : text,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    ...resultsOf(content),
  ]
}

function formatOf(format: CallOptions['responseFormat']): ChatCompletionRequest['response_format'] {
  if (format?.type !== 'json') return undefined
  if (format.schema === undefined) return { type: 'json_object' }
  const schema = format.schema as { readonly [keyword: string]: unknown }
  return { type: 'json_schema', json_schema: { name: 'answer', schema } }
}

function choiceOf(choice: CallOptions['toolChoice']): unknown {
  if (choice?.type !== 'tool') return choice?.type
  return { type: 'function', function: { name: choice.toolName } }
}

export function requestOf(
  options: CallOptions,
  model: string,
): { request: ChatCompletionRequest; warnings: Warning[] } {
  const warnings: Warning[] = []
  const tools = options.tools?.flatMap((tool) => {
    if (tool.type === 'function') {
      const { name, description, inputSchema: parameters, strict } = tool
      return [{ type: 'function', function: { name, description, parameters, strict } }]
    }
    warnings.push({ type: 'unsupported', feature: `provider-defined tool ${tool.id}` })
    return []
  })
  const { reasoning } = options
  const request: ChatCompletionRequest = {
    model,
    messages: options.prompt.flatMap(messagesOf),
    max_completion_tokens: options.maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    top_k: options.topK,
    presence_penalty: options.presencePenalty,
    frequency_penalty: options.frequencyPenalty,
    seed: options.seed,
    stop: options.stopSequences,
    response_format: formatOf(options.responseFormat),
    reasoning_effort: reasoning === 'provider-default' ? undefined : reasoning,
    ...(tools && tools.length > 0 && { tools, tool_choice: choiceOf(options.toolChoice) }),
    ...options.providerOptions?.['ggufscope'],
  }
  return { request, warnings }
}
