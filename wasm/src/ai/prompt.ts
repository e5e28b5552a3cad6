// Converts calls of the AI SDK to OpenAI's requests.
import { GgufError } from '../api/errors.js'
import type { ChatCompletionMessage, ChatCompletionRequest } from '../openai/types.js'
import type { CallOptions, Part, PromptMessage, TextPart, ToolOutput, Warning } from './types.js'

const isText = (part: Part): part is TextPart => part.type === 'text'

function textOf(parts: readonly Part[], role: string): string {
  for (const { type } of parts)
    if (type === 'file' || type === 'reasoning-file' || type === 'custom')
      throw new GgufError(
        'unsupported',
        `A part of type "${type}" of a ${role} message is not supported: send text.`,
      )
  return parts
    .filter(isText)
    .map(({ text }) => text)
    .join('\n')
}

function outputOf(output: ToolOutput): string {
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
      return output.value.map(({ text, ...other }) => text ?? JSON.stringify(other)).join('\n')
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
  if (role === 'user') return [{ role, content: textOf(content, role) }]
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
  const text = textOf(content, role)
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
