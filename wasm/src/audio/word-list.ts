// English texts for models that read phonemes and whose file lists words with them, in keys of this project.
import type { GgufFile } from '../api/file.js'

/** Keys of two lists of texts: words in small letters, names of letters as capital letters, and the phonemes of each. */
export const kWordKeys = ['ggufscope.words', 'ggufscope.word_phonemes'] as const

// Numbers, words and signs. Only punctuation has no sound.
const kTexts = /\d[\d,]*(?:\.\d+)?|\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*|[%&+=@]|\p{S}|\p{N}/gu
const kSigns: Readonly<Record<string, string>> = {
  '%': 'percent',
  '&': 'and',
  '+': 'plus',
  '=': 'equals',
  '@': 'at',
}
const kSmall =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const kTens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const kUnits = [
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
] as const
const kLongest = 12 // digits; longer numbers are read digit by digit

const digits = (text: string): string[] => Array.from(text, (digit) => kSmall[Number(digit)]!)

function belowThousand(n: number): string[] {
  const words = n >= 100 ? [kSmall[Math.floor(n / 100)]!, 'hundred'] : []
  const rest = n % 100
  if (rest >= 20) words.push(kTens[Math.floor(rest / 10) - 2]!)
  const last = rest >= 20 ? rest % 10 : rest
  if (last !== 0) words.push(kSmall[last]!)
  return words
}

/** A number of digits, with or without commas between them and a decimal point, in words. */
export function numberInWords(text: string): string[] {
  const [whole = '', decimals] = text.replaceAll(',', '').split('.')
  let n = Number(whole)
  let words: string[] = []
  if (n === 0 || whole.length > kLongest) {
    words = n === 0 ? ['zero'] : digits(whole)
  } else {
    for (const [unit, name] of kUnits) {
      if (n >= unit) words.push(...belowThousand(Math.floor(n / unit)), name)
      n %= unit
    }
    words.push(...belowThousand(n))
  }
  return decimals === undefined ? words : [...words, 'point', ...digits(decimals)]
}

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

  /** The phonemes of a clause. */
  phonemize(text: string): string {
    return Array.from(text.normalize('NFKC').matchAll(kTexts), ([found]) => this.#spoken(found)).join(' ')
  }

  #spoken(found: string): string {
    if (/^\d/.test(found))
      return numberInWords(found)
        .map((word) => this.#ofWord(word))
        .join(' ')
    return this.#ofWord(kSigns[found] ?? found)
  }

  #ofWord(given: string): string {
    // A letter alone: "a" and "I" are words, others have names.
    if (/^[B-HJ-Z]$/.test(given)) return joined(this.#spell(given))
    const letters = given.normalize('NFKD').replace(/\p{M}+/gu, '')
    const word = letters.toLowerCase().replaceAll('’', "'")
    const known = this.#phonemes.get(word)
    if (known !== undefined) return known
    for (const pattern of kEndings) {
      const phonemes = this.#phonemes.get(pattern.exec(word)?.[1] ?? '')
      if (phonemes !== undefined) return phonemes + ending(phonemes)
    }
    const names = this.#spell(word)
    if (names.includes(undefined)) this.lost.add(given)
    else if (word.length > 1) this.spelled.add(given)
    return joined(names)
  }

  #spell(word: string): (string | undefined)[] {
    return Array.from(word.replaceAll("'", '').toUpperCase(), (letter) => this.#phonemes.get(letter))
  }
}
