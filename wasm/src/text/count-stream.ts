// Counts the tokens of a text that arrives in pieces. The text is cut where no token can cross and where no rule of the
// tokenizer depends on the other side, so the sum equals the count of the whole text:
//
// - No token contains the characters on both sides of the cut, and none whose bytes are parts of characters fits there.
//   So no merge, no match and no path of a lattice crosses it.
// - The pre-tokenizers of byte-level BPE end a word there, or continue it only by merges, which do not cross it
//   (isBoundary).
// - No token that replaces its own spelling begins or ends there, because such tokens may remove white space.
// - Each part is counted together with some characters before it, whose tokens are then subtracted. So it gets no
//   space that tokenizers add at the beginning of a text.
import { callBack } from '../api/callbacks.js'
import { callback, checkOptions, flag, integer, signal as isSignal } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { CountStreamOptions, TextPieces, Tokenizer, TokenizerKind } from '../api/text.js'
import { nextTask } from '../runtime/next-task.js'
import { untilAbort } from '../runtime/until-abort.js'

/** UTF-16 code units that are counted at once, if they can be cut */
const kPieceLength = 32_768
/** UTF-16 code units before a part that are counted with it */
const kBefore = 32
/** UTF-16 code units after a cut that isBoundary() looks at */
const kAfter = 64
/** milliseconds after which other work gets its turn */
const kTurn = 12

const utf8 = new TextEncoder()

// Not white space, not a control character, not half of a pair of surrogates.
const kWordEnd = /[\p{L}\p{N}]$/u
const kVisibleEnd = /[^\s\p{Z}\p{C}]$/u
const kLineEnd = /[^\s\p{Z}\p{C}]\n$/u
const kHanEnd = /[\u4e00-\u9fff]$/
const kSpace = /^[ \t\r\n]/
const kSpacedWord = /^ [\p{L}\p{N}]/u
const kLineStart = /^[^\s\p{Z}\p{C}/]/u
const kHanRun = /^[\u4e00-\u9fff]+[^\p{L}\p{M}]/u

/**
 * Whether rules that look at characters around the cut give the same on both sides of it as for the whole text. White
 * space after a letter or digit begins a piece in every pre-tokenizer, and so does a single space between a sign and a
 * word. A single line end is a piece of its own, or ends one. Runs of Han characters are never changed before merging,
 * except by pre-tokenizers that look up whole words.
 */
function isBoundary(kind: TokenizerKind, before: string, after: string): boolean {
  if (kind === 'unigram') {
    // Line ends may be normalized to spaces, and to none.
    if (after.startsWith(' '))
      return kVisibleEnd.test(before) && (kWordEnd.test(before) || kSpacedWord.test(after))
  } else {
    if (kWordEnd.test(before) && kSpace.test(after)) return true
    if (kVisibleEnd.test(before) && kSpacedWord.test(after)) return true
    if (kLineEnd.test(before) && kLineStart.test(after)) return true
  }
  return kind !== 'bpe' && kHanEnd.test(before) && kHanRun.test(after)
}

const startsWithin = (bytes: Uint8Array) => ((bytes[0] ?? 0) & 0xc0) === 0x80

/** Whether the last character of these bytes is incomplete. */
function endsWithin(bytes: Uint8Array): boolean {
  let at = bytes.length - 1
  while (at > 0 && (bytes[at]! & 0xc0) === 0x80) at--
  const lead = bytes[at] ?? 0
  const length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  return at + length > bytes.length
}

/** Whether this spelling begins at a place, or ends there or before the line end there. */
const isBeside = (spelling: string, text: string, at: number): boolean =>
  [0, spelling.length, spelling.length + 1].some((back) => at >= back && text.startsWith(spelling, at - back))

type BytesOf = (id: number) => Uint8Array

/** What was found about vocabularies. */
const kCuts = new WeakMap<Tokenizer, Cuts>()

/** Finds places where a text can be cut without changing its tokens. */
class Cuts {
  readonly #tokenizer: Tokenizer
  /** whether a token contains these two characters */
  readonly #pairs = new Map<string, boolean>()
  /** tokens of several bytes that begin or end within a character */
  readonly #partial: Uint8Array[] = []
  /** texts of tokens that are found in the text before it is tokenized */
  readonly #spelled: readonly string[]
  readonly #isPossible: boolean
  /** whether spaces are tokens. Unigram joins unknown characters to one token, so it must know one side of a cut. */
  readonly #knowsSpace: boolean

  private constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer
    // DNA is read in words of six letters. Merges without a token could cross a cut unnoticed.
    const { model, findings } = tokenizer
    this.#isPossible = model !== 'hybriddna' && !findings.some(({ code }) => code === 'merge-unknown-token')
    this.#knowsSpace = tokenizer.find('\u2581') !== undefined
    const types = ['control', 'user-defined', 'unknown'] as const
    const ids = tokenizer.search({ types, limit: tokenizer.size })
    this.#spelled = ids.map((id) => tokenizer.tokens.at(id)!.text).filter(Boolean)
  }

  static async make(tokenizer: Tokenizer, bytesOf: BytesOf, pause: () => Promise<void>): Promise<Cuts> {
    const known = kCuts.get(tokenizer)
    if (known) return known
    const cuts = new Cuts(tokenizer)
    for (let id = 0; id < tokenizer.size; id++) {
      if (id % 4096 === 0) await pause()
      const bytes = bytesOf(id)
      if (bytes.length > 1 && (startsWithin(bytes) || endsWithin(bytes))) cuts.#partial.push(bytes)
    }
    kCuts.set(tokenizer, cuts)
    return cuts
  }

  /** The last place in from..to, or else the first one after it; undefined: there is none yet. */
  find(text: string, from: number, to: number): number | undefined {
    if (!this.#isPossible) return undefined
    for (let at = to; at > from; at--) if (this.#isSafe(text, at)) return at
    for (let at = to + 1; at + kAfter <= text.length; at++) if (this.#isSafe(text, at)) return at
    return undefined
  }

  #isSafe(text: string, at: number): boolean {
    const before = text.slice(Math.max(0, at - 2), at)
    const after = text.slice(at, at + kAfter)
    if (!isBoundary(this.#tokenizer.kind, before, after)) return false
    const isKnown = this.#knowsSpace && after.startsWith(' ')
    if (
      this.#tokenizer.kind === 'unigram' &&
      !isKnown &&
      this.#tokenizer.find(before.slice(-1)) === undefined
    )
      return false
    if (this.#spelled.some((one) => isBeside(one, text, at))) return false
    const pair = [...before].at(-1)! + [...after][0]!
    return !this.#isInToken(pair) && !this.#fitsPartial(text, at)
  }

  #isInToken(pair: string): boolean {
    const known = this.#pairs.get(pair)
    if (known !== undefined) return known
    const texts = [pair, pair.replace(' ', '\u2581')]
    const found = texts.some((text) => this.#tokenizer.search({ text, limit: 1 }).length > 0)
    this.#pairs.set(pair, found)
    return found
  }

  #fitsPartial(text: string, at: number): boolean {
    if (this.#partial.length === 0) return false
    const before = utf8.encode(text.slice(Math.max(0, at - kBefore), at))
    const after = utf8.encode(text.slice(at, at + kBefore))
    return this.#partial.some((bytes) => {
      for (let split = 1; split < bytes.length; split++) {
        const start = before.length - split
        const fits = (_: number, i: number) => bytes[i] === (i < split ? before[start + i] : after[i - split])
        if (start >= 0 && bytes.every(fits)) return true
      }
      return false
    })
  }
}

type Piece = string | Uint8Array

async function* readAll(
  stream: ReadableStream<Piece>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Piece> {
  const reader = stream.getReader()
  const stop = () => void reader.cancel(signal?.reason).catch(() => {})
  signal?.addEventListener('abort', stop)
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
}

function iterable(
  pieces: TextPieces,
  signal: AbortSignal | undefined,
): Iterable<Piece> | AsyncIterable<Piece> {
  if (typeof pieces === 'string' || pieces instanceof Uint8Array) return [pieces]
  const given = pieces instanceof Blob ? pieces.stream() : pieces
  const has = (name: string | symbol) => typeof given === 'object' && given !== null && name in given
  // Safari's streams are not iterable.
  if (has('getReader')) return readAll(given as ReadableStream<Piece>, signal)
  if (!has(Symbol.iterator) && !has(Symbol.asyncIterator))
    throw new GgufError(
      'invalid-argument',
      'A text must be a string, bytes, a Blob, a stream or an iterable of strings or bytes.',
    )
  return given as Iterable<Piece> | AsyncIterable<Piece>
}

/** The pieces as strings. */
async function* strings(
  pieces: TextPieces,
  signal: AbortSignal | undefined,
  onRead: (amount: number) => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const piece of iterable(pieces, signal)) {
    if (typeof piece !== 'string' && !(piece instanceof Uint8Array))
      throw new GgufError('invalid-argument', 'The pieces of a text must be strings or UTF-8 bytes.')
    onRead(piece.length)
    if (typeof piece === 'string') yield decoder.decode() + piece
    else yield decoder.decode(piece, { stream: true })
  }
  yield decoder.decode()
}

/** Rejects with the signal's reason when it is aborted, even if the pieces do not arrive. */
async function* abortable<T>(items: AsyncGenerator<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  try {
    for (;;) {
      signal?.throwIfAborted()
      const next = await untilAbort(items.next(), signal)
      if (next.done === true) return
      yield next.value
    }
  } finally {
    // Not awaited, because a piece may be on the way.
    items.return(undefined).catch(() => {})
  }
}

/** Returns a function that gives other work its turn, if it did not get one for a while. */
function turns(signal: AbortSignal | undefined): () => Promise<void> {
  let turn = performance.now()
  return async () => {
    if (performance.now() - turn > kTurn) {
      await nextTask()
      turn = performance.now()
    }
    signal?.throwIfAborted()
  }
}

/** bytesOf: the bytes that a token decodes to */
export async function countStream(
  tokenizer: Tokenizer,
  bytesOf: BytesOf,
  pieces: TextPieces,
  options: CountStreamOptions,
): Promise<number> {
  checkOptions('countStream()', options, {
    special: flag,
    bos: flag,
    signal: isSignal,
    onProgress: callback,
    pieceLength: integer(1),
  })
  const { special = false, bos = false, signal, onProgress, pieceLength = kPieceLength } = options
  const pause = turns(signal)
  const cuts = await Cuts.make(tokenizer, bytesOf, pause)
  const countOf = (text: string) => tokenizer.count(text, { special })
  let tokens = tokenizer.count('', { bos })
  let read = 0
  // The text that is not counted yet, after `counted` code units that are.
  let text = ''
  let counted = 0
  let tried = 0

  const take = async (end: number) => {
    tokens += countOf(text.slice(0, end)) - (counted > 0 ? countOf(text.slice(0, counted)) : 0)
    await callBack(onProgress, { read, tokens })
  }
  const given = strings(pieces, signal, (amount) => (read += amount))
  for await (const piece of abortable(given, signal)) {
    text += piece
    for (;;) {
      const wanted = Math.max(counted + pieceLength, tried)
      if (wanted + kAfter > text.length) break
      const end = cuts.find(text, tried > counted + pieceLength ? tried - 1 : counted, wanted)
      if (end === undefined) {
        tried = text.length - kAfter
        break
      }
      await take(end)
      counted = Math.min(end, kBefore)
      if (/[\udc00-\udfff]/.test(text[end - counted] ?? '')) counted--
      text = text.slice(end - counted)
      tried = 0
      await pause()
    }
  }
  await take(text.length)
  return tokens
}
