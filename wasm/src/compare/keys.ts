// Finds the keys that differ between two headers.
import type { ComparedValue, KeyDifference } from '../api/compare.js'
import type { GgufFile } from '../api/file.js'
import type { LazyArray, MetadataValue } from '../api/metadata.js'

const kPage = 65_536

/** NaN equals NaN here. */
const same = (a: MetadataValue | undefined, b: MetadataValue | undefined): boolean =>
  typeof a === 'object' && typeof b === 'object'
    ? a.type === b.type && a.length === b.length && firstDifference(a, b) === undefined
    : Object.is(a, b)

function firstDifference(a: LazyArray, b: LazyArray): number | undefined {
  const length = Math.min(a.length, b.length)
  for (let from = 0; from < length; from += kPage) {
    const [left, right] = [a, b].map((one) => one.slice(from, Math.min(length, from + kPage)))
    const found = left!.findIndex((value, i) => !same(value, right![i]))
    if (found >= 0) return from + found
  }
  return a.length === b.length ? undefined : length
}

function differenceOf(key: string, a: ComparedValue, b: ComparedValue): KeyDifference | undefined {
  if (typeof a.value === 'object' && typeof b.value === 'object') {
    const [x, y] = [a.value, b.value]
    const alike = x.type === y.type && x.length === y.length
    if (!x.loaded || !y.loaded) return { key, kind: alike ? 'unread' : 'changed', a, b, index: undefined }
    const index = x.type === y.type ? firstDifference(x, y) : undefined
    return alike && index === undefined ? undefined : { key, kind: 'changed', a, b, index }
  }
  if (a.type === b.type && same(a.value, b.value)) return undefined
  return { key, kind: 'changed', a, b, index: undefined }
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
    return [{ key, kind: left ? 'removed' : 'added', a: left, b: right, index: undefined }]
  })
}
