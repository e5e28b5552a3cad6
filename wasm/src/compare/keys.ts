// Finds the keys that differ between two headers.
import type { ComparedValue, KeyDifference } from '../api/compare.js'
import type { GgufFile } from '../api/file.js'
import type { LazyArray, MetadataValue } from '../api/metadata.js'

const kPage = 65_536

/** NaN equals NaN here. */
const same = (a: MetadataValue | undefined, b: MetadataValue | undefined): boolean =>
  typeof a === 'object' && typeof b === 'object'
    ? a.type === b.type && a.length === b.length && differing(a, b).count === 0
    : Object.is(a, b)

/** The first element that differs, and how many do. Elements that only the longer array has differ. */
function differing(a: LazyArray, b: LazyArray): { index: number | undefined; count: number } {
  const length = Math.min(a.length, b.length)
  let index: number | undefined
  let count = Math.abs(a.length - b.length)
  for (let from = 0; from < length; from += kPage) {
    const [left, right] = [a, b].map((one) => one.slice(from, Math.min(length, from + kPage)))
    left!.forEach((value, i) => {
      if (same(value, right![i])) return
      index ??= from + i
      count++
    })
  }
  return { index: index ?? (count > 0 ? length : undefined), count }
}

function differenceOf(key: string, a: ComparedValue, b: ComparedValue): KeyDifference | undefined {
  const changed = { key, kind: 'changed', a, b, index: undefined, count: undefined } as const
  if (typeof a.value === 'object' && typeof b.value === 'object') {
    const [x, y] = [a.value, b.value]
    const alike = x.type === y.type && x.length === y.length
    if (!x.loaded || !y.loaded) return { ...changed, kind: alike ? 'unread' : 'changed' }
    if (x.type !== y.type) return changed
    const { index, count } = differing(x, y)
    return count === 0 ? undefined : { ...changed, index, count }
  }
  return a.type === b.type && same(a.value, b.value) ? undefined : changed
}

export function compareKeys(a: GgufFile, b: GgufFile): KeyDifference[] {
  const of = ({ metadata }: GgufFile, key: string): ComparedValue | undefined =>
    metadata.has(key) ? { type: metadata.type(key)!, value: metadata.get(key)! } : undefined
  const keys = new Set([...a.metadata.keys(), ...b.metadata.keys()])
  return [...keys].flatMap((key): KeyDifference[] => {
    const [left, right] = [of(a, key), of(b, key)]
    if (left && right) {
      const difference = differenceOf(key, left, right)
      return difference ? [difference] : []
    }
    return [{ key, kind: left ? 'removed' : 'added', a: left, b: right, index: undefined, count: undefined }]
  })
}
