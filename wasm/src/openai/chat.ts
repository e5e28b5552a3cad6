import { GgufError } from '../api/errors.js'
import type { ChatMessage } from '../api/text.js'
import {
  answersOf,
  finishOf,
  frameOf,
  usageOf,
  UsageCounter,
  type AnswerEvent,
  type AnswersOptions,
} from './answers.js'
import { checkChatRequest, generateOptionsOf, schemaOf, type Given } from './requests.js'
import type {
  CallOptions,
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  ChoiceLogprobs,
  CompletionModel,
} from './types.js'

/** Variables of the template that a request sets. */
function variablesOf({ reasoning_effort, chat_template_kwargs }: Given<ChatCompletionRequest>) {
  return {
    ...(reasoning_effort !== undefined && { reasoning_effort }),
    ...(reasoning_effort === 'none' && { enable_thinking: false }),
    ...chat_template_kwargs,
  }
}

// Tool calls are not parsed yet: a request that wants them is refused.
function refuseTools({ tools, tool_choice }: Given<ChatCompletionRequest>): void {
  const wanted = tools !== undefined && tools.length > 0 && tool_choice !== 'none'
  if (wanted || (tool_choice !== undefined && tool_choice !== 'none' && tool_choice !== 'auto'))
    throw new GgufError('unsupported', 'Tools are not supported yet: send none, or tool_choice "none".')
}

async function planOf(
  model: CompletionModel,
  request: Given<ChatCompletionRequest>,
  call: CallOptions,
): Promise<AnswersOptions> {
  refuseTools(request)
  const prompt = await model.encodeChat(request.messages as readonly ChatMessage[], {
    tools: request.tools,
    variables: variablesOf(request),
    continue: request.continue,
  })
  return {
    prompts: [prompt],
    n: request.n ?? 1,
    generate: {
      ...generateOptionsOf(request, call),
      maxTokens: request.max_completion_tokens ?? request.max_tokens,
      schema: schemaOf(request.response_format),
    },
    alternatives: request.logprobs ? (request.top_logprobs ?? 0) : undefined,
  }
}

function logprobsOf(
  request: Given<ChatCompletionRequest>,
  content: AnswerEvent['logprobs'],
): ChoiceLogprobs | null {
  return request.logprobs ? { content: [...content], refusal: null } : null
}

async function* chunks(
  model: CompletionModel,
  request: Given<ChatCompletionRequest>,
  call: CallOptions,
): AsyncGenerator<ChatCompletionChunk, void, void> {
  const plan = await planOf(model, request, call)
  const frame = frameOf(model, 'chat.completion.chunk', 'chatcmpl', request.model)
  const counter = new UsageCounter()
  const usage = usageOf(request, counter)
  let begun = -1
  for await (const { index, text, logprobs, finish } of answersOf(model, plan, counter)) {
    if (index > begun) {
      begun = index
      const delta = { role: 'assistant', content: '', refusal: null } as const
      yield { ...frame, choices: [{ index, delta, logprobs: null, finish_reason: null }], ...usage.meanwhile }
    }
    const told = logprobs.length > 0 ? logprobsOf(request, logprobs) : null
    const delta = text === '' ? {} : { content: text }
    if (text !== '' || told)
      yield { ...frame, choices: [{ index, delta, logprobs: told, finish_reason: null }], ...usage.meanwhile }
    if (finish !== undefined)
      yield {
        ...frame,
        choices: [{ index, delta: {}, logprobs: null, finish_reason: finishOf(finish) }],
        ...usage.atFinish(index === plan.n - 1),
      }
  }
  if (usage.ownChunk) yield { ...frame, choices: [], usage: counter.usage }
}

async function whole(
  model: CompletionModel,
  request: Given<ChatCompletionRequest>,
  call: CallOptions,
): Promise<ChatCompletion> {
  const plan = await planOf(model, request, call)
  const frame = frameOf(model, 'chat.completion', 'chatcmpl', request.model)
  const counter = new UsageCounter()
  const choices: ChatCompletion['choices'] = []
  for await (const { index, text, logprobs, finish } of answersOf(model, plan, counter)) {
    const choice = (choices[index] ??= {
      index,
      message: { role: 'assistant', content: '', refusal: null },
      logprobs: logprobsOf(request, []),
      finish_reason: 'length',
    })
    choice.message.content += text
    choice.logprobs?.content.push(...logprobs)
    if (finish !== undefined) choice.finish_reason = finishOf(finish)
  }
  return {
    ...frame,
    choices,
    usage: counter.usage,
    ...(request.metadata && { metadata: { ...request.metadata } }),
  }
}

/**
 * Answers a conversation in OpenAI's shape. With stream: true, chunks as they come.
 * Errors: 'invalid-argument' for options that are unknown or out of range, 'unsupported' for those that a local model cannot
 * follow, and those of chat().
 */
export function createChatCompletion(
  model: CompletionModel,
  request: ChatCompletionRequest & { readonly stream: true },
  call?: CallOptions,
): Promise<AsyncGenerator<ChatCompletionChunk, void, void>>
export function createChatCompletion(
  model: CompletionModel,
  request: ChatCompletionRequest & { readonly stream?: false | null | undefined },
  call?: CallOptions,
): Promise<ChatCompletion>
export function createChatCompletion(
  model: CompletionModel,
  request: ChatCompletionRequest,
  call?: CallOptions,
): Promise<ChatCompletion | AsyncGenerator<ChatCompletionChunk, void, void>>
export async function createChatCompletion(
  model: CompletionModel,
  request: ChatCompletionRequest,
  call: CallOptions = {},
): Promise<ChatCompletion | AsyncGenerator<ChatCompletionChunk, void, void>> {
  const given = checkChatRequest('createChatCompletion()', request, false)
  return given.stream ? chunks(model, given, call) : await whole(model, given, call)
}

/** The same as chunks, whatever request.stream says. */
export function streamChatCompletion(
  model: CompletionModel,
  request: ChatCompletionRequest,
  call: CallOptions = {},
): AsyncGenerator<ChatCompletionChunk, void, void> {
  return chunks(model, checkChatRequest('streamChatCompletion()', request, true), call)
}
