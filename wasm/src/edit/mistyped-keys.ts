// Finds keys that differ by a letter or two from standardized ones.
import { checkArgument, text } from '../api/checks.js'
import type { Finding } from '../api/findings.js'
import type { Metadata } from '../api/metadata.js'
import { distance } from '../api/nearest.js'
import { lintByteTokens } from './byte-tokens.js'
import { kStandardKeys } from './standard-keys.js'

const kArch = '{arch}.'
const kArchitectureKey = 'general.architecture'
/** A file with more unknown keys has keys of a vendor's own: the others are not compared. */
const kMaxUnknown = 1000
const kMaxLetters = 120
const kPatterns = kStandardKeys.map(([pattern]) => pattern)
const hasPlaceholder = (pattern: string): boolean => pattern.includes('{', 1)
const kPlain: ReadonlySet<string> = new Set(kPatterns.filter((pattern) => !hasPlaceholder(pattern)))

/** The key before and after its first dot. An architecture's name may have dots itself. */
function cutAtPrefix(key: string, architecture: string): [prefix: string, rest: string] {
  const isOwn = architecture !== '' && key.startsWith(`${architecture}.`)
  const dot = isOwn ? architecture.length : key.indexOf('.')
  return dot < 0 ? ['', key] : [key.slice(0, dot), key.slice(dot + 1)]
}

/** A pattern in which numbers and names stand as in the key; undefined if the key has other parts. */
function filled(pattern: string, key: string): string | undefined {
  if (!pattern.includes('{')) return pattern
  const parts = key.split('.')
  const [...words] = pattern.split('.')
  for (const [i, word] of words.entries()) {
    if (word === '{tensor}') return [...words.slice(0, i), ...parts.slice(i)].join('.')
    if (!word.startsWith('{')) continue
    const part = parts[i]
    if (part === undefined || (word === '{id}' && !/^\d+$/.test(part))) return undefined
    words[i] = part
  }
  return words.length === parts.length ? words.join('.') : undefined
}

const kSeparators = /[._-]/g
const wordsOf = (name: string): string => name.toLowerCase().replaceAll(kSeparators, '.')
const lettersOf = (name: string): string => name.toLowerCase().replaceAll(kSeparators, '')
const withoutDigits = (name: string): string => name.replaceAll(/\d+/g, '#')

const sorted = (name: string): string => [...name].sort().join('')

/** True if the names differ only in a word of one or two letters, such as top_k and top_p: that is another name. */
function differInShortWord(a: string, b: string): boolean {
  const [first, second] = [a.split('.'), b.split('.')]
  if (first.length !== second.length) return false
  return second.every((word, i) => {
    const other = first[i]!
    return word === other || (Math.max(word.length, other.length) <= 2 && sorted(word) !== sorted(other))
  })
}

/** How far a name is from a standardized one; Infinity if it is probably another name. */
function away(given: string, name: string): number {
  const [a, b] = [wordsOf(given).split('.'), wordsOf(name).split('.')]
  // What both begin with says nothing about the rest.
  while (a.length > 1 && b.length > 1 && a[0] === b[0]) [a, b].forEach((words) => words.shift())
  const [mine, other] = [a.join('.'), b.join('.')]
  if (lettersOf(mine) === lettersOf(other)) return 0
  const length = Math.max(mine.length, other.length)
  const areSwapped = sorted(mine) === sorted(other)
  const max = length < 4 ? Number(areSwapped) : length < 9 ? 1 : 2
  if (Math.abs(mine.length - other.length) > max) return Infinity
  if (withoutDigits(mine) === withoutDigits(other) || differInShortWord(mine, other)) return Infinity
  const letters = distance(mine, other)
  return letters <= max ? letters : Infinity
}

/** True if one letter of a prefix is wrong. Digits tell architectures apart. */
const isNearPrefix = (given: string, architecture: string): boolean =>
  architecture.length >= 4 &&
  withoutDigits(given) !== withoutDigits(architecture) &&
  distance(given.toLowerCase(), architecture.toLowerCase()) <= 1

/**
 * The standardized key that was probably meant by a key that is none; undefined if the key is standardized, or resembles
 * none. architecture: the file's general.architecture, with which the keys of hyper-parameters begin; '' if
 * there is none.
 */
export function meantKey(key: string, architecture: string): string | undefined {
  checkArgument('meantKey()', 'key', key, text)
  checkArgument('meantKey()', 'architecture', architecture, text)
  if (key.length > kMaxLetters || kPlain.has(key)) return undefined
  const [prefix, rest] = cutAtPrefix(key, architecture)
  const isOwn = prefix !== '' && prefix === architecture
  let [nearest, min]: [string | undefined, number] = [undefined, Infinity]
  for (const pattern of kPatterns) {
    const ofArchitecture = pattern.startsWith(kArch)
    const name = filled(ofArchitecture ? pattern.slice(kArch.length) : pattern, ofArchitecture ? rest : key)
    if (name === undefined) continue
    if (!ofArchitecture) {
      if (name === key) return undefined
    } else if (name === rest) {
      if (isOwn) return undefined
      if (isNearPrefix(prefix, architecture)) return `${architecture}.${rest}`
    }
    if (ofArchitecture && !isOwn) continue
    const letters = ofArchitecture ? away(rest, name) : away(key, name)
    if (letters < min) [nearest, min] = [ofArchitecture ? `${prefix}.${name}` : name, letters]
  }
  return nearest
}

/** The architecture if there are keys with its name before them, otherwise an empty text: another rule speaks of that. */
export function architectureOf(keys: Iterable<string>, architecture: unknown): string {
  if (typeof architecture !== 'string') return ''
  for (const key of keys) if (key.startsWith(`${architecture}.`)) return architecture
  return ''
}

/** The findings of file.lintKeys(). */
export function lintKeys(metadata: Metadata): Finding[] {
  const architecture = architectureOf(metadata.keys(), metadata.get(kArchitectureKey))
  const findings = lintByteTokens(metadata)
  let unknown = 0
  for (const key of metadata.keys()) {
    if (kPlain.has(key)) continue
    if (++unknown > kMaxUnknown) break
    const meant = meantKey(key, architecture)
    if (meant === undefined) continue
    const there = metadata.has(meant) ? ', which is there too' : ''
    const message = `${JSON.stringify(key)} is no key that readers know: ${meant} was probably meant${there}`
    findings.push({
      level: 'note',
      code: 'mistyped-key',
      message,
      offset: metadata.offset(key) ?? 0,
      shard: 0,
    })
  }
  return findings
}
