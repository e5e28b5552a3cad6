// Converts the tools of a request to options for the engine, and parses the replies.
import { object } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { Tokenizer } from '../api/text.js'
import type { GenerateOptions } from '../engine/types.js'
import { SchemaDocument, type JsonSchema } from '../schema/node.js'
import { detectChatFormat } from './formats.js'
import { toolGrammar } from './grammar.js'
import { createReplyParser } from './parser.js'
import type { ChatFormat, FunctionTool, ReplyParser, ToolChoice } from './types.js'

// The number of tokens at the prompt's end that show whether the template began the reasoning.
const kPromptEnd = 24

function invalid(message: string): never {
  throw new GgufError('invalid-argument', message)
}

function toolsOf(tools: readonly unknown[]): FunctionTool[] {
  const names = new Set<string>()
  return tools.map((tool, i) => {
    const { type = 'function', function: called } = (tool ?? {}) as {
      type?: unknown
      function?: { name?: unknown; parameters?: unknown }
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
    const parameters = called?.parameters ?? {}
    if (typeof parameters !== 'boolean' && object(parameters) !== undefined)
      invalid(`The parameters of tools[${i}] must be a JSON schema.`)
    new SchemaDocument(parameters) // refuses what nests too deep to be written into a prompt
    return tool as FunctionTool
  })
}

/** The tools and the mode of OpenAI's choice "allowed_tools"; others are returned as they are. */
function allowedOf(choice: unknown, tools: readonly FunctionTool[]): [readonly FunctionTool[], unknown] {
  const { type, allowed_tools: allowed } = (choice ?? {}) as { type?: unknown; allowed_tools?: unknown }
  if (type !== 'allowed_tools') return [tools, choice]
  const { mode, tools: named } = (allowed ?? {}) as { mode?: unknown; tools?: unknown }
  if (!['auto', 'required'].includes(mode as string) || !Array.isArray(named))
    invalid('The choice "allowed_tools" needs allowed_tools: { mode: "auto" or "required", tools }.')
  const names = named.map((tool: { function?: { name?: unknown } } | null) => tool?.function?.name)
  for (const name of names)
    if (!tools.some((tool) => tool.function.name === name))
      invalid(`tool_choice names ${JSON.stringify(name)}, and no tool has that name.`)
  return [tools.filter((tool) => names.includes(tool.function.name)), mode]
}

function choiceOf(choice: unknown, tools: readonly FunctionTool[]): ToolChoice {
  if (choice === undefined) return tools.length > 0 ? 'auto' : 'none'
  if (choice === 'none' || (choice === 'auto' && tools.length === 0)) return 'none'
  const name = (choice as { function?: { name?: unknown } } | undefined)?.function?.name
  const known = choice === 'auto' || choice === 'required' || typeof name === 'string'
  if (!known)
    invalid(
      `The choice of tools is ${JSON.stringify(choice)}: it is "auto", "none", "required" or { type: "function", function: { name } }.`,
    )
  if (tools.length === 0) invalid('The choice of tools asks for a call, and there are no tools.')
  return choice as ToolChoice
}

export interface ReplyRequest {
  readonly tools?: readonly unknown[] | undefined
  readonly toolChoice?: unknown
  readonly parallelToolCalls?: boolean | undefined
  /** the name of the chat template, as renderChat() takes it */
  readonly template?: string | undefined
  /** what already constrains the reply */
  readonly grammar?: string | undefined
  readonly schema?: JsonSchema | undefined
}

/** How the replies to a request are generated and parsed. */
interface ReplyPlan {
  /** the tools for the template */
  readonly tools: readonly FunctionTool[] | undefined
  /** The options for generate(), given the prompt's tokens. */
  options(prompt: readonly number[]): Promise<GenerateOptions>
  /** The same, given the prompt's end as text. */
  optionsAfter(promptEnd: string): GenerateOptions
  /** A parser for one reply. */
  parser(prompt: readonly number[]): ReplyParser
}

/** Takes all text as content. */
const plainParser: ReplyParser = {
  push: (text) => (text === '' ? [] : [{ content: text }]),
  end: () => [],
}
const kPlainPlan: ReplyPlan = {
  tools: undefined,
  options: async () => ({}),
  optionsAfter: () => ({}),
  parser: () => plainParser,
}

interface ChatModel {
  readonly file: GgufFile
  readonly tokenizer: Tokenizer
  /** Makes a plan's options elsewhere, as a server does, whose thread must not wait. Default: here. */
  readonly replyOptions?: ((request: ReplyRequest, promptEnd: string) => Promise<GenerateOptions>) | undefined
}

/** Plans a request. Errors: 'invalid-argument' and 'unsupported' for wrong tools, 'not-found' without a template. */
export async function replyPlanOf(model: ChatModel, request: ReplyRequest): Promise<ReplyPlan> {
  const { file, tokenizer, replyOptions } = model
  const { parallelToolCalls = true, template, grammar, schema } = request
  const [given, choice] = allowedOf(request.toolChoice, toolsOf(request.tools ?? []))
  const toolChoice = choiceOf(choice, given)
  const tools = toolChoice === 'none' ? [] : given
  if (tools.length > 0 && grammar !== undefined)
    throw new GgufError('unsupported', 'Tools cannot be combined with a grammar: leave one out.')
  if (grammar !== undefined || (schema !== undefined && tools.length === 0)) return kPlainPlan
  const { templateText } = await import('../text/render-chat.js')
  const format: ChatFormat = detectChatFormat({
    template: await templateText(file.chatTemplates, { template, tools }),
    tokens: { has: (text) => tokenizer.find(text) !== undefined },
  })
  if (tools.length === 0 && !format.reasoning && format.layout === 'marked') return kPlainPlan
  // Negative ids represent images and audio.
  const promptEnd = (prompt: readonly number[]) =>
    tokenizer.decode(
      prompt.slice(-kPromptEnd).filter((id) => id >= 0),
      { special: true },
    )
  const controlToken = (name: string): number | undefined => {
    const id = tokenizer.find(name)
    return id !== undefined && tokenizer.tokens.at(id)?.special === true ? id : undefined
  }
  const optionsAfter = (end: string): GenerateOptions => {
    const prompted = { prompt: end, controlToken }
    const made = toolGrammar(format, { tools, toolChoice, parallelToolCalls, schema, ...prompted })
    // The grammar includes the schema.
    return schema === undefined ? made : { ...made, schema: undefined }
  }
  return {
    tools: tools.length > 0 ? tools : undefined,
    options: async (prompt) => {
      const end = promptEnd(prompt)
      return replyOptions ? await replyOptions(request, end) : optionsAfter(end)
    },
    optionsAfter,
    parser: (prompt) => createReplyParser(format, { tools, prompt: promptEnd(prompt) }),
  }
}
