// Changes of a file as data. The viewer saves them, and `ggufscope set --changes` applies them.
import { openedFile } from '../file/opened.js'
import { checkArgument, listOf, object, type Check } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import { kValueTypes } from '../header/header.js'
import type { Change, ChangeList, ChangeValue, WriteType, WriteValue } from '../api/edit.js'
import type { GgufBuilder, GgufFile } from '../api/file.js'
import type { LazyArray, ValueType } from '../api/metadata.js'

const kChangesFormat = 'ggufscope-changes'

const invalid = (message: string): GgufError => new GgufError('invalid-argument', message)

/** Parses a type: "u32", "i32[]", or "i32[][]" for an array of arrays. */
function writeTypeOf(text: string): WriteType {
  if (text.endsWith('[]')) return { arrayOf: writeTypeOf(text.slice(0, -2)) }
  if (!kValueTypes.includes(text as ValueType) || text === 'array')
    throw invalid(`There is no type "${text}": u8, i32, f32, bool, string, ... or u8[], i32[], ...`)
  return text as WriteType
}

const kNotFinite: Readonly<Record<string, number>> = { NaN: NaN, Infinity: Infinity, '-Infinity': -Infinity }
const kNumber = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i

/**
 * Converts a text or JSON value to a value of a type. A value that does not fit stays as it is; the builder refuses it.
 */
function valueOf(value: ChangeValue, type: WriteType | undefined): WriteValue {
  if (Array.isArray(value)) {
    const inner = typeof type === 'object' ? type.arrayOf : undefined
    return (value as readonly ChangeValue[]).map((one) => valueOf(one, inner))
  }
  if (typeof value !== 'string' || type === undefined || type === 'string' || typeof type === 'object')
    return value
  const text = value.trim()
  if (type === 'bool') return text === 'true' ? true : text === 'false' ? false : value
  if (type === 'f32' || type === 'f64') {
    if (Object.hasOwn(kNotFinite, text)) return kNotFinite[text]!
    return kNumber.test(text) ? Number(text) : value
  }
  if (!/^[-+]?\d+$/.test(text)) return value
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** An array of strings with some replaced. The others keep their bytes, which need not be UTF-8. */
class ChangedTexts implements LazyArray<string> {
  readonly type = 'string'
  readonly loaded = true
  readonly length: number
  readonly #base: LazyArray
  /** index of a string of the base, or a new string */
  readonly #places: readonly (number | string)[]

  constructor(base: LazyArray, places: readonly (number | string)[]) {
    this.#base = base
    this.#places = places
    this.length = places.length
  }

  async load(): Promise<void> {}

  at(index: number): string | undefined {
    const place = this.#places.at(index)
    return typeof place === 'number' ? (this.#base.at(place) as string) : place
  }

  slice(from?: number, to?: number): string[] {
    return this.#places
      .slice(from, to)
      .map((place) => (typeof place === 'number' ? (this.#base.at(place) as string) : place))
  }

  bytesAt(index: number): Uint8Array | undefined {
    const place = this.#places[index]
    return typeof place === 'string' ? new TextEncoder().encode(place) : this.#base.bytesAt(place ?? -1)
  }

  toTypedArray(): never {
    throw invalid('An array of strings is no array of numbers.')
  }

  toJSON(): string[] {
    return this.slice()
  }

  [Symbol.iterator](): Iterator<string> {
    return this.slice()[Symbol.iterator]()
  }
}

type Entries = Extract<Change, { change: 'entries' }>

/** The array of a key with changed entries, without the removed ones, and with the new ones at the end. */
function changedArray(file: GgufFile, { key, set = {}, remove = [], append = [] }: Entries): WriteValue {
  const base = file.metadata.get(key)
  if (typeof base !== 'object') throw invalid(`${key} is no array, so that it has no entries to change.`)
  const { type, length } = base
  if (type === 'array') throw invalid(`${key} is an array of arrays. Set the whole value.`)
  const element = type as WriteType
  const changed = new Map<number, ChangeValue>()
  for (const [index, value] of Object.entries(set)) changed.set(Number(index), value)
  for (const index of [...changed.keys(), ...remove])
    if (!Number.isInteger(index) || index < 0 || index >= length)
      throw invalid(`${key} has no entry ${index}: it has ${length}, from 0.`)
  const removed = new Set(remove)
  const kept = Array.from({ length }, (_, i) => i).filter((i) => !removed.has(i))
  if (type === 'string') {
    const texts = [...kept.map((i) => changed.get(i) ?? i), ...append]
    for (const [i, text] of [...changed, ...append.map((text, i) => [length + i, text] as const)])
      if (typeof text !== 'string') throw invalid(`${key}[${i}]: ${String(text)} is no string.`)
    return new ChangedTexts(base, texts as (number | string)[])
  }
  const before = base.slice()
  const value = (one: ChangeValue): WriteValue => valueOf(one, element)
  return [...kept.map((i) => (changed.has(i) ? value(changed.get(i)!) : before[i]!)), ...append.map(value)]
}

function apply(file: GgufFile, builder: GgufBuilder, change: Change): void {
  switch (change.change) {
    case 'set': {
      const type = change.type === undefined ? undefined : writeTypeOf(change.type)
      builder.set(change.key, valueOf(change.value, type), type)
      return
    }
    case 'entries': {
      const array = file.metadata.get(change.key) as LazyArray | undefined
      builder.set(change.key, changedArray(file, change), { arrayOf: array!.type as WriteType & string })
      return
    }
    case 'rename':
      builder.rename(change.key, change.to)
      return
    case 'remove':
      builder.remove(change.key)
      return
    case 'rename-tensor':
      builder.renameTensor(change.name, change.to)
      return
    case 'remove-tensor':
      builder.removeTensor(change.name)
      return
    case 'add-tokens':
      builder.addTokens(change.tokens, { rows: change.rows })
      return
    case 'remove-tokens':
      builder.removeTokens(change.tokens)
  }
}

/**
 * Applies changes to a builder in their order. `file` is the file from which the builder was made.
 * Errors: those of the builder's methods; 'incomplete' if a preview left out an array of which entries change.
 */
export function applyChanges(file: GgufFile, builder: GgufBuilder, changes: readonly Change[]): void {
  checkArgument('applyChanges()', 'file', file, openedFile)
  checkArgument('applyChanges()', 'builder', builder, isBuilder)
  checkArgument('applyChanges()', 'list of changes', changes, listOf(isChange, 'an array of changes'))
  for (const change of changes) apply(file, builder, change)
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isValue = (value: unknown): boolean =>
  ['string', 'number', 'boolean'].includes(typeof value) || (Array.isArray(value) && value.every(isValue))

/** The required fields of each kind of change. */
const kFields: Readonly<Record<Change['change'], (one: Record<string, unknown>) => boolean>> = {
  set: ({ key, type, value }) => isText(key) && (type === undefined || isText(type)) && isValue(value),
  entries: ({ key, set = {}, remove = [], append = [] }) =>
    isText(key) &&
    isRecord(set) &&
    Object.values(set).every(isValue) &&
    Array.isArray(remove) &&
    remove.every(Number.isInteger) &&
    Array.isArray(append) &&
    append.every(isValue),
  rename: ({ key, to }) => isText(key) && isText(to),
  remove: ({ key }) => isText(key),
  'rename-tensor': ({ name, to }) => isText(name) && isText(to),
  'remove-tensor': ({ name }) => isText(name),
  'add-tokens': ({ tokens }) =>
    Array.isArray(tokens) && tokens.every((one) => isRecord(one) && isText(one['text'])),
  'remove-tokens': ({ tokens }) =>
    Array.isArray(tokens) && tokens.every((one) => isText(one) || Number.isInteger(one)),
}

const isBuilder: Check = (value) =>
  typeof value === 'object' && value !== null && 'renameTensor' in value ? undefined : 'a GgufBuilder'
const isChange: Check = (one) => {
  const kind = isRecord(one) ? String(one['change']) : ''
  return isRecord(one) && Object.hasOwn(kFields, kind) && kFields[kind as Change['change']](one)
    ? undefined
    : 'a change'
}

/** Parses the JSON text of a `ChangeList`. Error: 'invalid-argument'. */
export function parseChanges(text: string): readonly Change[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch (cause) {
    throw new GgufError('invalid-argument', 'The list of changes is not JSON.', { cause })
  }
  if (!isRecord(list) || list['format'] !== kChangesFormat || !Array.isArray(list['changes']))
    throw invalid(`That is not a list of changes: its format is not "${kChangesFormat}".`)
  if (list['version'] !== 1)
    throw invalid(`The list of changes has version ${String(list['version'])}. This program reads version 1.`)
  for (const [i, one] of (list['changes'] as unknown[]).entries()) {
    if (isChange(one) !== undefined) throw invalid(`Change ${i + 1} of the list is unknown to this program.`)
  }
  return list['changes'] as Change[]
}

/** Formats changes as a JSON text that parseChanges reads. */
export function formatChanges(changes: readonly Change[]): string {
  checkArgument('formatChanges()', 'list of changes', changes, listOf(object, 'an array of changes'))
  const list: ChangeList = { format: kChangesFormat, version: 1, changes }
  return `${JSON.stringify(list, undefined, 1)}\n`
}
