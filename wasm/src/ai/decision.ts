// generateObject with an enum, by a decision model: one pass instead of an answer token by token.
import type { MediaPart } from '../engine/types.js'
import { markMedia } from '../media/chat-media.js'
import type { Decision, DecisionQuestion } from '../decision/types.js'
import type { ChatCompletionMessage, CompletionModel } from '../openai/types.js'
import { requestOf } from './prompt.js'
import type { CallOptions, GenerateAnswer, JsonValue, StreamPart } from './types.js'

type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null

/** What of the answer is decided: all of it, or its one property. */
interface Wanted {
  readonly property: string | undefined
  readonly schema: Schema
}

/** The schema of the only property of an object, or the schema itself. */
function decidedPart(schema: Schema): Wanted {
  const { type, properties } = schema
  const [only, ...others] = isSchema(properties) ? Object.entries(properties) : []
  if (type === 'object' && only && others.length === 0 && isSchema(only[1]))
    return { property: only[0], schema: only[1] }
  return { property: undefined, schema }
}

/** The question whose options are the schema's values; undefined for other schemas. */
function questionOf({ schema }: Wanted, instructions: string): DecisionQuestion | undefined {
  const values = schema['enum']
  if (Array.isArray(values) && values.length > 1 && values.every((value) => typeof value === 'string'))
    return {
      type: 'choice',
      instructions,
      criteria: Object.fromEntries(values.map((value) => [value, null])),
    }
  return schema['type'] === 'boolean' ? { type: 'noul', instructions } : undefined
}

const textOf = ({ content }: ChatCompletionMessage): string => {
  if (typeof content === 'string') return content
  const parts = (content ?? []) as readonly { readonly text?: unknown }[]
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
}

/** The state is what users and the assistant said; the question, what the system message or the schema says. */
function stateOf(given: readonly ChatCompletionMessage[]): {
  state: unknown
  system: string
  media: readonly MediaPart[]
} {
  const marked = markMedia(given)
  const messages = marked?.messages ?? given
  const system = messages.filter(({ role }) => role === 'system').map(textOf)
  const others = messages.filter(({ role }) => role !== 'system')
  const plain = (message: ChatCompletionMessage): string =>
    marked ? textOf(message).replaceAll(marked.marker, '').trim() : textOf(message)
  const state =
    others.length === 1 ? plain(others[0]!) : others.map((one) => ({ role: one.role, content: plain(one) }))
  return { state, system: system.join('\n'), media: marked?.media ?? [] }
}

const valueOf = (decision: Decision): unknown =>
  decision.type === 'choice' ? decision.choice : decision.type === 'noul' && decision.noul >= 0.5

/** Decides what a schema asks for; undefined if the model or the schema is of another kind. */
export async function decisionAnswer(
  model: CompletionModel,
  options: CallOptions,
  modelId: string,
): Promise<GenerateAnswer | undefined> {
  const { responseFormat, abortSignal } = options
  if (!model.info.abilities.includes('decide') || responseFormat?.type !== 'json') return undefined
  if (!isSchema(responseFormat.schema)) return undefined
  const wanted = decidedPart(responseFormat.schema)
  if (!questionOf(wanted, '')) return undefined
  const { request, warnings } = requestOf(options, modelId)
  const { state, system, media } = stateOf(request.messages)
  const described = [wanted.schema['description'], responseFormat.schema['description'], system]
  const instructions = described.find((text) => typeof text === 'string' && text !== '')
  const question = questionOf(
    wanted,
    (instructions as string | undefined) ?? 'Choose the option that fits best.',
  )!
  let tokens = 0
  const { answer: decision } = await model.decideAll(
    { state, questions: { answer: question }, ...(media.length > 0 && { media }) },
    { signal: abortSignal, onDone: (done) => (tokens = done.tokens) },
  )
  const value = valueOf(decision)
  const text = JSON.stringify(wanted.property === undefined ? value : { [wanted.property]: value })
  const inputTokens = {
    total: tokens,
    noCache: tokens,
    cacheRead: 0,
    cacheWrite: undefined,
  }
  return {
    content: [{ type: 'text', text }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens, outputTokens: { total: 0, text: undefined, reasoning: undefined } },
    response: { id: crypto.randomUUID(), timestamp: new Date(), modelId },
    providerMetadata: { ggufscope: { decision: { ...(decision as unknown as Record<string, JsonValue>) } } },
    warnings,
  }
}

/** The same answer as the parts of a stream. */
export async function* decisionParts(answer: GenerateAnswer): AsyncGenerator<StreamPart> {
  const { content, finishReason, usage, response, warnings, providerMetadata } = answer
  yield { type: 'stream-start', warnings }
  yield { type: 'response-metadata', ...response }
  for (const part of content) {
    if (part.type !== 'text') continue
    yield { type: 'text-start', id: '0' }
    yield { type: 'text-delta', id: '0', delta: part.text }
    yield { type: 'text-end', id: '0' }
  }
  yield { type: 'finish', usage, finishReason, ...(providerMetadata && { providerMetadata }) }
}
