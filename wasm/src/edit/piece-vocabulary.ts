// The vocabulary of whisper.cpp's Parakeet files: the pieces of a SentencePiece model in order, without scores. A BPE
// model needs no more: its pieces are in the order of the merges, followed by single characters, and only the order of
// scores matters. A unigram model needs its probabilities, so text cannot be tokenized without them.
import { tokenTypeId } from '../text/token-types.js'

const kNormal = tokenTypeId('normal')
const kUnknown = tokenTypeId('unknown')
const kControl = tokenTypeId('control')
const kByte = tokenTypeId('byte')

interface PieceVocabulary {
  readonly tokens: string[]
  readonly types: number[]
  /** scores by rank; undefined if the pieces are not those of a BPE model */
  readonly scores: number[] | undefined
}

function typeOf(token: string): number {
  if (token === '<unk>') return kUnknown
  if (/^<0x[0-9A-Fa-f]{2}>$/.test(token)) return kByte
  return /^<.+>$/.test(token) ? kControl : kNormal
}

/** Whether each piece is a merge of two characters or earlier pieces, and the single characters come last. */
function isOfMerges(pieces: readonly string[]): boolean {
  const known = new Set<string>()
  const lengths = pieces.map((piece) => [...piece].length)
  for (const [i, piece] of pieces.entries()) {
    if (lengths[i] === 1) return lengths.slice(i).every((length) => length === 1)
    const characters = [...piece]
    const isKnown = (part: readonly string[]) => part.length === 1 || known.has(part.join(''))
    if (!characters.some((_, k) => k > 0 && isKnown(characters.slice(0, k)) && isKnown(characters.slice(k))))
      return false
    known.add(piece)
  }
  return true
}

export function pieceVocabulary(words: readonly Uint8Array[]): PieceVocabulary {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const tokens = words.map((word) => decoder.decode(word))
  const types = tokens.map(typeOf)
  const pieces = tokens.filter((token, id) => types[id] === kNormal && token !== '')
  return { tokens, types, scores: isOfMerges(pieces) ? tokens.map((_, id) => -id) : undefined }
}
