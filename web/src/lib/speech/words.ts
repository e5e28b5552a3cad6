// Whether a file that reads phonemes reads plain English, too: by a list of words in it.
import type { GgufFile } from 'ggufscope'

/** As wasm/src/audio/word-list.ts has them. */
const kWordKeys = ['ggufscope.words', 'ggufscope.word_phonemes']

export const listsWords = ({ metadata }: GgufFile) => kWordKeys.every((key) => metadata.has(key))
