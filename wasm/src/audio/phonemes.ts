// Texts for models that read phonemes: they are cut into clauses, which a function of the caller turns into phonemes.
import { GgufError } from '../api/errors.js'
import { untilAbort } from '../runtime/until-abort.js'

/**
 * The phonemes of a clause, in the International Phonetic Alphabet. text: without the mark at its end. language: as
 * speak() got it, otherwise that of the voice, such as 'en-us'. Spaces between words stay, and line breaks are spaces.
 */
export type Phonemize = (text: string, language: string) => string | PromiseLike<string>

interface Clause {
  readonly words: string
  /** the mark after it, as models know it; empty: none */
  readonly mark: string
  /** where it ends in the text */
  readonly end: number
}

/** Phonemes that are spoken in one go, and the share of the text that is then spoken. */
interface PhonemePart {
  readonly phonemes: string
  readonly done: number
}

// Marks at the end of a word, those of Chinese and Japanese anywhere, dashes, and empty lines.
const kMarks =
  /[.!?\u2026,;:]+(?=["'\u201d\u2019)\]\u00bb]*(?:\s|$))|[\u2014。！？、，；：]+|\n[^\S\n]*\n\s*/gu
const kLongestClause = 300
const kLongestPart = 160 // phonemes: about ten seconds, and the first sound comes after the first part
const kShortestPart = 24 // shorter sentences are joined: models speak them badly
const kSame: Readonly<Record<string, string>> = {
  '。': '.',
  '！': '!',
  '？': '?',
  '、': ',',
  '，': ',',
  '；': ';',
  '：': ':',
  '\n': '.',
}

function markOf(marks: string): string {
  const all = [...marks].map((mark) => kSame[mark] ?? mark)
  return all.find((mark) => mark === '?' || mark === '!') ?? (/^\.\.+/.test(marks) ? '\u2026' : all[0]!)
}

/** Cuts words that no mark divides, after a space if there is one. */
function* shorter(words: string, end: number): Generator<Clause, Clause, void> {
  let rest = words
  while (rest.length > kLongestClause) {
    const space = rest.lastIndexOf(' ', kLongestClause)
    const isInPair = /[\ud800-\udbff]/.test(rest[kLongestClause - 1]!)
    const at = space > 0 ? space : kLongestClause - Number(isInPair)
    yield { words: rest.slice(0, at), mark: '', end: end - rest.length + at }
    rest = rest.slice(at)
  }
  return { words: rest, mark: '', end }
}

/** The clauses of a text, cut as they are read. */
function* clausesOf(text: string): Generator<Clause, void, void> {
  let from = 0
  for (const found of text.matchAll(kMarks)) {
    const end = found.index + found[0].length
    const last = yield* shorter(text.slice(from, found.index), found.index)
    yield { words: last.words, mark: markOf(found[0]), end }
    from = end
  }
  if (from < text.length) yield yield* shorter(text.slice(from), text.length)
}

/**
 * Parts of at least a sentence, or of the length of one. phonemize is called for one clause after the other, as they are
 * needed; what it throws ends the generator.
 */
export async function* phonemeParts(
  text: string,
  phonemize: (words: string) => string | PromiseLike<string>,
  signal?: AbortSignal,
): AsyncGenerator<PhonemePart, void, void> {
  let [phonemes, done] = ['', 0]
  for (const { words, mark, end } of clausesOf(text)) {
    const isSpoken = /[\p{L}\p{N}\p{S}]/u.test(words)
    const given: unknown = isSpoken ? await untilAbort(phonemize(words.trim()), signal) : ''
    if (typeof given !== 'string')
      throw new GgufError('invalid-argument', `phonemize() must return a string, not ${typeof given}.`)
    const sounds = given.replace(/\s+/g, ' ').trim()
    if (phonemes !== '' && phonemes.length + sounds.length > kLongestPart) {
      yield { phonemes, done }
      phonemes = ''
    }
    if (sounds !== '') phonemes += `${phonemes === '' ? '' : ' '}${sounds}${mark}`
    done = end / text.length
    if (/[.!?\u2026]/.test(mark) && phonemes.length >= kShortestPart) {
      yield { phonemes, done }
      phonemes = ''
    }
  }
  if (phonemes !== '') yield { phonemes, done }
}

// What Kokoro's English voices were trained with differs from what espeak-ng writes. kokoro-js has the same list.
const kEnglish: readonly (readonly [RegExp, string])[] = [
  [/kəkˈoːɹoʊ/g, 'kˈoʊkəɹoʊ'],
  [/kəkˈɔːɹəʊ/g, 'kˈəʊkəɹəʊ'],
  [/ʲ/g, 'j'],
  [/r/g, 'ɹ'],
  [/x/g, 'k'],
  [/ɬ/g, 'l'],
  [/([a-zɹː])(hˈʌndɹɪd)/g, '$1 $2'],
  [/ z(?![\p{L}\p{M}ˈˌ])/gu, 'z'], // the ending of a name
]
const kNinety = /nˈaɪnti(?!ː)/g

/** The phonemes of espeak-ng in the letters that Kokoro's voices of the language know. */
export function asKokoroReads(phonemes: string, language: string): string {
  if (!/^en\b/.test(language)) return phonemes
  const read = kEnglish.reduce((text, [from, to]) => text.replace(from, to), phonemes)
  return /^en-gb\b/.test(language) ? read : read.replace(kNinety, 'nˈaɪndi')
}

// By the first letter of a voice's name, as Kokoro's voices are named: "af_heart".
const kLanguages: Readonly<Record<string, string>> = {
  a: 'en-us',
  b: 'en-gb',
  e: 'es',
  f: 'fr-fr',
  h: 'hi',
  i: 'it',
  j: 'ja',
  p: 'pt-br',
  z: 'cmn',
}

/** The language of a voice, by its name. */
export const languageOfVoice = (voice: string): string =>
  (/^[a-z][fm]_/.test(voice) ? kLanguages[voice[0]!] : undefined) ?? 'en-us'

/** The voice that speaks if none is chosen. */
export const usualVoice = (voices: readonly string[]): string =>
  voices.includes('af_heart') ? 'af_heart' : (voices[0] ?? '')
