// Options and results of generate() and chat().
import type { RenderChatOptions } from '../api/text.js'
import type {
  FinishReason,
  FunctionTool,
  GrammarTrigger,
  ReplyDelta,
  ReplyMessage,
  ToolChoice,
} from '../chat/types.js'
import type { JsonSchema } from '../schema/index.js'
import type { SamplerOptions } from './sampler-options.js'
import type { LayerPart } from './trace-types.js'

export type { FinishReason } from '../chat/types.js'
export type { SamplerOptions } from './sampler-options.js'

/**
 * How the next token is sampled. A value out of its range is an error 'invalid-argument'. The defaults are
 * llama.cpp's, unless the file has general.sampling.* keys.
 */
export interface SamplingOptions extends SamplerOptions {
  /** A whole number, of which the lower 32 bits are used. Default: a new one every time. */
  seed?: number | undefined
  /** Added to the logits of tokens, by id; -Infinity forbids one. Default: none. */
  logitBias?: Readonly<Record<number, number>> | undefined
}

export interface GenerateOptions extends SamplingOptions {
  /**
   * Largest number of tokens of the answer, from 0. Default: until the answer ends or the context is full.
   */
  maxTokens?: number | undefined
  /**
   * Texts that end the answer; they are not part of it. A control token matches by its name: '<|user|>'.
   * Default: none.
   */
  stop?: string | readonly string[] | undefined
  /** A grammar in GBNF for the answer, which ends where the grammar ends; maxTokens may end it earlier. */
  grammar?: string | undefined
  /**
   * Texts or tokens at which the grammar begins (lazy grammar): at the first one in the answer, which is part
   * of what the grammar matches. Before it any token is allowed, and the answer may end. Default: the grammar
   * begins with the answer.
   */
  grammarTriggers?: readonly GrammarTrigger[] | undefined
  /** Ids of control tokens whose names are part of the answer's text. Default: none. */
  showTokens?: readonly number[] | undefined
  /**
   * Parts of the model that the answer is computed without, as in trace(). What the KV cache holds of other answers is
   * not reused. On the CPU only. Default: none.
   */
  ablate?: readonly LayerPart[] | undefined
  /** A JSON schema: the answer is JSON that it accepts. Errors of schemaToGrammar. */
  schema?: JsonSchema | undefined
  /** Number of most likely tokens to report with each token, from 0 to 100. Default: 0. */
  logprobs?: number | undefined
  /** Never choose an end-of-generation token. Default: false. */
  ignoreEnd?: boolean | undefined
  /**
   * If the context is full, drops the older half of what follows `keep` and continues instead of ending. Default:
   * false.
   */
  contextShift?: boolean | undefined
  /**
   * Tokens at the beginning that contextShift and onOverflow never drop. In chat() also 'system': the tokens before the
   * first message that is not a system message. Default: 4.
   */
  keep?: number | 'system' | undefined
  /**
   * What to do if a prompt leaves no room for the answer. The room is maxTokens, or by default a quarter of the
   * context, and at most half of it. 'error': a prompt longer than the context fails with 'out-of-range'.
   * 'cut-middle': tokens after `keep` are dropped until it fits. 'drop-turns', only in chat(): the oldest turns are
   * left out; system messages stay. Default: 'error'.
   */
  onOverflow?: 'error' | 'cut-middle' | 'drop-turns' | undefined
  /**
   * Prompt-lookup (speculative) decoding: the most tokens to propose at a time, at most 31. If the last tokens
   * occurred earlier in prompt or answer, the tokens after that occurrence are proposed, fewer where many are refused.
   * It makes an answer that quotes faster, and its tokens are the same for any sampling. No effect on encoder-decoder
   * models, nor on recurrent ones on a device. Default: 0.
   */
  lookup?: number | undefined
  /**
   * The most tokens that the draft model proposes at a time, at most 31. It proposes fewer where more would not pay off,
   * and pauses where none do: the engine measures how many are accepted and what they cost. Default: 8 if load() got a
   * draft model.
   */
  draft?: number | undefined
  signal?: AbortSignal | undefined
  /** Called when the answer has ended. */
  onDone?: ((result: GenerateResult) => void) | undefined
}

export interface TokenProbability {
  readonly token: number
  /** natural logarithm, over the whole vocabulary, before sampling */
  readonly logprob: number
}

export interface Piece {
  /**
   * Whole characters. Empty while a character is incomplete, or while the text may be the beginning of a stop string.
   */
  readonly text: string
  /** -1: no token, only text that was held back */
  readonly token: number
  readonly logprob?: number | undefined
  readonly alternatives?: readonly TokenProbability[] | undefined
}

export interface GenerateResult {
  readonly finishReason: FinishReason
  /** the stop string that ended the answer; undefined if none did */
  readonly stopString?: string | undefined
  readonly promptTokens: number
  /** number of these tokens that were still in the KV cache */
  readonly reusedTokens: number
  readonly tokens: number
  /** number of these tokens that prompt-lookup decoding (option lookup) or the draft model proposed */
  readonly acceptedDraftTokens: number
  /** @deprecated The same as acceptedDraftTokens, its name since 0.3. */
  readonly guessedTokens: number
  /** milliseconds until the prompt was computed */
  readonly promptMs: number
  readonly generateMs: number
}

/** Options of chat() beyond those of generate(). */
export interface EncodeChatOptions extends RenderChatOptions {
  /**
   * Converts the texts of control tokens in messages, tools and documents to control tokens. Default: false, so that
   * a user's text cannot end its message or start another.
   */
  specialContent?: boolean | undefined
}
export interface WarningOptions {
  /** Called with what is wrong with images or audio that are read nevertheless, such as a sound file that was cut. */
  onWarning?: ((warning: string) => void) | undefined
}
export interface ChatOptions extends Omit<GenerateOptions, 'onDone'>, EncodeChatOptions {
  /** Functions that the model may call. They exclude grammar and schema. Default: none. */
  tools?: readonly FunctionTool[] | undefined
  /**
   * auto: the model decides; required: at least one call; none: no call, and the prompt has no tools; or one function by its
   * name. Arguments always match the function's schema. Default: 'auto' with tools.
   */
  toolChoice?: ToolChoice | undefined
  /** Whether a reply may have several calls. Default: true. */
  parallelToolCalls?: boolean | undefined
  /** Called when the answer has ended. */
  onDone?: ((result: ChatResult) => void) | undefined
}

/** A piece of a chat. Its text is as the model wrote it, with the markers of calls and reasoning. */
export interface ChatPiece extends Piece {
  /** The text parsed into content, reasoning and calls, as in OpenAI's streams. Text that may be a marker is held back. */
  readonly deltas: readonly ReplyDelta[]
}

export interface ChatResult extends GenerateResult {
  /**
   * The whole reply. It can be added to the messages as it is, unless it ends inside its last call, because of a limit or
   * because the model ended it: the arguments are then no JSON.
   */
  readonly message: ReplyMessage
  /**
   * Why a known format stands for the file's chat template, if it has none, or an empty one; what is wrong with images
   * or audio that were read nevertheless.
   */
  readonly warnings: readonly string[]
}
