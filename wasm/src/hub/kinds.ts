// What a file of a repository is for, by the names that people give files: a model, or a companion of one.
import type { VariantKind } from './types.js'

/** The ending of a shard: "-00001-of-00003.gguf". */
export const kShard = /^(.*?)-(\d{5})-of-(\d{5})\.gguf$/i

// The name of a quantization within a file name, between separators. The last one counts: in "model-f16.Q4_0", "f16"
// is the source's.
export const kQuantization =
  /(?<=^|[-._/ ])(?:UD[-_])?(?:IQ[1-6]_(?:XXS|XS|S|M|NL|KT?S?|K)(?:_R[48])?|Q[1-8]_(?:K(?:_(?:XXL|XL|XXS|XS|L|M|S|P))?|[01](?:_[48]_[48])?)|TQ[12]_0|MXFP[46](?:_MOE)?|NVFP4|BF16|F(?:P)?16|F(?:P)?32)(?=$|[-._/ ])/gi

/** The path without the ending and the number of a shard. */
export const stemOf = (path: string): string => path.replace(kShard, '$1').replace(/\.gguf$/i, '')

export const fileOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

interface Rule {
  readonly kind: VariantKind
  /** tested on the names of the folders */
  readonly folder?: RegExp
  /** tested on the file's stem */
  readonly name: RegExp
}

/** Words between separators. */
const word = (words: string) => new RegExp(`(?:^|[-._ ])(?:${words})(?=$|[-._ ])`, 'i')

// Heads for multi-token prediction and block diffusion. In the middle of a name, these words may also say that a whole
// model contains such a head.
const kHeads = 'mtp|nextn|d[-_]?flash|d[-_]?spark'

// Tested in this order.
const kRules: readonly Rule[] = [
  {
    kind: 'projector',
    folder: /^(mmproj|projectors?)$/i,
    name: /mm[-_.]?proj|projector|(vision|image|audio)[-_.]?(encoder|tower|adapter)/i,
  },
  { kind: 'imatrix', name: word('i[-_]?matrix') },
  { kind: 'adapter', folder: /^(loras?|adapters?)$/i, name: word('loras?|adapters?') },
  {
    // A file that is used with a model for speculative decoding.
    kind: 'draft',
    folder: new RegExp(
      `^(${kHeads}|eagle[-_]?\\d?|medusa|drafts?|drafters?|draft[-_]models?|speculat(ors?|ive)|assistants?)$`,
      'i',
    ),
    name: new RegExp(
      [
        `^(?:${kHeads}|eagle[-_]?\\d?|medusa)(?=$|[-._ ])`,
        word('eagle[-_]?3|drafts?|drafter|speculator|medusa').source,
        word(`(?:${kHeads}|eagle)[-_.]?(?:head|layer|block)s?`).source,
        // The name of a quantization is followed by what was quantized.
        `${kQuantization.source}[-._](?:${kHeads})$`,
        // Assistants of models such as Gemma 4 draft for them.
        `[-._]assistant(?:[-._]${kQuantization.source})?$`,
      ].join('|'),
      'i',
    ),
  },
  {
    // A part of a model of images or speech: a text encoder, an autoencoder, a vocoder.
    kind: 'component',
    folder: /^(text[-_]?encoders?([-_]?\d)?|clip|vae|vocoder)$/i,
    name: new RegExp(
      [
        word('text[-_.]?encoders?|u?m?t5[-_]?xxl|clip[-_](?:[lgh]|vit)|(?:vq)?vae|vocoder|wavtokenizer')
          .source,
        `(?:^|[-._ ])u?m?t5[-._ ](?:.*[-._ ])?(?:xxl|encoder)(?=$|[-._ ])`,
        `^(?:clip|ae)(?=$|[-._ ])`,
        `(?:^|[-._ ])tts[-._ ](?:.*[-._ ])?(?:tokenizer|codec|decoder)(?=$|[-._ ])`,
      ].join('|'),
      'i',
    ),
  },
]

/** The kind that a path shows by itself. */
export function kindOf(path: string): VariantKind {
  const folders = path.split('/').slice(0, -1)
  const name = fileOf(stemOf(path))
  const rule = kRules.find((one) => one.name.test(name) || folders.some((folder) => one.folder?.test(folder)))
  return rule?.kind ?? 'model'
}

/** Models of images, videos and sounds, whose text encoders are language models. */
const kGenerators = word(
  'flux.*|stable[-_. ]?diffusion.*|sdxl.*|sd[-_.]?(?:[123]|turbo).*|wan[-_.]?[2-9].*|hunyuan[-_.]?(?:video|image|dit).*|ltxv?.*|qwen[-_.]?image.*|z[-_.]?image.*|hidream.*|chroma\\d?|aura[-_]?flow|pixart|kolors|lumina\\d?|mochi|cogvideox?|krea\\d?|omnigen\\d?|ovis[-_.]?image|longcat[-_.]?image|ideogram\\d?|kandinsky\\d?',
)

interface Sized {
  readonly kind: VariantKind
  readonly bytes: number
  readonly quantization: string | undefined
  readonly files: readonly { readonly path: string }[]
}

const nameOf = ({ files }: Sized) => fileOf(stemOf(files[0]!.path))
const bitsOf = ({ quantization }: Sized) => Number(/\d+/.exec(quantization ?? '')?.[0] ?? NaN)

/** Whether a file whose name contains "mtp" is far too small to be a whole model beside `model`. */
function isHeadOf(one: Sized, model: Sized): boolean {
  const ratio = bitsOf(one) / bitsOf(model)
  return one.bytes > 0 && 2 * one.bytes < model.bytes * (Number.isNaN(ratio) ? 1 : ratio)
}

/** The kinds of a repository's models that show only beside the others: by size, and by the other names. */
export function kindsTogether<T extends Sized>(all: readonly T[]): T[] {
  const models = all.filter(({ kind }) => kind === 'model')
  const whole = models.filter((one) => !word(kHeads).test(nameOf(one)))
  const generators = models.filter((one) => kGenerators.test(nameOf(one)))
  return all.map((one) => {
    if (one.kind !== 'model') return one
    if (!whole.includes(one) && whole.some((model) => isHeadOf(one, model))) return { ...one, kind: 'draft' }
    if (generators.length > 0 && !generators.includes(one)) return { ...one, kind: 'component' }
    return one
  })
}
