// Chooses one of a repository's models: the one that a user named, or the default.
import { checkArgument, text } from '../api/checks.js'
import { fileOf, kQuantization, stemOf } from './kinds.js'
import type { HubVariant } from './types.js'
import { kOrder, quantizationOf, variantList } from './variants.js'

/** The default quantizations. As in other tools, the first one that exists is chosen. */
const kUsual = ['Q4_K_M', 'Q4_0', 'Q4_K_S', 'Q5_K_M', 'Q8_0']

const pathOf = ({ files }: HubVariant) => files[0]!.path
const lower = (text: string) => text.toLowerCase()
const plainStem = (one: HubVariant) => lower(fileOf(stemOf(pathOf(one)))).replace(kQuantization, '')

/** The variants of the kind that a repository is for: models, unless it has none. */
function mainKind(variants: readonly HubVariant[]): HubVariant[] {
  const kind = kOrder.find((one) => variants.some((variant) => variant.kind === one))
  return variants.filter((one) => one.kind === kind)
}

/** The number of characters up to the last separator that all names have in common. */
function commonLength(names: readonly string[]): number {
  const [first = '', ...others] = names
  let length = 0
  for (const { index, 0: separator } of first.matchAll(/[-._ /]/g)) {
    const start = first.slice(0, index + separator.length)
    if (!others.every((name) => name.startsWith(start))) break
    length = start.length
  }
  return length
}

const depthOf = (one: HubVariant) => pathOf(one).split('/').length

/**
 * Of several with the same quantization, the one that is whole in one file, or the one to whose name the others add
 * something, but not one of two folders, and not one of two names that differ only in case.
 */
function plainest(found: readonly HubVariant[]): HubVariant[] {
  const sorted = found.toSorted(
    (a, b) =>
      depthOf(a) - depthOf(b) || plainStem(a).length - plainStem(b).length || a.files.length - b.files.length,
  )
  const [first, ...others] = sorted
  if (!first) return []
  const plain = plainStem(first).replace(/[-._ ]+$/, '')
  const folder = pathOf(first).slice(0, -fileOf(pathOf(first)).length)
  const isPlain = others.every(
    (one) =>
      plain !== '' &&
      one.quantization === first.quantization &&
      plainStem(one).startsWith(plain) &&
      (plainStem(one) !== plainStem(first) ||
        one.files.length !== first.files.length ||
        depthOf(one) > depthOf(first)) &&
      (depthOf(one) > depthOf(first) || pathOf(one).startsWith(folder)),
  )
  return isPlain ? [first] : sorted
}

/** Whether a name ends in `end`, which begins after a separator, but not within the name of a quantization. */
function endsIn(stem: string, end: string): boolean {
  const at = stem.length - end.length
  const isInside = [...stem.matchAll(kQuantization)].some(
    ({ index, 0: name }) => index < at && at < index + name.length,
  )
  return end !== '' && stem.endsWith(end) && /[-._ /]/.test(stem[at - 1] ?? '') && !isInside
}

/**
 * The variants that a name fits best, in any case: a file's path or name, the name of a variant, a quantization, or the
 * end of a file's name. Several if the name is not clear.
 */
export function variantsNamed(variants: readonly HubVariant[], given: string): HubVariant[] {
  const name = lower(given.trim())
  const models = mainKind(variants)
  const quantization = quantizationOf(name)
  const isQuantization = quantization !== undefined && !/[-._/ ]/.test(name.replace(kQuantization, ''))
  const stems = models.map((one) => lower(stemOf(pathOf(one))))
  const common = commonLength(stems)
  const levels: readonly (() => HubVariant[])[] = [
    () => variants.filter((one) => one.name === given.trim()),
    () => variants.filter((one) => lower(one.name) === name),
    () => variants.filter((one) => one.files.some(({ path }) => lower(path) === name)),
    () => variants.filter((one) => lower(stemOf(pathOf(one))) === name),
    () => variants.filter((one) => one.files.some(({ path }) => lower(fileOf(path)) === name)),
    () => variants.filter((one) => lower(fileOf(stemOf(pathOf(one)))) === name),
    () => models.filter((one) => isQuantization && one.quantization === quantization),
    () => models.filter((one) => isQuantization && one.quantization === `UD-${quantization}`),
    // A quantization is never the end of another one's name.
    () =>
      models.filter((_, i) => !isQuantization && stems[i]!.slice(common) === name && endsIn(stems[i]!, name)),
    () => models.filter((_, i) => !isQuantization && endsIn(stems[i]!, name)),
  ]
  for (const level of levels) {
    const found = level()
    if (found.length > 0) return plainest(found)
  }
  return []
}

/**
 * The model with that quantization (in any case), file or name, which may be that of a companion; undefined if none, or
 * several, are meant. Without a name, the default choice, otherwise the smallest.
 */
export function pickVariant(variants: readonly HubVariant[], quantization?: string): HubVariant | undefined {
  checkArgument('pickVariant()', 'list', variants, variantList)
  if (quantization !== undefined) {
    checkArgument('pickVariant()', 'quantization', quantization, text)
    const found = variantsNamed(
      variants.filter(({ missing }) => missing === 0),
      quantization,
    )
    return found.length === 1 ? found[0] : undefined
  }
  const models = mainKind(variants).filter(({ missing }) => missing === 0)
  for (const usual of kUsual) {
    const found = plainest(models.filter((one) => one.quantization === usual))
    if (found[0]) return found[0]
  }
  return models[0]
}
