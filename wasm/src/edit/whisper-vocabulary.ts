// Converts the vocabulary of whisper.cpp's files: the bytes of each token in the order of the merges, without control
// tokens, which whisper.cpp identifies by number. They get the names of OpenAI's tokenizer.
import { byteLevelVocabulary, type ByteLevelVocabulary } from './gpt2-vocabulary.js'
import { speechLanguages } from '../audio/languages.js'
import { tokenTypeId } from '../text/token-types.js'

const kTasks = ['translate', 'transcribe', 'startoflm', 'startofprev', 'nospeech', 'notimestamps']
const kTimes = 1501 // every 20 ms of 30 s
const kControl = tokenTypeId('control')
const kUnused = tokenTypeId('unused')

/** English-only models have one token fewer. */
const kWords = { english: 50256, multilingual: 50257 }

// The first tokens are the single bytes: the visible ones, then the others.
const kBytes: readonly number[] = (() => {
  const isVisible = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
  const bytes = Array.from({ length: 256 }, (_, byte) => byte)
  return [...bytes.filter(isVisible), ...bytes.filter((byte) => !isVisible(byte))]
})()

/** U+FFFD in UTF-8. The first converters wrote it for bytes that are not valid UTF-8 by themselves. */
const isLost = (word: Uint8Array): boolean =>
  word.some((byte, i) => byte === 0xef && word[i + 1] === 0xbf && word[i + 2] === 0xbd)

/** size: of the model's vocabulary. It determines the number of languages. */
export function whisperVocabulary(words: readonly Uint8Array[], size: number): ByteLevelVocabulary {
  const first = size > kWords.english + 2 + 99 + kTasks.length + kTimes ? kWords.multilingual : kWords.english
  const languages = size - first - 2 - kTasks.length - kTimes
  if (words.length < kWords.english || languages < 1 || languages > speechLanguages.length)
    return { ...byteLevelVocabulary(words, size), end: -1 }
  // Single bytes are known from their position. Longer tokens have lost bytes, so their merges cannot be found.
  const lost = new Set(
    words[kBytes.indexOf(0xff)]!.length > 1 ? words.flatMap((word, id) => (isLost(word) ? [id] : [])) : [],
  )
  const whole = words.map((word, id) => {
    return id < kBytes.length ? Uint8Array.of(kBytes[id]!) : lost.has(id) ? new Uint8Array() : word
  })
  const { tokens, types, merges } = byteLevelVocabulary(whole, size)
  for (const id of lost) {
    if (id < kBytes.length) continue
    tokens[id] = `[LOST${id}]`
    types[id] = kUnused
  }
  const controls = [
    'endoftext',
    'startoftranscript',
    ...speechLanguages.slice(0, languages),
    ...kTasks,
    ...Array.from({ length: kTimes }, (_, i) => (i / 50).toFixed(2)),
  ]
  for (const [i, name] of controls.entries()) {
    tokens[first + i] = `<|${name}|>`
    types[first + i] = kControl
  }
  return { tokens, types, merges, end: first }
}
