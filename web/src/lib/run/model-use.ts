// What a model is for, as its file says: answers, continued texts, vectors of texts, or decisions.
import type { ChatTemplate, GgufFile } from 'ggufscope'
// The modules alone: the package's file has the whole engine, which the panel loads later.
import { decisionModelOf } from '../../../../wasm/src/decision/kinds'
import { kEncoders } from '../../../../wasm/src/memory/rules'
import { t } from '../language/text'

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
const kTemplate = 'tokenizer.chat_template.systemone'

const keyOf = (file: GgufFile) => `${file.summary().architecture ?? ''}.decision.type`

/** Also without the key that says how: nothing else has such a head. */
const decides = (file: GgufFile) =>
  typeof file.metadata.get(keyOf(file)) === 'string' ||
  file.tensors.some(({ name }) => name.startsWith('decision.'))

/** Why a model for decisions cannot be asked, as its header says; undefined: it can. */
export function decisionFault(file: GgufFile): string | undefined {
  const { metadata } = file
  if (!metadata.has(keyOf(file)))
    return t('The file does not say how this model is asked: it has no key {key}.', { key: keyOf(file) })
  const text = metadata.get(kTemplate)
  const template = { name: 'systemone', text } as ChatTemplate
  try {
    // Of a preview, the list of templates is not known yet.
    decisionModelOf({
      metadata,
      chatTemplates: new Map(typeof text === 'string' ? [['systemone', template]] : []),
    })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Below it, a model that was trained to chat still misses many questions. */
const smallBelow = 100e6
export const isVerySmall = (file: GgufFile) => (file.summary().parameters ?? Infinity) < smallBelow

/** Whether a template of the file names the variables of tools. A preview has left out what chatTemplates needs, but not these texts. */
export const takesTools = ({ metadata }: GgufFile) =>
  [...metadata.keys()].some(
    (key) =>
      key.startsWith('tokenizer.chat_template') &&
      /\b(xml_)?tools\b|\bfunctions\b/.test(String(metadata.get(key))),
  )

export function modelUse(file: GgufFile): ModelUse {
  if (!decides(file)) return { ...useOf(file), decidesOnMedia: false }
  if (file.tensors.some(({ name }) => kHeads.test(name)))
    return { modes: ['decide'], ranks: false, decidesOnMedia: false }
  const { modes } = useOf(file)
  const others = modes.filter((mode) => mode !== 'compare' && mode !== 'search')
  return { modes: ['decide', ...others], ranks: false, decidesOnMedia: true }
}

/** An empty template counts: the format ChatML stands for it. */
export const hasTemplate = ({ metadata }: GgufFile) =>
  typeof metadata.get('tokenizer.chat_template') === 'string'

function useOf(file: GgufFile): Pick<ModelUse, 'modes' | 'ranks'> {
  const { architecture = '' } = file.summary()
  const hasChatTemplate = hasTemplate(file)
  const pooling = Number(file.metadata.get(`${architecture}.pooling_type`) ?? 0)
  const ranks = pooling === kRankPooling
  const vectors: readonly [Mode, ...Mode[]] = ranks ? ['compare'] : ['compare', 'search']
  // Encoders see the whole text at once, so they cannot continue it.
  if (kEncoders.has(architecture)) return { modes: vectors, ranks }
  if (file.metadata.get(`${architecture}.attention.causal`) === false) return { modes: vectors, ranks }
  if (pooling > 0)
    return { modes: hasChatTemplate ? [...vectors, 'chat', 'complete'] : [...vectors, 'complete'], ranks }
  return { modes: hasChatTemplate ? ['chat', 'complete', 'inside'] : ['complete', 'inside'], ranks }
}
