// The keys and values of a header.
import { callback as isFunction, checkArgument, text } from '../api/checks.js'
import type { AssetOptions } from '../api/assets.js'
import type { Header, KeyEntry } from './header.js'
import { HeaderArray } from './lazy-array.js'
import { editModule } from '../runtime/module.js'
import type { KeyMeaning, Metadata, MetadataValue, RepeatedKey, ValueType } from '../api/metadata.js'

/** True if the keys contain a vocabulary: tokens, or the RWKV World vocabulary as text. An alphabet alone is none. */
export const hasVocabulary = (metadata: Metadata): boolean =>
  (metadata.has('tokenizer.ggml.tokens') && metadata.has('tokenizer.ggml.model')) ||
  metadata.has('tokenizer.rwkv.world')

/** The key-values of a header. The table of keys is built on first use; values are decoded on access. */
export class HeaderMetadata implements Metadata {
  readonly #header: Header
  readonly #hosting: AssetOptions | undefined
  #entries: Map<string, KeyEntry> | undefined
  readonly #again: [string, KeyEntry][] = []
  // Arrays and long texts are cached, so that repeated accesses return the same object.
  readonly #made = new Map<string, MetadataValue>()

  constructor(header: Header, hosting?: AssetOptions) {
    this.#header = header
    this.#hosting = hosting
  }

  get #table(): Map<string, KeyEntry> {
    void this.#header.document // throws when closed
    if (!this.#entries) {
      const entries = this.#header.keyEntries()
      this.#entries = new Map()
      this.#header.keys().forEach((key, i) => {
        if (this.#entries!.has(key)) this.#again.push([key, entries[i]!])
        else this.#entries!.set(key, entries[i]!)
      })
    }
    return this.#entries
  }

  get repeated(): readonly RepeatedKey[] {
    void this.#table
    return this.#again.map(([key, entry]) => {
      return { key, type: entry.type, offset: entry.offset, value: this.#make(entry) }
    })
  }

  #make(entry: KeyEntry): MetadataValue {
    const header = this.#header
    return entry.type === 'array'
      ? new HeaderArray(header, header.document.arrayOfKey(entry.index))
      : header.scalar(entry)
  }

  get size(): number {
    return this.#table.size
  }

  has(key: string): boolean {
    return this.#table.has(key)
  }

  get(key: string): MetadataValue | undefined {
    const entry = this.#table.get(key)
    if (!entry) return undefined
    let value = this.#made.get(key)
    if (value === undefined) {
      value = this.#make(entry)
      this.#made.set(key, value)
    }
    return value
  }

  type(key: string): ValueType | undefined {
    return this.#table.get(key)?.type
  }

  offset(key: string): number | undefined {
    return this.#table.get(key)?.offset
  }

  async meaning(key: string): Promise<KeyMeaning | undefined> {
    checkArgument('meaning()', 'key', key, text)
    const [unit, meaning] = (await editModule(this.#hosting)).keyMeaning(key)
    return meaning === '' ? undefined : { unit, meaning }
  }

  keys(): IterableIterator<string> {
    return this.#table.keys()
  }

  *values(): IterableIterator<MetadataValue> {
    for (const key of this.#table.keys()) yield this.get(key)!
  }

  *entries(): IterableIterator<[string, MetadataValue]> {
    for (const key of this.#table.keys()) yield [key, this.get(key)!]
  }

  forEach(callback: (value: MetadataValue, key: string, metadata: Metadata) => void): void {
    checkArgument('forEach()', 'callback', callback, isFunction)
    for (const [key, value] of this.entries()) callback(value, key, this)
  }

  toJSON(): Record<string, unknown> {
    const plain = ([key, value]: [string, MetadataValue]): [string, unknown] => [
      key,
      typeof value === 'bigint' ? String(value) : value,
    ]
    return Object.fromEntries([...this.entries()].map(plain))
  }

  [Symbol.iterator](): IterableIterator<[string, MetadataValue]> {
    return this.entries()
  }
}
