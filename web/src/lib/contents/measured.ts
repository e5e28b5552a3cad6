// A comparison whose errors are measured against the file with more bits per weight: the other one is made of it.
import {
  compare,
  type ComparedValue,
  type CompareOptions,
  type Comparison,
  type GgufFile,
  type TensorComparison,
} from 'ggufscope'
import { float, oneLine } from '../language/format'
import { listed } from '../language/punctuation'
import { t } from '../language/text'
import type { Plain } from '../../texts/text'

/** Whether errors are measured against the open file, and not against the other one. */
export const isReference = (file: GgufFile, other: GgufFile): boolean =>
  file.summary().bitsPerWeight > other.summary().bitsPerWeight

/** The same comparison with the files in the other order. */
function swapped(found: Comparison): Comparison {
  const kinds = { added: 'removed', removed: 'added', changed: 'changed', unread: 'unread' } as const
  return {
    ...found,
    keys: found.keys.map((row) => ({ ...row, kind: kinds[row.kind], a: row.b, b: row.a })),
    tensors: found.tensors.map((row) => ({ ...row, a: row.b, b: row.a })),
  }
}

/** Compares the other file (a) with the open one (b). */
export async function compareWith(
  other: GgufFile,
  file: GgufFile,
  options: CompareOptions,
): Promise<Comparison> {
  return isReference(file, other)
    ? swapped(await compare(file, other, options))
    : await compare(other, file, options)
}

/** A value of a key in a few words. */
export const valueText = (one: ComparedValue | undefined): string =>
  one === undefined
    ? t('not there')
    : typeof one.value === 'object'
      ? t('{n} element of {type}|{n} elements of {type}', { n: one.value.length, type: one.value.type })
      : oneLine(typeof one.value === 'number' ? float(one.value) : String(one.value), 120)

/** Why a tensor that both files have is in the list. */
function reasonOf({ a, b, comparable, cut, equal }: TensorComparison): Plain {
  if (!comparable) return 'another shape'
  if (a?.type !== b?.type) return 'another type'
  if (cut) return 'cut off'
  return equal === false ? 'other values' : 'different'
}

/** The same in words. Figures of errors leave out the values that are not finite. */
export function differenceOf(tensor: TensorComparison): string {
  const n = tensor.error?.notFinite ?? 0
  return listed([t(reasonOf(tensor)), ...(n > 0 ? [t('{n} is not finite|{n} are not finite', { n })] : [])])
}

/** Whether a tensor is in the list only because a file ends before its values. */
export const isUnknown = (tensor: TensorComparison): boolean => reasonOf(tensor) === 'cut off'

/** How many tensors have which types in the open file and in the other one where these differ, the most first. */
export function typePairs(
  tensors: readonly TensorComparison[],
): (readonly [types: string, tensors: number])[] {
  const counts = new Map<string, number>()
  for (const { a, b } of tensors) {
    if (!a || !b || a.type === b.type) continue
    const types = `${b.type} ↔ ${a.type}`
    counts.set(types, (counts.get(types) ?? 0) + 1)
  }
  return [...counts].toSorted((one, other) => other[1] - one[1])
}
