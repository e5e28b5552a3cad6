// Tools and reasoning in requests: the options for the engine, and the parsing of replies.
import { GgufError } from '../api/errors.js'
import type { ChatMessage } from '../api/text.js'
import {
  createReplyParser,
  detectChatFormat,
  toolGrammar,
  type ChatFormat,
  type FunctionTool,
  type ReplyParser,
  type ToolChoice,
} from '../chat/index.js'
import type { GenerateOptions } from '../engine/types.js'
import type { Given } from './requests.js'
import type { ChatCompletionRequest, CompletionModel } from './types.js'

// Length of the prompt's end that shows whether the template began the reasoning.
const kPromptEnd = 24

function invalid(message: string): never {
  throw new GgufError('invalid-argument', message)
}

function toolsOf({ tools = [] }: Given<ChatCompletionRequest>): FunctionTool[] {
  const names = new Set<string>()
  return tools.map((tool, i) => {
    const { type = 'function', function: called } = (tool ?? {}) as {
      type?: unknown
      function?: { name?: unknown }
    }
    if (type !== 'function')
      throw new GgufError(
        'unsupported',
        `tools[${i}] is of type ${JSON.stringify(type)}: only functions are known.`,
      )
    const name = called?.name
    if (typeof name !== 'string' || !/^[\w.-]{1,64}$/.test(name))
      invalid(`tools[${i}] needs a function.name of up to 64 letters, digits, _, - and dots.`)
    if (names.has(name)) invalid(`Two tools have the name ${JSON.stringify(name)}.`)
    names.add(name)
    return tool as FunctionTool
  })
}

function choiceOf(
  { tool_choice: choice }: Given<ChatCompletionRequest>,
  tools: readonly FunctionTool[],
): ToolChoice {
  if (choice === undefined) return tools.length > 0 ? 'auto' : 'none'
  if (choice === 'none' || (choice === 'auto' && tools.length === 0)) return 'none'
  const name = (choice as { function?: { name?: unknown } }).function?.name
  const known = choice === 'auto' || choice === 'required' || typeof name === 'string'
  if (!known)
    invalid(
      `tool_choice is ${JSON.stringify(choice)}: it is "auto", "none", "required" or { type: "function", function: { name } }.`,
    )
  if (tools.length === 0) invalid('tool_choice asks for a call, and there are no tools.')
  return choice as ToolChoice
}

/** How a request's replies are generated and parsed. */
export interface ReplyPlan {
  readonly messages: readonly ChatMessage[]
  /** for the template */
  readonly tools: readonly FunctionTool[] | undefined
  /** The options for generate(), given the prompt's tokens. */
  options(prompt: readonly number[]): GenerateOptions
  /** undefined: the whole reply is content. */
  parser(prompt: readonly number[]): ReplyParser | undefined
}

/** constrained: a grammar or schema already constrains the reply. */
export function replyPlanOf(
  model: CompletionModel,
  request: Given<ChatCompletionRequest>,
  constrained: boolean,
): ReplyPlan {
  const given = toolsOf(request)
  const toolChoice = choiceOf(request, given)
  const tools = toolChoice === 'none' ? [] : given
  const messages = request.messages as readonly ChatMessage[]
  if (tools.length > 0 && constrained)
    throw new GgufError(
      'unsupported',
      'Tools cannot be combined with a response_format or a grammar: leave one out.',
    )
  if (constrained) return { messages, tools: undefined, options: () => ({}), parser: () => undefined }
  const format = formatOf(model, tools.length > 0)
  const { tokenizer } = model
  const promptEnd = (prompt: readonly number[]) =>
    tokenizer.decode(prompt.slice(-kPromptEnd), { special: true })
  const controlToken = (name: string): number | undefined => {
    const id = tokenizer.find(name)
    return id !== undefined && tokenizer.tokens.at(id)?.special === true ? id : undefined
  }
  const plain = tools.length === 0 && !format.reasoning && format.layout === 'marked'
  return {
    messages,
    tools: tools.length > 0 ? tools : undefined,
    options(prompt) {
      if (plain) return {}
      const parallelToolCalls = request.parallel_tool_calls ?? true
      return toolGrammar(format, {
        tools,
        toolChoice,
        parallelToolCalls,
        prompt: promptEnd(prompt),
        controlToken,
      })
    },
    parser: (prompt) => (plain ? undefined : createReplyParser(format, { tools, prompt: promptEnd(prompt) })),
  }
}

function formatOf(model: CompletionModel, hasTools: boolean): ChatFormat {
  const templates = model.file.chatTemplates
  const template = (hasTools ? templates.get('tool_use') : undefined) ?? templates.get('default')
  const tokens = { has: (text: string) => model.tokenizer.find(text) !== undefined }
  return detectChatFormat({ template: template?.source === 'file' ? template.text : '', tokens })
}
