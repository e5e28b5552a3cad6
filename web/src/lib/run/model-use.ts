// What a model is for, as its file says: answers, continued texts, vectors of texts, or decisions.
import type { GgufFile } from 'ggufscope'

export type Mode = 'chat' | 'complete' | 'compare' | 'search' | 'inside' | 'decide'

/** the value of the key for models that score how well a text answers a query */
const kRankPooling = 4

interface ModelUse {
  /** what the panel Run offers, the first by itself */
  readonly modes: readonly [Mode, ...Mode[]]
  /** whether it scores texts for a query; otherwise texts are compared by their vectors */
  readonly ranks: boolean
  /** whether its decisions may be about images and audio: only models without a head for decisions read them */
  readonly decidesOnMedia: boolean
}

/** Tensors of heads for decisions (core/model/decision). A model with one computes no next token. */
const kHeads = /^(decision|cls)\./

export function modelUse(file: GgufFile): ModelUse {
  const { architecture = '' } = file.summary()
  if (typeof file.metadata.get(`${architecture}.decision.type`) !== 'string')
    return { ...useOf(file), decidesOnMedia: false }
  if (file.tensors.some(({ name }) => kHeads.test(name)))
    return { modes: ['decide'], ranks: false, decidesOnMedia: false }
  const { modes } = useOf(file)
  const others = modes.filter((mode) => mode !== 'compare' && mode !== 'search')
  return { modes: ['decide', ...others], ranks: false, decidesOnMedia: true }
}

function useOf(file: GgufFile): Pick<ModelUse, 'modes' | 'ranks'> {
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
