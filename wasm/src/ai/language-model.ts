// A model that continues text, as the AI SDK's LanguageModelV4.
import { isUnfinished } from '../api/unfinished-json.js'
import { createChatCompletion, streamChatCompletion } from '../engine/index.js'
import type { ChatCompletionChunk, ChatCompletionDelta, CompletionModel, Usage } from '../openai/types.js'
import { decisionAnswer, decisionParts } from './decision.js'
import type { Loader } from './loader.js'
import { requestOf } from './prompt.js'
import type {
  CallOptions,
  Content,
  FinishReason,
  GenerateAnswer,
  LanguageModel,
  StreamPart,
  TokenUsage,
  Warning,
} from './types.js'

const kFinish = { stop: 'stop', length: 'length', tool_calls: 'tool-calls' } as const

function finishOf(raw: keyof typeof kFinish): FinishReason {
  return { unified: kFinish[raw], raw }
}

function usageOf(usage: Usage | null | undefined): TokenUsage {
  const cacheRead = usage?.prompt_tokens_details.cached_tokens
  const total = usage?.prompt_tokens
  return {
    inputTokens: {
      total,
      noCache: total === undefined ? undefined : total - (cacheRead ?? 0),
      cacheRead,
      cacheWrite: undefined,
    },
    outputTokens: { total: usage?.completion_tokens, text: undefined, reasoning: undefined },
  }
}

const metadataOf = ({ id, created, model }: { id: string; created: number; model: string }) => ({
  id,
  timestamp: new Date(1000 * created),
  modelId: model,
})

/** Converts an answer's deltas to stream parts. Each text, reasoning and call has a start and an end part. */
class PartWriter {
  readonly #calls = new Map<number, { id: string; name: string; input: string }>()
  #count = 0
  #open: { kind: 'text' | 'reasoning'; id: string } | undefined;

  *write(delta: ChatCompletionDelta): Generator<StreamPart> {
    if (delta.reasoning_content) yield* this.#text('reasoning', delta.reasoning_content)
    if (delta.content) yield* this.#text('text', delta.content)
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      let call = this.#calls.get(index)
      if (!call) {
        yield* this.#end()
        yield* this.#endCalls()
        call = { id: id ?? `call-${index}`, name: called?.name ?? '', input: '' }
        this.#calls.set(index, call)
        yield { type: 'tool-input-start', id: call.id, toolName: call.name }
      }
      const more = called?.arguments ?? ''
      if (more === '') continue
      call.input += more
      yield { type: 'tool-input-delta', id: call.id, delta: more }
    }
  }

  *finish(): Generator<StreamPart> {
    yield* this.#end()
    yield* this.#endCalls()
  }

  *#text(kind: 'text' | 'reasoning', delta: string): Generator<StreamPart> {
    if (this.#open?.kind !== kind) {
      yield* this.#end()
      this.#open = { kind, id: String(this.#count++) }
      yield { type: `${kind}-start`, id: this.#open.id }
    }
    yield { type: `${kind}-delta`, id: this.#open.id, delta }
  }

  *#end(): Generator<StreamPart> {
    if (this.#open) yield { type: `${this.#open.kind}-end`, id: this.#open.id }
    this.#open = undefined
  }

  // A call ends when another one begins, or when the answer ends. One that the answer's end left incomplete must not be
  // run, so only its input is reported.
  *#endCalls(): Generator<StreamPart> {
    for (const { id, name, input } of this.#calls.values()) {
      yield { type: 'tool-input-end', id }
      if (!isUnfinished(input)) yield { type: 'tool-call', toolCallId: id, toolName: name, input }
    }
    this.#calls.clear()
  }
}

async function* partsOf(
  chunks: AsyncIterable<ChatCompletionChunk>,
  warnings: Warning[],
  raw: boolean,
): AsyncGenerator<StreamPart> {
  const writer = new PartWriter()
  let finishReason: FinishReason | undefined
  let usage: Usage | null | undefined
  let begun = false
  try {
    for await (const chunk of chunks) {
      if (!begun) yield { type: 'stream-start', warnings: [...warnings, ...warningsOf(chunk)] }
      if (raw) yield { type: 'raw', rawValue: chunk }
      if (!begun) yield { type: 'response-metadata', ...metadataOf(chunk) }
      begun = true
      usage = chunk.usage ?? usage
      const [choice] = chunk.choices
      if (!choice) continue
      yield* writer.write(choice.delta)
      if (choice.finish_reason) finishReason = finishOf(choice.finish_reason)
    }
  } catch (error) {
    if (!begun) yield { type: 'stream-start', warnings }
    yield { type: 'error', error }
    return
  }
  finishReason ??= finishOf('length')
  yield* writer.finish()
  yield { type: 'finish', usage: usageOf(usage), finishReason }
}

/** What is wrong with images and audio that were read nevertheless. */
const warningsOf = ({ warnings = [] }: { warnings?: readonly string[] }): Warning[] =>
  warnings.map((message) => ({ type: 'other', message }))

function streamOf<T>(parts: AsyncGenerator<T>): ReadableStream<T> {
  return new ReadableStream<T>({
    async pull(controller) {
      const next = await parts.next()
      if (next.done) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}

/** Says why a known format stands for the file's chat template. */
function templateWarnings({ file }: CompletionModel): Warning[] {
  return [...file.chatTemplates.values()].flatMap(({ warning }) =>
    warning === undefined ? [] : [{ type: 'other', message: warning }],
  )
}

export function languageModel(
  provider: string,
  modelId: string,
  loaded: Loader<CompletionModel>,
): LanguageModel {
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    supportedUrls: {},
    async doGenerate(options: CallOptions): Promise<GenerateAnswer> {
      const { request, warnings } = requestOf(options, modelId)
      const call = { signal: options.abortSignal }
      const model = await loaded(options.abortSignal)
      const decided = await decisionAnswer(model, options, modelId)
      if (decided) return decided
      warnings.push(...templateWarnings(model))
      const answer = await createChatCompletion(model, { ...request, stream: false }, call)
      const { message, finish_reason } = answer.choices[0]!
      const content: Content[] = []
      if (message.reasoning_content) content.push({ type: 'reasoning', text: message.reasoning_content })
      if (message.content) content.push({ type: 'text', text: message.content })
      for (const { id, function: called } of message.tool_calls ?? [])
        // A call that the answer's end left incomplete must not be run.
        if (!isUnfinished(called.arguments))
          content.push({ type: 'tool-call', toolCallId: id, toolName: called.name, input: called.arguments })
      const usage = usageOf(answer.usage)
      warnings.push(...warningsOf(answer))
      return { content, finishReason: finishOf(finish_reason), usage, response: metadataOf(answer), warnings }
    },
    async doStream(options: CallOptions): Promise<{ stream: ReadableStream<StreamPart> }> {
      const { request, warnings } = requestOf(options, modelId)
      const given = { ...request, stream_options: { include_usage: true } }
      const model = await loaded(options.abortSignal)
      const decided = await decisionAnswer(model, options, modelId)
      if (decided) return { stream: streamOf(decisionParts(decided)) }
      warnings.push(...templateWarnings(model))
      const chunks = streamChatCompletion(model, given, { signal: options.abortSignal })
      return { stream: streamOf(partsOf(chunks, warnings, options.includeRawChunks === true)) }
    },
  }
}
