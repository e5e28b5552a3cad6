// Embeds many texts, with progress.
import { withCallbacks } from '../api/callbacks.js'
import {
  checkArgument,
  checkOptions,
  integer,
  kProgressChecks,
  listOf,
  modelWith,
  text,
} from '../api/checks.js'
import { kEmbed } from './options.js'
import type { EmbedOptions, Model } from './types.js'

export interface EmbedAllOptions extends Pick<EmbedOptions, 'pooling' | 'normalize' | 'signal'> {
  /** Number of texts that the engine gets together. Other calls of the model are done between two batches. Default: 32. */
  batch?: number | undefined
  /** Called after each batch with the number of texts. */
  onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined
}

/**
 * The embeddings of many texts, in their order. model: what load() returned. Errors: those of embed(). After an error or
 * an abort, the vectors of earlier batches are lost: embed the texts in parts if they must not be.
 */
export async function embedAll(
  model: Pick<Model, 'embed'>,
  texts: readonly string[],
  options: EmbedAllOptions = {},
): Promise<Float32Array[]> {
  checkArgument('embedAll()', 'model', model, modelWith('embed'))
  checkArgument('embedAll()', 'texts', texts, listOf(text, 'an array of texts'))
  const { pooling, normalize } = kEmbed
  checkOptions('embedAll()', options, { ...kProgressChecks, batch: integer(1), pooling, normalize })
  return await withCallbacks(options, async ({ batch = 32, onProgress, signal, ...embedding }) => {
    const vectors: Float32Array[] = []
    for (let at = 0; at < texts.length; at += batch) {
      signal?.throwIfAborted()
      const some = await model.embed(texts.slice(at, at + batch), { ...embedding, signal })
      for (const vector of some) vectors.push(vector)
      onProgress?.({ done: vectors.length, total: texts.length })
    }
    return vectors
  })
}
