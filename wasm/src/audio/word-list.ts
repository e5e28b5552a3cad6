// English texts for models that read phonemes and whose file lists words with them, in keys of this project.
import type { GgufFile } from '../api/file.js'

/** Keys of two lists of texts: words in small letters, names of letters as capital letters, and the phonemes of each. */
export const kWordKeys = ['ggufscope.words', 'ggufscope.word_phonemes'] as const

// Words, letters between full stops such as U.S., and signs. Only punctuation has no sound.
const kTexts = /\p{Lu}(?:\.\p{Lu})+(?![\p{L}\p{M}])|\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*|\p{S}|\p{N}/gu
// Letters that are read by their names: of an abbreviation, and several of it.
const kNamed = /^\p{Lu}{2,5}s?$/u

// Of several things, or of what belongs to somebody.
const kEndings = [/^(.+?)(?:'s|s')$/, /^(.{2,}[^s])s$/, /^(.+(?:[sxz]|[cs]h))es$/]

/** The sound of such an ending. */
function ending(phonemes: string): string {
  if (/[szʃʒ]$/.test(phonemes)) return 'ᵻz'
  return /[ptkfθ]$/.test(phonemes) ? 's' : 'z'
}

const joined = (names: readonly (string | undefined)[]) => names.filter(Boolean).join(' ')

/** Writes texts as phonemes by a file's list of words. */
export class WordList {
  readonly #phonemes: ReadonlyMap<string, string>
  /** words that the list lacks, which are spelled letter by letter */
  readonly spelled = new Set<string>()
  /** those with a letter that has no name in the list */
  readonly lost = new Set<string>()

  constructor(phonemes: ReadonlyMap<string, string>) {
    this.#phonemes = phonemes
  }

  /** undefined: the file has no list. */
  static of({ metadata }: Pick<GgufFile, 'metadata'>): WordList | undefined {
    const [words, phonemes] = kWordKeys.map((key) => {
      const list = metadata.get(key)
      return typeof list === 'object' && list !== null && Symbol.iterator in list
        ? Array.from(list as Iterable<unknown>, String)
        : []
    })
    if (words!.length === 0 || words!.length !== phonemes!.length) return undefined
    return new WordList(new Map(words!.map((word, i) => [word, phonemes![i]!])))
  }

  /** The phonemes of a clause of words. */
  phonemize(text: string): string {
    return Array.from(text.matchAll(kTexts), ([found]) => this.#ofWord(found)).join(' ')
  }

  #ofWord(given: string): string {
    // A letter alone: "a" and "I" are words, others have names.
    if (/^[B-HJ-Z]$|\./.test(given)) return joined(this.#spell(given))
    const letters = given.normalize('NFKD').replace(/\p{M}+/gu, '')
    const word = letters.toLowerCase().replaceAll('’', "'")
    const known = this.#phonemes.get(word)
    if (known !== undefined) return known
    for (const pattern of kEndings) {
      const phonemes = this.#phonemes.get(pattern.exec(word)?.[1] ?? '')
      if (phonemes !== undefined) return phonemes + ending(phonemes)
    }
    if (kNamed.test(given) && given.endsWith('s')) {
      const names = joined(this.#spell(given.slice(0, -1)))
      return names + ending(names)
    }
    const names = this.#spell(word)
    if (names.includes(undefined)) this.lost.add(given)
    else if (word.length > 1 && !kNamed.test(given)) this.spelled.add(given)
    return joined(names)
  }

  #spell(word: string): (string | undefined)[] {
    return Array.from(word.replace(/['.]/g, '').toUpperCase(), (letter) => this.#phonemes.get(letter))
  }
}
