// What a file of a repository is for, by the names that people give files: a model, or a companion of one.
import type { VariantKind } from './types.js'

/** The ending of a shard: "-00001-of-00003.gguf". */
const kShard = /^(.*?)-(\d{5})-of-(\d{5})\.gguf$/i
/** The ending of a part of a file that was cut: "x.gguf.part1of3", "x.gguf-split-a". */
const kPart = /^(.*\.gguf)(?:\.part(\d+)of(\d+)|-split-([a-z]))$/i

/** Whether a path is that of a GGUF file, or of a part of one. */
export const isGguf = (path: string): boolean => /\.gguf$/i.test(path) || kPart.test(path)

/** The place of a file in a set, by its name. count: undefined if the name does not tell it. */
interface SetPlace {
  /** the same for all files of the set */
  readonly set: string
  readonly number: number
  readonly count: number | undefined
}

/** undefined if the name is not that of one file of several */
export function placeInSet(path: string): SetPlace | undefined {
  const shard = kShard.exec(path)
  if (shard) return { set: `${shard[1]}|${shard[3]}`, number: Number(shard[2]), count: Number(shard[3]) }
  const [, whole, number, count, letter] = kPart.exec(path) ?? []
  if (whole === undefined) return undefined
  return letter === undefined
    ? { set: `${whole}|part|${count}`, number: Number(number), count: Number(count) }
    : { set: `${whole}|split`, number: letter.toLowerCase().charCodeAt(0), count: undefined }
}

// The name of a quantization within a file name, between separators. A short ending belongs to it: Q8_0_L is another
// one than Q8_0.
const kNames =
  'IQ[1-6]_(?:XXS|XS|NL|S|M|KT|KSS|KS|KL|K)|Q[1-8]_(?:K|[01])|TQ[12]_0|MXFP[46](?:_MOE)?|NVFP4|BF16|FP?16|FP?32'
const kEndings = '(?:_(?:XXL|XL|XXS|XS|[A-Z]|HIFI|[48]_[48]|R\\d{1,2}|G\\d{2,3}))*'
export const kQuantization = new RegExp(
  `(?<=^|[-._/ ])(?:UD[-_])?(?:${kNames})${kEndings}(?=$|[-._/ ])`,
  'gi',
)

/** The path without the ending and the number of a shard or a part. */
export const stemOf = (path: string): string =>
  path
    .replace(kPart, '$1')
    .replace(kShard, '$1')
    .replace(/\.gguf$/i, '')

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
  {
    kind: 'imatrix',
    // A model that was quantized with an importance matrix is called so, too: its name has a quantization.
    name: new RegExp(
      `^i[-_]?matrix(?=$|[-._ ])|^(?!.*${kQuantization.source}).*${word('i[-_]?matrix').source}`,
      'i',
    ),
  },
  {
    kind: 'adapter',
    folder: /^(loras?|adapters?|control[-_]?vectors?)$/i,
    // A model into which an adapter was merged is a model.
    name: new RegExp(
      `^(?!.*merged?).*${word('loras?|adapters?|control[-_]?vectors?|cvec(?:tor)?s?').source}`,
      'i',
    ),
  },
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

/** Words that a whole model may have in its name, too. A file that is far smaller than the others is only this part. */
const kSmall: readonly (readonly [word: RegExp, kind: VariantKind])[] = [
  [word(`${kHeads}|eagle[-_]?\\d?|medusa|hydra|spec(?:ulative|ulator)?`), 'draft'],
  [word('vision|visual|vit|audio'), 'projector'],
  [word('vocab|tokenizer|codec|decoder|encoder'), 'component'],
]

/** "4b", "0.5B", "360M": how many parameters a name says */
const kParameters = /(?<=^|[-._ ])[ea]?\d+(?:\.\d+)?[bm](?=$|[-._ ])/gi
const parametersOf = (one: Sized): readonly string[] => nameOf(one).toLowerCase().match(kParameters) ?? []

/** Whether a file is far too small to be a whole model beside `model`, and not a smaller one by its name. */
function isPartOf(one: Sized, model: Sized): boolean {
  const others = parametersOf(model)
  if (!parametersOf(one).every((size) => others.includes(size))) return false
  const ratio = bitsOf(one) / bitsOf(model)
  return one.bytes > 0 && 2 * one.bytes < model.bytes * (Number.isNaN(ratio) ? 1 : ratio)
}

/** The kinds of a repository's models that show only beside the others: by size, and by the other names. */
export function kindsTogether<T extends Sized>(all: readonly T[]): T[] {
  const models = all.filter(({ kind }) => kind === 'model')
  const smallKind = (one: Sized) => kSmall.find(([word]) => word.test(nameOf(one)))?.[1]
  const whole = models.filter((one) => smallKind(one) === undefined)
  const generators = models.filter((one) => kGenerators.test(nameOf(one)))
  return all.map((one) => {
    if (one.kind !== 'model') return one
    const small = smallKind(one)
    if (small !== undefined && whole.some((model) => isPartOf(one, model))) return { ...one, kind: small }
    if (generators.length > 0 && !generators.includes(one)) return { ...one, kind: 'component' }
    return one
  })
}
