// The part of the AI SDK's specifications (version 4) that a provider of text, embeddings, rankings, transcripts and speech needs. The types
// are written here so that the package has no dependency. A test compares them with those of @ai-sdk/provider.
import type { Phonemize } from '../audio/phonemes.js'
import type { Model, SpeechModel as WhisperModel } from '../engine/types.js'
import type { CompletionModel } from '../openai/types.js'

/** The members of a loaded model that the provider uses: of a text model, of a Whisper model, or of one that speaks. */
export type ProviderModel = CompletionModel | Pick<WhisperModel, 'transcribe'> | Pick<Model, 'speak'>

type ProviderOptions = { readonly [provider: string]: { readonly [option: string]: unknown } }

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** Bytes, or base64; an address, which is data: here, because the SDK fetches others; or a text. */
export type FileData =
  | { readonly type: 'data'; readonly data: Uint8Array | string }
  | { readonly type: 'url'; readonly url: URL }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reference' }

/** An image, audio or a text. The media type may be its first half alone, such as image. */
export interface FilePart {
  readonly type: 'file'
  readonly mediaType: string
  readonly data: FileData
}

export type ToolOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'json' | 'error-json'; readonly value: unknown }
  | { readonly type: 'execution-denied'; readonly reason?: string }
  | {
      readonly type: 'content'
      readonly value: readonly (
        | TextPart
        | FilePart
        // AI SDK 5's form of a file in base64, which AI SDK 7 passes on unchanged.
        | { readonly type: 'media'; readonly data: string; readonly mediaType: string }
        | { readonly type: 'custom' }
      )[]
    }

/** A part of a user's or an assistant's message. Other types are refused with an error. */
export type Part =
  | TextPart
  | FilePart
  | { readonly type: 'reasoning'; readonly text: string }
  | {
      readonly type: 'tool-call'
      readonly toolCallId: string
      readonly toolName: string
      readonly input: unknown
    }
  | {
      readonly type: 'tool-result'
      readonly toolCallId: string
      readonly toolName: string
      readonly output: ToolOutput
    }
  | { readonly type: 'reasoning-file' | 'custom' | 'tool-approval-response' }

export type PromptMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user' | 'assistant' | 'tool'; readonly content: readonly Part[] }

export type Tool =
  | {
      readonly type: 'function'
      readonly name: string
      readonly description?: string
      readonly inputSchema: unknown
      readonly strict?: boolean
    }
  | { readonly type: 'provider'; readonly id: string; readonly name: string }

export interface CallOptions {
  readonly prompt: readonly PromptMessage[]
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
  readonly topP?: number
  readonly topK?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly responseFormat?: { readonly type: 'text' } | { readonly type: 'json'; readonly schema?: unknown }
  readonly seed?: number
  readonly tools?: readonly Tool[]
  readonly toolChoice?:
    | { readonly type: 'auto' | 'none' | 'required' }
    | { readonly type: 'tool'; readonly toolName: string }
  readonly reasoning?: string
  readonly includeRawChunks?: boolean
  readonly abortSignal?: AbortSignal
  /** ggufscope: further options of createChatCompletion, such as min_p or chat_template_kwargs */
  readonly providerOptions?: ProviderOptions
}

export type Warning =
  | { type: 'unsupported'; feature: string; details?: string }
  | { type: 'other'; message: string }

export interface FinishReason {
  unified: 'stop' | 'length' | 'tool-calls'
  raw: string
}

export interface TokenUsage {
  inputTokens: {
    total: number | undefined
    noCache: number | undefined
    cacheRead: number | undefined
    cacheWrite: undefined
  }
  outputTokens: { total: number | undefined; text: undefined; reasoning: undefined }
}

export interface ToolCallContent {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  /** JSON text */
  input: string
}
export type Content = { type: 'text'; text: string } | { type: 'reasoning'; text: string } | ToolCallContent

export interface ResponseMetadata {
  id: string
  timestamp: Date
  modelId: string
}

/** What JSON can hold. */
export type JsonValue =
  | null
  | string
  | number
  | boolean
  | JsonValue[]
  | { [name: string]: JsonValue | undefined }

/** What a decision model decided: see Decision. */
export type DecisionMetadata = {
  ggufscope: { decision: { [name: string]: JsonValue | undefined } }
}

export interface GenerateAnswer {
  content: Content[]
  finishReason: FinishReason
  usage: TokenUsage
  response: ResponseMetadata
  /** ggufscope.decision: the decision with its probabilities, if a decision model answered */
  providerMetadata?: DecisionMetadata
  warnings: Warning[]
}

export type StreamPart =
  | { type: 'stream-start'; warnings: Warning[] }
  | ({ type: 'response-metadata' } & ResponseMetadata)
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-end'; id: string }
  | ToolCallContent
  | {
      type: 'finish'
      usage: TokenUsage
      finishReason: FinishReason
      providerMetadata?: DecisionMetadata
    }
  | { type: 'raw'; rawValue: unknown }
  | { type: 'error'; error: unknown }

export interface LanguageModel {
  readonly specificationVersion: 'v4'
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  doGenerate(options: CallOptions): Promise<GenerateAnswer>
  doStream(options: CallOptions): Promise<{ stream: ReadableStream<StreamPart> }>
}

export interface EmbeddingModel {
  readonly specificationVersion: 'v4'
  readonly provider: string
  readonly modelId: string
  readonly maxEmbeddingsPerCall: number
  readonly supportsParallelCalls: false
  doEmbed(options: {
    readonly values: readonly string[]
    readonly dimensions?: number
    readonly abortSignal?: AbortSignal
    /** ggufscope: further options of createEmbedding() */
    readonly providerOptions?: ProviderOptions
  }): Promise<{ embeddings: number[][]; usage: { tokens: number }; warnings: Warning[] }>
}

export interface TranscriptionModel {
  readonly specificationVersion: 'v4'
  readonly provider: string
  readonly modelId: string
  doGenerate(options: {
    /** a file's bytes, or base64 */
    readonly audio: Uint8Array | string
    readonly timestampGranularities?: readonly ('word' | 'segment')[]
    readonly abortSignal?: AbortSignal
    /** ggufscope: further options of transcribe(), such as language or prompt */
    readonly providerOptions?: ProviderOptions
  }): Promise<{
    text: string
    segments: { text: string; startSecond: number; endSecond: number }[]
    words?: { text: string; startSecond: number; endSecond: number }[]
    language: string
    durationInSeconds: number
    warnings: Warning[]
    response: { timestamp: Date; modelId: string }
  }>
}

export interface SpeechModelSettings {
  /** as in speak(), for models that read phonemes such as Kokoro */
  phonemize?: Phonemize | undefined
}

export interface SpeechModel {
  readonly specificationVersion: 'v4'
  readonly provider: string
  readonly modelId: string
  doGenerate(options: {
    readonly text: string
    /** 'default'; for Kokoro a name of the model's info.voices */
    readonly voice?: string
    /** wav or pcm; default: wav */
    readonly outputFormat?: string
    readonly instructions?: string
    readonly speed?: number
    readonly language?: string
    readonly abortSignal?: AbortSignal
    /** ggufscope: temperature, seed and ipa */
    readonly providerOptions?: ProviderOptions
  }): Promise<{
    audio: Uint8Array
    warnings: Warning[]
    response: { timestamp: Date; modelId: string }
  }>
}

export interface RerankingModel {
  readonly specificationVersion: 'v4'
  readonly provider: string
  readonly modelId: string
  doRerank(options: {
    readonly documents:
      | { readonly type: 'text'; readonly values: readonly string[] }
      | { readonly type: 'object'; readonly values: readonly object[] }
    readonly query: string
    readonly topN?: number
    readonly abortSignal?: AbortSignal
    /** ggufscope: further options of createRerank() */
    readonly providerOptions?: ProviderOptions
  }): Promise<{ ranking: { index: number; relevanceScore: number }[]; warnings: Warning[] }>
}
