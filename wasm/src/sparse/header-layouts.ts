// The offsets of the arrays of known vocabularies. A match saves the search, and its result is verified like any other.
import { kKnownLayouts } from './known-layouts.js'
import type { OmittedArray, HeaderLayout } from './walk.js'
import { kFingerprintBytes, kMaxLayoutArrays, kMaxStoredLayouts } from './tuning.js'

export type { HeaderLayout as Layout }

/** The layout of a header's arrays, starting with the array at that offset. */
export function layoutOfArrays(arrays: readonly OmittedArray[], from: number): HeaderLayout {
  return arrays
    .filter(({ offset }) => offset >= from)
    .map(({ offset, end }) => [offset - from, end - offset] as const)
}

const kStorageKey = 'ggufscope.layouts'

const learned = new Map<string, HeaderLayout>()

/** Identifies an array of strings by its count and its first elements; undefined if too few of them are known. */
export function fingerprint(count: number, elements: Uint8Array): string | undefined {
  if (elements.length < kFingerprintBytes) return undefined
  let hash = 0x811c9dc5
  for (let i = 0; i < kFingerprintBytes; i++) hash = Math.imul(hash ^ elements[i]!, 0x01000193)
  return `${count.toString(36)}-${(hash >>> 0).toString(36)}`
}

function isLayout(value: unknown): value is HeaderLayout {
  const isPlace = (place: unknown): boolean =>
    Array.isArray(place) && place.length === 2 && place.every((n) => Number.isSafeInteger(n) && n >= 0)
  return Array.isArray(value) && value.length > 0 && value.length <= kMaxLayoutArrays && value.every(isPlace)
}

/** Loads the layouts that this browser has stored, also those of other tabs. Storage may be forbidden or absent. */
function load(): void {
  try {
    const stored: unknown = JSON.parse(globalThis.localStorage?.getItem(kStorageKey) ?? '[]')
    for (const [id, layout] of stored as [string, unknown][])
      if (isLayout(layout)) learned.set(String(id), layout)
  } catch {
    // Without storage, only the built-in layouts are known.
  }
}

export function findLayout(id: string): HeaderLayout | undefined {
  load()
  return learned.get(id) ?? kKnownLayouts[id]
}

export function rememberLayout(id: string, layout: HeaderLayout): void {
  load()
  if (!isLayout(layout) || JSON.stringify(findLayout(id)) === JSON.stringify(layout)) return
  learned.delete(id)
  learned.set(id, layout)
  for (const oldest of learned.keys()) {
    if (learned.size <= kMaxStoredLayouts) break
    learned.delete(oldest)
  }
  try {
    globalThis.localStorage?.setItem(kStorageKey, JSON.stringify([...learned]))
  } catch {
    // Without storage, the layout is known until the page is closed.
  }
}
