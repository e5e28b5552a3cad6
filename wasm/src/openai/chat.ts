// Answers OpenAI's requests for chat completions.
import type { ReplyDelta, ReplyMessage, ReplyParser } from '../chat/index.js'
import { addDelta, emptyMessage, endMessage, replyReason } from '../chat/message.js'
import { replyPlanOf } from '../chat/plan.js'
import type { ChatMessage } from '../api/text.js'
import type { FinishReason } from '../engine/types.js'
import {
  answersOf,
  finishOf,
  frameOf,
  usageOf,
  UsageCounter,
  type AnswerEvent,
  type AnswersOptions,
} from './answers.js'
import {
  checkCall,
  checkChatRequest,
  generateOptionsOf,
  maxTokensOf,
  schemaOf,
  type Given,
} from './requests.js'
import type {
  CallOptions,
  ChatCompletion,
  ChatFinishReason,
  ChatCompletionChunk,
  ChatCompletionRequest,
  ChoiceLogprobs,
  CompletionModel,
} from './types.js'

/** The template variables that a request sets. */
function variablesOf({ reasoning_effort, chat_template_kwargs }: Given<ChatCompletionRequest>) {
  return {
    ...(reasoning_effort !== undefined && { reasoning_effort }),
    ...(reasoning_effort === 'none' && { enable_thinking: false }),
    ...chat_template_kwargs,
  }
}

interface ChatPlan extends AnswersOptions {
  /** about images and audio */
  readonly warnings: readonly string[]
  /** The parser for one answer. */
  parser(): ReplyParser
}

async function planOf(
  model: CompletionModel,
  request: Given<ChatCompletionRequest>,
  call: CallOptions,
): Promise<ChatPlan> {
  const schema = schemaOf(request.response_format)
  const reply = await replyPlanOf(model, {
    tools: request.tools,
    toolChoice: request.tool_choice,
    parallelToolCalls: request.parallel_tool_calls,
    grammar: request.grammar,
    schema,
  })
  const warnings: string[] = []
  const prompt = await model.encodeChat(request.messages as readonly ChatMessage[], {
    tools: reply.tools,
    variables: variablesOf(request),
    documents: request.documents,
    addGenerationPrompt: request.add_generation_prompt,
    continue: request.continue,
    now: call.now,
    signal: call.signal,
    onWarning: (warning) => void warnings.push(warning),
  })
  return {
    warnings,
    prompts: [prompt],
    n: request.n ?? 1,
    generate: {
      ...generateOptionsOf(request, call),
      maxTokens: maxTokensOf(request.max_completion_tokens ?? request.max_tokens),
      schema,
      ...(await reply.options(prompt)),
    },
    alternatives: request.logprobs ? (request.top_logprobs ?? 0) : undefined,
    parser: () => reply.parser(prompt),
  }
}

/** Converts each answer's events to deltas. */
class Replies {
  readonly #parsers: ReplyParser[] = []
  readonly messages: ReplyMessage[] = []

  constructor(readonly plan: ChatPlan) {}

  read({ index, text, finish }: AnswerEvent): ReplyDelta[] {
    const parser = (this.#parsers[index] ??= this.plan.parser())
    const deltas = [...parser.push(text), ...(finish === undefined ? [] : parser.end(finish))]
    const message = (this.messages[index] ??= emptyMessage())
    for (const delta of deltas) addDelta(message, delta)
    return deltas
  }
  finish(index: number, reason: FinishReason): ChatFinishReason {
    const finish = replyReason(reason, this.messages[index]!)
    return finish === 'tool_calls' ? finish : finishOf(finish)
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
  const replies = new Replies(plan)
  const { warnings } = plan
  let begun = -1
  for await (const event of answersOf(model, plan, counter)) {
    const { index, logprobs, finish } = event
    if (index > begun) {
      begun = index
      const delta = { role: 'assistant', content: '', refusal: null } as const
      const choices = [{ index, delta, logprobs: null, finish_reason: null }]
      yield { ...frame, choices, ...usage.meanwhile, ...(index === 0 && warnings.length > 0 && { warnings }) }
    }
    let told = logprobs.length > 0 ? logprobsOf(request, logprobs) : null
    const deltas: ReplyDelta[] = replies.read(event)
    if (deltas.length === 0 && told) deltas.push({})
    for (const delta of deltas) {
      yield { ...frame, choices: [{ index, delta, logprobs: told, finish_reason: null }], ...usage.meanwhile }
      told = null
    }
    if (finish !== undefined)
      yield {
        ...frame,
        choices: [{ index, delta: {}, logprobs: null, finish_reason: replies.finish(index, finish) }],
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
  const replies = new Replies(plan)
  for await (const event of answersOf(model, plan, counter)) {
    const { index, logprobs, finish } = event
    const choice = (choices[index] ??= {
      index,
      message: { ...emptyMessage(), refusal: null },
      logprobs: logprobsOf(request, []),
      finish_reason: 'length',
    })
    replies.read(event)
    choice.logprobs?.content.push(...logprobs)
    if (finish === undefined) continue
    choice.finish_reason = replies.finish(index, finish)
    Object.assign(choice.message, replies.messages[index])
    endMessage(choice.message)
  }
  return {
    ...frame,
    choices,
    usage: counter.usage,
    ...(plan.warnings.length > 0 && { warnings: plan.warnings }),
    ...(request.metadata && { metadata: { ...request.metadata } }),
  }
}

/**
 * Answers a conversation in OpenAI's format. With stream: true, yields chunks as they arrive. Errors:
 * 'invalid-argument' for options that are unknown or out of range, 'unsupported' for those that a local model cannot
 * support, and those of chat().
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
  checkCall('createChatCompletion()', model, call)
  const given = checkChatRequest('createChatCompletion()', request, false)
  return given.stream ? chunks(model, given, call) : await whole(model, given, call)
}

/** The same as chunks, for any value of request.stream. */
export function streamChatCompletion(
  model: CompletionModel,
  request: ChatCompletionRequest,
  call: CallOptions = {},
): AsyncGenerator<ChatCompletionChunk, void, void> {
  checkCall('streamChatCompletion()', model, call)
  return chunks(model, checkChatRequest('streamChatCompletion()', request, true), call)
}
