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

/** How a tensor that both files have differs. */
export const differenceOf = ({ a, b, comparable, cut, equal }: TensorComparison): Plain =>
  !comparable
    ? 'another shape'
    : a?.type !== b?.type
      ? 'another type'
      : cut
        ? 'cut off'
        : equal === false
          ? 'other values'
          : 'different'

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
