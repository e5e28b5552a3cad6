// Shortens prompts that leave no room for an answer.
import { GgufError } from '../api/errors.js'
import type { ChatMessage } from '../api/text.js'
import type { GenerateOptions } from './types.js'

export type Encode = (messages: readonly ChatMessage[]) => Promise<readonly number[]>

/** The largest number of prompt tokens that leaves room for the answer. */
export function promptRoom(contextLength: number, maxTokens: number): number {
  const answer = maxTokens === Infinity ? Math.ceil(contextLength / 4) : maxTokens
  return contextLength - Math.min(answer, Math.floor(contextLength / 2))
}

/** Keeps the first `keep` tokens and as many of the last ones as fit. */
export function cutMiddle(tokens: readonly number[], room: number, keep: number): readonly number[] {
  if (tokens.length <= room) return tokens
  const kept = Math.min(keep, room - 1)
  return [...tokens.slice(0, kept), ...tokens.slice(tokens.length - (room - kept))]
}

const isSystem = ({ role }: ChatMessage): boolean => role === 'system' || role === 'developer'

function systemCount(messages: readonly ChatMessage[]): number {
  const first = messages.findIndex((message) => !isSystem(message))
  return first < 0 ? messages.length : first
}

/** Number of tokens before the first message that is not a system message. */
async function systemTokens(messages: readonly ChatMessage[], encode: Encode): Promise<number> {
  const system = messages.slice(0, systemCount(messages))
  if (system.length === 0) return 0
  // Renders two texts with different first tokens. Their common prefix is what precedes the message.
  const [a, b] = await Promise.all(
    ['1', 'a'].map((content) => encode([...system, { role: 'user', content }])),
  )
  const differs = a!.findIndex((token, i) => token !== b![i])
  return differs < 0 ? a!.length : differs
}

/** Drops the oldest turns until the rest fits. A turn begins with a user message. The last turn always stays. */
async function dropTurns(
  messages: readonly ChatMessage[],
  room: number,
  encode: Encode,
): Promise<readonly number[]> {
  const begin = systemCount(messages)
  const starts = messages.flatMap(({ role }, i) => (i > begin && role === 'user' ? [i] : []))
  const from = async (i: number) => await encode([...messages.slice(0, begin), ...messages.slice(starts[i])])
  // Fewer turns have fewer tokens, so the first start that fits is used.
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((await from(middle)).length <= room) high = middle
    else low = middle + 1
  }
  if (low < starts.length) return await from(low)
  throw new GgufError(
    'out-of-range',
    `The system messages and the last turn have more than ${room} tokens. The rest of the context is for the answer.`,
  )
}

/** The prompt of a chat, and the number of its first tokens to keep. */
export async function fitChat(
  messages: readonly ChatMessage[],
  { contextLength, encode }: { contextLength: number; encode: Encode },
  { keep = 4, onOverflow = 'error', contextShift, maxTokens = Infinity }: GenerateOptions,
): Promise<{ tokens: readonly number[]; keep: number }> {
  const room = promptRoom(contextLength, maxTokens)
  let tokens = await encode(messages)
  const matters = onOverflow !== 'error' || contextShift === true
  const kept = keep !== 'system' ? keep : matters ? await systemTokens(messages, encode) : 0
  if (tokens.length > room && onOverflow === 'drop-turns') tokens = await dropTurns(messages, room, encode)
  if (onOverflow === 'cut-middle') tokens = cutMiddle(tokens, room, kept)
  return { tokens, keep: kept }
}
