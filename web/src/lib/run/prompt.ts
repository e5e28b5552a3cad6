// The prompt of an answer, and the pieces that the model generates after it.
import type { ChatMessage } from 'ggufscope'
import type {
  ChatFormat,
  ChatPiece,
  FunctionTool,
  GenerateOptions,
  GenerateResult,
  Model,
  Piece,
  ReplyParser,
  ToolChoice,
} from 'ggufscope/engine'
import { continued } from './continued'
import type { Conversation, Turn } from './conversation.svelte'
import { messageOf } from './messages'

export interface Prompted {
  conversation: Conversation
  /** the turn that receives the answer, the last one of its branch */
  turn: Turn
  /** whether to use the chat template; otherwise the text is completed as it is */
  chat: boolean
  tools: readonly FunctionTool[]
  toolChoice: ToolChoice
}

/** The messages of the prompt. `from`: the first turn that the model gets. */
function messagesOf(
  { conversation, turn }: Pick<Prompted, 'conversation' | 'turn'>,
  from = 0,
): ChatMessage[] {
  const { system } = conversation
  const line = conversation.sentBefore(turn).filter(({ id }) => id >= from)
  return [...(system.trim() ? [{ role: 'system', content: system }] : []), ...line.map(messageOf)]
}

async function encodePrompt(
  model: Model,
  { conversation, turn, chat, tools }: Prompted,
  messages: readonly ChatMessage[],
): Promise<number[]> {
  if (chat) return await model.encodeChat(messages, { tools })
  const text = continued(conversation.sentBefore(turn))
  return model.tokenizer.encode(text, { special: true, bos: true })
}

/** All tokens before the next one: the prompt, and what the turn has already. */
export const promptOf = async (model: Model, question: Prompted, from?: number): Promise<number[]> => [
  ...(await encodePrompt(model, question, messagesOf(question, from))),
  ...question.turn.tokens.map(({ token }) => token),
]

/** A message that is not sent yet, after the last turn of the branch that is shown. */
export interface UnsentMessage extends Omit<Prompted, 'turn' | 'toolChoice'> {
  readonly text: string
}

/** The tokens of a prompt with a message that is not sent yet. */
export async function lengthWith(
  model: Model,
  { conversation, chat, tools, text }: UnsentMessage,
): Promise<number> {
  if (!chat) return model.tokenizer.encode(text, { special: true, bos: true }).length
  const parent = conversation.path.at(-1)?.id
  const turn: Turn = {
    id: Infinity,
    parent,
    role: 'assistant',
    text: '',
    tokens: [],
    state: 'done',
    told: '',
  }
  const messages = [...messagesOf({ conversation, turn }), { role: 'user', content: text }]
  return (await model.encodeChat(messages, { tools })).length
}

/** Generates the answer's pieces. If the turn has tokens already, generation continues after them. */
export async function pieces(
  model: Model,
  question: Prompted,
  options: GenerateOptions,
): Promise<AsyncGenerator<ChatPiece>> {
  const { turn, chat, tools, toolChoice } = question
  const prefix = turn.tokens.map(({ token }) => token)
  const messages = messagesOf(question)
  const offered = tools.length > 0 ? { tools, toolChoice } : {}
  const generateAfter = (tokens: readonly number[]) => (onDone: (result: GenerateResult) => void) =>
    model.generate([...tokens, ...prefix], {
      ...options,
      onDone: (result) => {
        options.onDone?.(result)
        onDone(result)
      },
    })
  if (chat && prefix.length === 0) return model.chat(messages, { ...options, ...offered })
  const tokens = await encodePrompt(model, question, messages)
  if (!chat) return parsed(generateAfter(tokens), [])
  const { createReplyParser, detectChatFormat } = await import('ggufscope/engine')
  const template = [...model.file.chatTemplates.values()][0]?.text ?? ''
  const has = (text: string) => model.tokenizer.find(text) !== undefined
  const format: ChatFormat = detectChatFormat({ template, tokens: { has } })
  const prompt = model.tokenizer.decode(tokens.slice(-24), { special: true })
  const parser = createReplyParser(format, { tools, prompt })
  return parsed(generateAfter(tokens), [turn.text], parser)
}

/** Parses the pieces of an answer that continues after other text. */
async function* parsed(
  generate: (onDone: (result: GenerateResult) => void) => AsyncGenerator<Piece>,
  before: readonly string[],
  parser: ReplyParser = { push: (text) => [{ content: text }], end: () => [] },
): AsyncGenerator<ChatPiece> {
  let result: GenerateResult | undefined
  let deltas = before.flatMap((text) => parser.push(text))
  for await (const piece of generate((done) => (result = done))) {
    deltas.push(...parser.push(piece.text))
    yield { ...piece, deltas }
    deltas = []
  }
  yield { token: -1, text: '', deltas: [...deltas, ...parser.end(result?.finishReason)] }
}
