// Adds and removes tokens of a vocabulary in the keys of a file: arrays with one entry per token, merges, and ids.
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import type { NewToken } from '../api/edit.js'
import type { Scalar } from '../api/metadata.js'
import { kScalars } from '../header/header.js'
import type { KeyEntry } from './entries.js'
import { kTokenTypes, tokenTypeId } from '../text/token-types.js'
import { encodeValue, type EncodedValue } from './values.js'

const kTokens = 'tokenizer.ggml.tokens'
const kScores = 'tokenizer.ggml.scores'
const kTypes = 'tokenizer.ggml.token_type'
const kMerges = 'tokenizer.ggml.merges'
const kAdded = 'tokenizer.ggml.added_tokens'
// Carries a copy of the vocabulary, which is wrong after a change.
const kCopy = 'tokenizer.huggingface.json'
const kIds = /_token_ids?$|^tokenizer\.ggml\.suppress_tokens$/

const kPrefixBytes = 8
const kNormal = tokenTypeId('normal')
// The score that llama.cpp's converters give to tokens that are no pieces of the model.
const kLowScore = -1000

/** Ids that readers assume, by tokenizer.ggml.model, if the file lacks the key. */
const kAssumed: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  llama: { bos: 1, eos: 2, unknown: 0 },
  gpt2: { bos: 11, eos: 11 },
  hybriddna: { bos: 11, eos: 11 },
  whitespace: { bos: 11, eos: 11 },
  bert: { bos: 101, unknown: 100, seperator: 102, padding: 0, mask: 103 },
  t5: { eos: 1, unknown: 2, padding: 0 },
  replit: { eos: 1, unknown: 0, padding: 2 },
  plamo2: { bos: 1, eos: 2, unknown: 0, padding: 3 },
}
/** Models whose tokens spell a space as U+2581. */
const kMarksSpaces: ReadonlySet<string> = new Set(['llama', 't5', 'replit', 'bert'])

const invalid = (message: string): GgufError => new GgufError('invalid-argument', message)
const quoted = (text: string): string => JSON.stringify(text)
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export interface ChangedKeys {
  readonly keys: readonly KeyEntry[]
  /** number of tokens before the change */
  readonly count: number
  readonly removed: ReadonlySet<number>
}

type From = KeyEntry['from']
/** New values of keys; undefined: the key is removed. */
type Changes = Map<string, EncodedValue | undefined>

function bytesOf(from: From): Uint8Array {
  if (!('header' in from)) return from.bytes
  const { header, offset, length } = from
  if (header.bigEndian || (header.container === 'gguf' && header.facts().version === 1))
    throw new GgufError(
      'unsupported',
      'The vocabulary of a big-endian file or of GGUF version 1 cannot be changed: convert the file first.',
    )
  const view = header.view(offset, length)
  return new Uint8Array(view.buffer, view.byteOffset, length).slice()
}

/** The encoded elements of an array. Each string begins with its length. */
function elementsOf(key: string, from: From): Uint8Array[] {
  const scalar = kScalars[from.elementType]
  if (from.type !== 'array' || (!scalar && from.elementType !== 'string'))
    throw invalid(`${key} is no array of strings or numbers.`)
  const bytes = bytesOf(from)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  return Array.from({ length: from.count }, () => {
    const start = at
    at += scalar ? scalar.bytes : kPrefixBytes + Number(view.getBigUint64(at, true))
    return bytes.subarray(start, at)
  })
}

const textOf = (element: Uint8Array): string => decoder.decode(element.subarray(kPrefixBytes))

function numberOf(element: Uint8Array, type: string): Scalar {
  const view = new DataView(element.buffer, element.byteOffset, element.length)
  return kScalars[type]!.get(view, 0, true)
}

function arrayOf(elementType: EncodedValue['elementType'], elements: readonly Uint8Array[]): EncodedValue {
  const bytes = new Uint8Array(elements.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const element of elements) {
    bytes.set(element, at)
    at += element.length
  }
  return { type: 'array', elementType, count: elements.length, bytes }
}

const encoded = (key: string, value: string | number, type: From['elementType']): Uint8Array =>
  encodeValue([value], { arrayOf: type as 'string' }, key).bytes

/** A vocabulary in a list of keys. Changes return new lists. */
class Vocabulary {
  readonly keys: readonly KeyEntry[]
  readonly tokens: readonly Uint8Array[]
  readonly model: string

  constructor(keys: readonly KeyEntry[]) {
    this.keys = keys
    const tokens = this.find(kTokens)
    if (!tokens) throw new GgufError('not-found', `The file has no vocabulary (${kTokens}).`)
    this.tokens = elementsOf(kTokens, tokens)
    const model = this.find('tokenizer.ggml.model')
    this.model = model?.type === 'string' ? decoder.decode(bytesOf(model)) : ''
  }

  find(key: string): From | undefined {
    return this.keys.find((entry) => entry.key === key)?.from
  }

  /** The elements of an array with one entry per token; undefined if there is no such array. */
  perToken(key: string): readonly Uint8Array[] | undefined {
    const from = this.find(key)
    if (!from) return undefined
    const elements = elementsOf(key, from)
    if (elements.length === this.tokens.length) return elements
    throw invalid(
      `${key} has ${counted(elements.length, 'entry', 'entries')} for ${counted(this.tokens.length, 'token')}. Change that first.`,
    )
  }

  /** The text as the file stores it. */
  spelled({ text, type }: NewToken): string {
    return type === 'normal' && kMarksSpaces.has(this.model) ? text.replaceAll(' ', '\u2581') : text
  }

  /** The keys with some replaced or, where the value is undefined, removed. Unknown keys are added. */
  with(changes: Changes): KeyEntry[] {
    const kept = this.keys.flatMap((entry) => {
      if (!changes.has(entry.key)) return [entry]
      const from = changes.get(entry.key)
      return from ? [{ key: entry.key, from }] : []
    })
    const known = new Set(this.keys.map(({ key }) => key))
    const added = [...changes].flatMap(([key, from]) => (from && !known.has(key) ? [{ key, from }] : []))
    return [...kept, ...added]
  }

  /** Sets {arch}.vocab_size and removes the copy of the vocabulary. rows: those of the embeddings, now and then. */
  shared(count: number, rows: readonly [now: number, then: number]): Changes {
    const changes: Changes = new Map([[kCopy, undefined]])
    for (const { key, from } of this.keys) {
      if (!/^[^.]+\.vocab_size$/.test(key) || !kScalars[from.type]) continue
      const size = Number(numberOf(bytesOf(from), from.type))
      const next = size === this.tokens.length ? count : size === rows[0] ? rows[1] : size
      if (next !== size) changes.set(key, encodeValue(next, from.type as 'u32', key))
    }
    return changes
  }
}

function mustBeNew(vocabulary: Vocabulary, tokens: readonly NewToken[]): void {
  const known = new Set(vocabulary.tokens.map(textOf))
  for (const token of tokens) {
    const { text, type = 'user-defined', score } = token
    if (typeof text !== 'string' || text === '') throw invalid('A token needs a text.')
    if (!kTokenTypes.includes(type) || type === 'undefined')
      throw invalid(`Token ${quoted(text)}: there is no type "${type}": ${kTokenTypes.slice(1).join(', ')}.`)
    if (type === 'byte' && !/^<0x[0-9A-F]{2}>$/.test(text))
      throw invalid(`Token ${quoted(text)}: a byte token is written as <0x0A>.`)
    if (type === 'normal' && vocabulary.find(kMerges))
      throw invalid(
        `Token ${quoted(text)}: normal tokens of this vocabulary are found only by merges. Take user-defined or control.`,
      )
    if (score !== undefined && !Number.isFinite(score))
      throw invalid(`Token ${quoted(text)}: ${String(score)} is no score.`)
    const spelled = vocabulary.spelled(token)
    if (known.has(spelled)) throw new GgufError('duplicate', `There is a token ${quoted(spelled)} already.`)
    known.add(spelled)
  }
}

/** rows: number of rows of the embeddings; undefined without embeddings */
export function addTokens(
  keys: readonly KeyEntry[],
  tokens: readonly NewToken[],
  rows: number | undefined,
): ChangedKeys {
  const vocabulary = new Vocabulary(keys)
  mustBeNew(vocabulary, tokens)
  const count = vocabulary.tokens.length
  const next = count + tokens.length
  const changes = vocabulary.shared(next, [rows ?? count, Math.max(rows ?? 0, next)])
  const texts = tokens.map((token) => encoded(kTokens, vocabulary.spelled(token), 'string'))
  changes.set(kTokens, arrayOf('string', [...vocabulary.tokens, ...texts]))

  const codes = tokens.map(({ type = 'user-defined' }) => kTokenTypes.indexOf(type))
  const types = vocabulary.perToken(kTypes)
  const typeOf = vocabulary.find(kTypes)?.elementType ?? 'i32'
  if (types || codes.some((code) => code !== kNormal)) {
    const before = types ?? new Array<Uint8Array>(count).fill(encoded(kTypes, kNormal, typeOf))
    changes.set(kTypes, arrayOf(typeOf, [...before, ...codes.map((code) => encoded(kTypes, code, typeOf))]))
  }
  const scores = vocabulary.perToken(kScores)
  const scored = tokens.find(({ score }) => score !== undefined)
  if (scored && !scores)
    throw invalid(`Token ${quoted(scored.text)}: the tokens of this vocabulary have no scores.`)
  if (scores) {
    const type = vocabulary.find(kScores)!.elementType
    const isNormal = (id: number): boolean => !types || Number(numberOf(types[id]!, typeOf)) === kNormal
    const normal = scores.filter((_, id) => isNormal(id)).map((score) => Number(numberOf(score, type)))
    const min = normal.reduce((a, b) => Math.min(a, b), 0)
    const usual = (code: number): number => (code === kNormal ? min - 1 : kLowScore)
    const added = tokens.map(({ score }, i) => encoded(kScores, score ?? usual(codes[i]!), type))
    changes.set(kScores, arrayOf(type, [...scores, ...added]))
  }
  return { keys: vocabulary.with(changes), count, removed: new Set() }
}

/** Ids of tokens that are given by id, or by text. */
function idsOf(vocabulary: Vocabulary, tokens: readonly (number | string)[]): Set<number> {
  const count = vocabulary.tokens.length
  const spelled = (text: string): string => vocabulary.spelled({ text, type: 'normal' })
  const byText = new Map<string, number[]>()
  for (const token of tokens) if (typeof token === 'string') byText.set(token, []).set(spelled(token), [])
  if (byText.size > 0)
    for (const [id, element] of vocabulary.tokens.entries()) byText.get(textOf(element))?.push(id)
  const ids = new Set<number>()
  for (const token of tokens) {
    if (typeof token === 'string') {
      const found =
        [token, spelled(token)].map((text) => byText.get(text)!).find((all) => all.length > 0) ?? []
      if (found.length > 1)
        throw invalid(`The token ${quoted(token)} has the ids ${found.join(', ')}. Name one of them.`)
      if (found.length === 0) throw new GgufError('not-found', `There is no token ${quoted(token)}.`)
      ids.add(found[0]!)
    } else if (Number.isInteger(token) && token >= 0 && token < count) ids.add(token)
    else throw new GgufError('not-found', `There is no token ${token}: there are ${count}, from 0.`)
  }
  return ids
}

/** Keys with ids of tokens, moved to the ids after the removal. */
function movedIds(vocabulary: Vocabulary, removed: ReadonlySet<number>, changes: Changes): void {
  const sorted = [...removed].sort((a, b) => a - b)
  const moved = (id: number): number =>
    id < vocabulary.tokens.length ? id - sorted.filter((one) => one < id).length : id
  const mustStay = (key: string, id: number): void => {
    if (!removed.has(id)) return
    const text = textOf(vocabulary.tokens[id]!)
    throw invalid(
      `Token ${id} (${quoted(text)}) is in use as ${key}. Set that key to another token, or remove it, first.`,
    )
  }
  for (const { key, from } of vocabulary.keys) {
    if (!kIds.test(key)) continue
    if (from.type === 'array') {
      const type = from.elementType
      const ids = elementsOf(key, from).map((element) => Number(numberOf(element, type)))
      const kept = ids.filter((id) => !removed.has(id)).map(moved)
      if (kept.some((id, i) => id !== ids[i]) || kept.length < ids.length)
        changes.set(key, encodeValue(kept, { arrayOf: type as 'i32' }, key))
    } else if (kScalars[from.type]) {
      const id = Number(numberOf(bytesOf(from), from.type))
      mustStay(key, id)
      if (moved(id) !== id) changes.set(key, encodeValue(moved(id), from.type, key))
    }
  }
  for (const [role, id] of Object.entries(kAssumed[vocabulary.model] ?? {})) {
    const key = `tokenizer.ggml.${role}_token_id`
    if (vocabulary.find(key) || id >= vocabulary.tokens.length) continue
    if (role === 'seperator' && vocabulary.find('tokenizer.ggml.separator_token_id')) continue
    mustStay(key, id)
    if (moved(id) !== id) changes.set(key, encodeValue(moved(id), 'u32', key))
  }
}

/** The merges that can still be made without some tokens. */
function keptMerges(merges: readonly Uint8Array[], lost: Iterable<string>): Uint8Array[] {
  const gone = new Set(lost)
  let left = merges.map((element) => {
    const text = textOf(element)
    const space = text.indexOf(' ', 1)
    return { element, first: text.slice(0, space), second: text.slice(space + 1) }
  })
  for (;;) {
    const dropped = new Set<string>()
    const kept = left.filter(({ first, second }) => {
      const stays = !gone.has(first) && !gone.has(second) && !gone.has(first + second)
      if (!stays) dropped.add(first + second)
      return stays
    })
    if (dropped.size === 0) return left.map(({ element }) => element)
    left = kept
    // What no other merge makes can be no part of a merge.
    for (const { first, second } of left) dropped.delete(first + second)
    for (const text of dropped) gone.add(text)
  }
}

export function removeTokens(
  keys: readonly KeyEntry[],
  tokens: readonly (number | string)[],
  rows: number | undefined,
): ChangedKeys {
  const vocabulary = new Vocabulary(keys)
  const count = vocabulary.tokens.length
  const removed = idsOf(vocabulary, tokens)
  const changes = vocabulary.shared(count - removed.size, [rows ?? count, (rows ?? count) - removed.size])
  movedIds(vocabulary, removed, changes)
  for (const key of [kTokens, kScores, kTypes]) {
    const elements = vocabulary.perToken(key)
    if (!elements) continue
    const kept = elements.filter((_, id) => !removed.has(id))
    changes.set(key, arrayOf(vocabulary.find(key)!.elementType, kept))
  }
  const texts = new Set([...removed].map((id) => textOf(vocabulary.tokens[id]!)))
  for (const [id, element] of vocabulary.tokens.entries()) if (!removed.has(id)) texts.delete(textOf(element))
  const lists = [
    [kMerges, (all: readonly Uint8Array[]) => keptMerges(all, texts)],
    [kAdded, (all: readonly Uint8Array[]) => all.filter((element) => !texts.has(textOf(element)))],
  ] as const
  for (const [key, without] of lists) {
    const from = vocabulary.find(key)
    if (!from) continue
    const all = elementsOf(key, from)
    const kept = without(all)
    if (kept.length < all.length) changes.set(key, arrayOf('string', kept))
  }
  return { keys: vocabulary.with(changes), count, removed }
}
