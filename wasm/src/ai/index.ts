// The entry ggufscope/ai: a provider for the AI SDK.
import { callback, checkArgument, checkOptions, either, object } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { CompletionModel } from '../openai/types.js'
import { createEmbedding, createRerank } from '../engine/index.js'
import { untilAbort } from '../runtime/until-abort.js'
import { languageModel } from './language-model.js'
import type { Loader } from './loader.js'
import { speechModel } from './speech-model.js'
import { transcriptionModel } from './transcription-model.js'
import type {
  EmbeddingModel,
  LanguageModel,
  ProviderModel,
  RerankingModel,
  SpeechModel,
  SpeechModelSettings,
  TranscriptionModel,
} from './types.js'

export { GgufError } from '../api/errors.js'
export type * from './types.js'

/** A loaded model, a promise of one, or a function that loads it at its first use. */
export type ModelSource = ProviderModel | PromiseLike<ProviderModel> | (() => PromiseLike<ProviderModel>)

/** A provider for the AI SDK, for streamText, generateText, embedMany, rerank, transcribe and generateSpeech. */
export interface GgufscopeProvider {
  (modelId?: string): LanguageModel
  readonly specificationVersion: 'v4'
  languageModel(modelId?: string): LanguageModel
  embeddingModel(modelId?: string): EmbeddingModel
  rerankingModel(modelId?: string): RerankingModel
  /** For Whisper models. */
  transcriptionModel(modelId?: string): TranscriptionModel
  /** For models that speak. */
  speechModel(modelId?: string, settings?: SpeechModelSettings): SpeechModel
  /** Always throws an error of code 'unsupported'. */
  imageModel(modelId: string): never
}

const kProvider = 'ggufscope'
const kDefault = 'default'

function embeddingModel(modelId: string, loaded: Loader<CompletionModel>): EmbeddingModel {
  return {
    specificationVersion: 'v4',
    provider: kProvider,
    modelId,
    maxEmbeddingsPerCall: Infinity,
    supportsParallelCalls: false,
    async doEmbed({ values, dimensions, abortSignal, providerOptions }) {
      if (values.length === 0) return { embeddings: [], usage: { tokens: 0 }, warnings: [] }
      const request = { dimensions, ...providerOptions?.['ggufscope'], input: values } as const
      const model = await loaded(abortSignal)
      const { data, usage } = await createEmbedding(model, request, { signal: abortSignal })
      const embeddings = data.map(({ embedding }) => embedding)
      return { embeddings, usage: { tokens: usage.total_tokens }, warnings: [] }
    },
  }
}

function rerankingModel(modelId: string, loaded: Loader<CompletionModel>): RerankingModel {
  return {
    specificationVersion: 'v4',
    provider: kProvider,
    modelId,
    async doRerank({ documents, query, topN, abortSignal, providerOptions }) {
      const texts =
        documents.type === 'text' ? documents.values : documents.values.map((value) => JSON.stringify(value))
      const request = { top_n: topN, ...providerOptions?.['ggufscope'], query, documents: texts }
      const model = await loaded(abortSignal)
      const { results } = await createRerank(model, request, { signal: abortSignal })
      const ranking = results.map(({ index, relevance_score }) => ({
        index,
        relevanceScore: relevance_score,
      }))
      return { ranking, warnings: [] }
    },
  }
}

const isSource = (given: unknown): given is ModelSource =>
  typeof given === 'function' ||
  (typeof given === 'object' &&
    given !== null &&
    ('then' in given || 'generate' in given || 'transcribe' in given || 'speak' in given))

/**
 * A provider for the AI SDK (version 4 of its specification) with one model, or with several by name. The provider does
 * not close models: the caller does.
 */
export function createGgufscope(
  models: ModelSource | Readonly<Record<string, ModelSource>>,
): GgufscopeProvider {
  checkArgument('createGgufscope()', 'models', models, either(object, callback))
  const named: Readonly<Record<string, ModelSource>> = isSource(models) ? { [kDefault]: models } : models
  const started = new Map<string, Promise<ProviderModel>>()
  const loaderOf = (id: string): Loader<ProviderModel> => {
    const source = Object.hasOwn(named, id) ? named[id] : undefined
    if (source === undefined)
      throw new GgufError('not-found', `There is no model "${id}", but ${Object.keys(named).join(', ')}.`)
    return (signal) => {
      const known = started.get(id) ?? Promise.resolve(typeof source === 'function' ? source() : source)
      started.set(id, known)
      known.catch(() => started.delete(id)) // the next call tries again
      return untilAbort(known, signal)
    }
  }
  const textLoaderOf = (id: string): Loader<CompletionModel> => {
    const loaded = loaderOf(id)
    return async (signal) => {
      const model = await loaded(signal)
      if ('generate' in model) return model
      throw new GgufError('unsupported', `The model "${id}" only transcribes: it does not generate text.`)
    }
  }
  const first = Object.keys(named)[0] ?? kDefault
  const text = (id = first): LanguageModel => languageModel(kProvider, id, textLoaderOf(id))
  return Object.assign(text.bind(undefined), {
    specificationVersion: 'v4' as const,
    languageModel: text,
    embeddingModel: (id = first) => embeddingModel(id, textLoaderOf(id)),
    rerankingModel: (id = first) => rerankingModel(id, textLoaderOf(id)),
    speechModel: (id = first, settings = {}) => {
      checkOptions('speechModel()', settings, { phonemize: callback })
      return speechModel(kProvider, id, loaderOf(id), settings)
    },
    transcriptionModel: (id = first) => transcriptionModel(kProvider, id, loaderOf(id)),
    imageModel: (id: string): never => {
      throw new GgufError(
        'unsupported',
        `There is no image model "${id}": GGUF models make texts and vectors here.`,
      )
    },
  })
}
