// What a model is for, as its file says: answers, continued texts, or vectors of texts.
import type { GgufFile } from 'ggufscope'

export type Mode = 'chat' | 'complete' | 'compare' | 'search' | 'inside'

/** the value of the key for models that score how well a text answers a query */
const kRankPooling = 4

interface ModelUse {
  /** what the panel Run offers, the first by itself */
  readonly modes: readonly [Mode, ...Mode[]]
  /** whether it scores texts for a query; otherwise texts are compared by their vectors */
  readonly ranks: boolean
}

export function modelUse(file: GgufFile): ModelUse {
  const { architecture = '', hasChatTemplate } = file.summary()
  const pooling = Number(file.metadata.get(`${architecture}.pooling_type`) ?? 0)
  const ranks = pooling === kRankPooling
  const vectors: readonly [Mode, ...Mode[]] = ranks ? ['compare'] : ['compare', 'search']
  // Encoders see the whole text at once, so they cannot continue it.
  if (file.metadata.get(`${architecture}.attention.causal`) === false) return { modes: vectors, ranks }
  if (pooling > 0)
    return { modes: hasChatTemplate ? [...vectors, 'chat', 'complete'] : [...vectors, 'complete'], ranks }
  return { modes: hasChatTemplate ? ['chat', 'complete', 'inside'] : ['complete', 'inside'], ranks }
}
