// Formats metadata values as text: short for a row, complete for the clipboard.
import type { GgufFile, LazyArray, MetadataValue, ValueType } from 'ggufscope'
import { count, float, oneLine } from '../language/format'
import { rest } from '../file/rest.svelte'

export function isArray(value: MetadataValue | undefined): value is LazyArray {
  return typeof value === 'object'
}

/** The name of a type: "u32", or "string × 128,256" for an array. */
export function typeName(type: ValueType | undefined, value: MetadataValue | undefined): string {
  return isArray(value) ? `${value.type} × ${count(value.length)}` : (type ?? '')
}

/** Formats a value as one line of at most about `limit` characters. */
export function preview(value: MetadataValue | undefined, limit = 200, depth = 0): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return oneLine(value, limit)
  if (typeof value === 'number') return float(value)
  if (!isArray(value)) return String(value)
  if (depth > 2 || !rest.has(value)) return '[…]'
  const parts: string[] = []
  let length = 0
  for (const item of value.slice(0, 24)) {
    const text = typeof item === 'string' ? `"${oneLine(item, 40)}"` : preview(item, 60, depth + 1)
    parts.push(text)
    length += text.length
    if (length > limit) break
  }
  return `[${parts.join(', ')}${parts.length < value.length ? ', …' : ''}]`
}

/** An element of a key's array as text; undefined: it is not there. */
export function elementText({ metadata }: GgufFile, key: string, index: number): string | undefined {
  const value = metadata.get(key)
  if (!isArray(value) || !rest.has(value) || index >= value.length) return undefined
  const item = value.at(index)
  return typeof item === 'string' ? `"${oneLine(item, 40)}"` : preview(item, 60, 1)
}

/** Limit of the length of arrays whose entries are all searched. */
const searchedEntries = 2000

/** Whether a value's text contains `text` (lower case). Of longer arrays, only the shown first entries are searched. */
export function contains(value: MetadataValue | undefined, text: string): boolean {
  if (typeof value === 'string')
    return value.toLowerCase().includes(text) || preview(value).toLowerCase().includes(text)
  if (isArray(value) && rest.has(value) && value.length <= searchedEntries) {
    for (const item of value) if (contains(item, text)) return true
  }
  return preview(value).toLowerCase().includes(text)
}

/** The text for the clipboard: strings unchanged, arrays as JSON. */
export function wholeText(value: MetadataValue | undefined): string {
  if (value === undefined) return ''
  return isArray(value) ? JSON.stringify(value.toJSON()) : String(value)
}

/** What a number refers to, if known: a token's text, or a file type's name. */
export function meaning(file: GgufFile, key: string, value: MetadataValue | undefined): string {
  if (typeof value !== 'number') return ''
  if (key === 'general.file_type') return file.summary().fileType ?? ''
  if (!/_token_id$/.test(key)) return ''
  const tokens = file.metadata.get('tokenizer.ggml.tokens')
  const token = isArray(tokens) && rest.has(tokens) ? tokens.at(value) : undefined
  return typeof token === 'string' ? oneLine(token, 60) : ''
}
