// The tokenizer of a file, in the heap of the text module.
import { checkArgument, checkOptions, flag, integer, number, text, type Check } from '../api/checks.js'
import { counted } from '../api/counted.js'
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import type { Span } from '../inspect.js'
import type { TextModule, WasmTokenizer } from '../text.js'
import type { Finding } from '../api/findings.js'
import type {
  CountStreamOptions,
  DecodeOptions,
  EncodeOptions,
  SpecialRole,
  SpecialTokens,
  StreamDecoder,
  TextPieces,
  Token,
  TokenList,
  TokenSearch,
  Tokenizer,
  TokenizerKind,
} from '../api/text.js'
import { kTokenTypes } from './token-types.js'

// The order of TextTokenizer::special in the core.
const kRoles: readonly SpecialRole[] = [
  'bos',
  'eos',
  'eot',
  'eom',
  'unk',
  'sep',
  'pad',
  'mask',
  'fimPrefix',
  'fimSuffix',
  'fimMiddle',
  'fimPad',
  'fimRepository',
  'fimSeparator',
]

const kNone = {}
const kEncodeChecks: Readonly<Record<keyof EncodeOptions, Check>> = { special: flag, bos: flag }
const kDecodeChecks: Readonly<Record<keyof DecodeOptions, Check>> = { special: flag, removeSpecial: flag }
const kMost = 2 ** 31 - 1
const kSearchChecks: Readonly<Record<keyof TokenSearch, Check>> = {
  text,
  types: (value) =>
    Array.isArray(value) && value.every((type) => kTokenTypes.includes(type as never))
      ? undefined
      : `an array of ${kTokenTypes.join(', ')}`,
  from: integer(0, kMost),
  limit: integer(0, kMost),
}

function checkId(id: unknown): asserts id is number {
  // Tokens of images and audio have negative ids.
  if (typeof id !== 'number' || (id | 0) !== id)
    throw new GgufError('invalid-argument', `A token's id must be a whole number, not ${String(id)}.`)
}

function checkKnown(id: number, size: number): void {
  if (id >= size) throw new GgufError('out-of-range', `There is no token ${id}: there are ${size}, from 0.`)
}

function idsOf(ids: Iterable<number>, size: number): Int32Array {
  if (typeof ids !== 'object' || ids === null || !(Symbol.iterator in ids))
    throw new GgufError('invalid-argument', `Tokens are a list of their ids, not ${String(ids)}.`)
  return Int32Array.from(ids, (id) => {
    checkId(id)
    checkKnown(id, size)
    return id
  })
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const finalizer = new FinalizationRegistry<WasmTokenizer>((tokenizer) => tokenizer.delete())

/** A tokenizer in the wasm heap. It owns a copy of the vocabulary, so it stays usable after the file is closed. */
export class FileTokenizer implements Tokenizer {
  readonly #module: TextModule
  readonly kind: TokenizerKind
  readonly model: string
  readonly pre: string
  readonly size: number
  readonly addsBos: boolean
  readonly addsEos: boolean
  readonly addsSep: boolean
  readonly special: SpecialTokens
  readonly findings: readonly Finding[]
  readonly tokens: TokenList
  #wasm: WasmTokenizer | undefined

  /** header: its bytes, as GGUF. */
  constructor(header: Uint8Array, module: TextModule) {
    this.#module = module
    const { length } = header
    const pointer = module._malloc(length) >>> 0
    if (pointer === 0)
      throw new GgufError('out-of-memory', `No memory for ${counted(length, 'byte')} of the vocabulary.`)
    module.HEAPU8.set(header, pointer)
    const wasm = new module.TextTokenizer(pointer, length)
    module._free(pointer)
    const code = wasm.errorCode()
    if (code !== '') {
      const error = new GgufError(code as GgufErrorCode, wasm.errorMessage(), { offset: wasm.errorOffset() })
      wasm.delete()
      throw error
    }
    this.#wasm = wasm
    finalizer.register(this, wasm, this)
    this.kind = wasm.kind() as TokenizerKind
    this.model = wasm.model()
    this.pre = wasm.pre()
    this.size = wasm.size()
    this.addsBos = wasm.addsBos()
    this.addsEos = wasm.addsEos()
    this.addsSep = wasm.addsSep()
    const ids = this.#ids(wasm.special())
    this.special = Object.fromEntries(kRoles.flatMap((role, i) => (ids[i]! >= 0 ? [[role, ids[i]!]] : [])))
    this.findings = Array.from({ length: wasm.noteCount() }, (_, i) => ({
      level: wasm.noteStrict(i) ? ('error' as const) : ('note' as const),
      code: wasm.noteCode(i),
      message: wasm.noteMessage(i),
      offset: 0,
      shard: 0,
    }))
    this.tokens = new Tokens(this)
  }

  /** The wasm object. Throws after close(). */
  get wasm(): WasmTokenizer {
    if (!this.#wasm) throw new GgufError('closed', 'This tokenizer was closed.')
    return this.#wasm
  }

  encode(text: string | Uint8Array, options: EncodeOptions = kNone): number[] {
    if (options !== kNone) checkOptions('encode()', options, kEncodeChecks)
    const { special = false, bos = false } = options
    const ids = this.#ids(this.wasm.encode(this.#put(text), special, bos))
    // Faster than Array.from, which uses an iterator.
    const out = new Array<number>(ids.length)
    for (let i = 0; i < ids.length; i++) out[i] = ids[i]!
    return out
  }

  count(text: string | Uint8Array, options: EncodeOptions = kNone): number {
    if (options !== kNone) checkOptions('count()', options, kEncodeChecks)
    const { special = false, bos = false } = options
    return this.wasm.encode(this.#put(text), special, bos)[1]
  }

  async countStream(pieces: TextPieces, options: CountStreamOptions = {}): Promise<number> {
    const { countStream } = await import('./count-stream.js')
    return countStream(this, (id) => this.bytes(this.wasm.piece(id)), pieces, options)
  }

  decode(ids: Iterable<number>, options?: DecodeOptions): string {
    return decoder.decode(this.decodeBytes(ids, options))
  }

  decodeBytes(ids: Iterable<number>, options: DecodeOptions = kNone): Uint8Array {
    if (options !== kNone) checkOptions('decode()', options, kDecodeChecks)
    const { special = true, removeSpecial = false } = options
    const wanted = idsOf(ids, this.size)
    const pointer = this.#room(wanted.byteLength)
    this.#module.HEAPU8.set(new Uint8Array(wanted.buffer), pointer)
    return this.bytes(this.wasm.decode(wanted.length, removeSpecial, special))
  }

  stream(options: Pick<DecodeOptions, 'special'> = {}): StreamDecoder {
    checkOptions('stream()', options, { special: flag })
    const { special = false } = options
    const pending = new TextDecoder('utf-8', { ignoreBOM: true })
    return {
      push: (id) => {
        checkId(id)
        checkKnown(id, this.size)
        if (!special && this.wasm.isSpecial(id)) return ''
        return pending.decode(this.bytes(this.wasm.piece(id)), { stream: true })
      },
      finish: () => pending.decode(),
    }
  }

  isEndOfGeneration(id: number): boolean {
    checkId(id)
    return this.wasm.isEnd(id)
  }

  find(text: string): number | undefined {
    const id = this.wasm.find(this.#put(text))
    return id < 0 ? undefined : id
  }

  search(query: TokenSearch = {}): number[] {
    checkOptions('search()', query, kSearchChecks)
    const { text = '', types, from = 0, limit = 100 } = query
    const mask = (types ?? kTokenTypes).reduce((bits, type) => bits | (1 << kTokenTypes.indexOf(type)), 0)
    return Array.from(this.#ids(this.wasm.search(this.#put(text), mask, from, limit)))
  }

  token(id: number): Token | undefined {
    if (!Number.isInteger(id) || id < 0 || id >= this.size) return undefined
    const { wasm } = this
    return {
      id,
      text: decoder.decode(this.bytes(wasm.text(id))),
      bytes: this.bytes(wasm.piece(id)),
      type: kTokenTypes[wasm.type(id)]!,
      score: wasm.score(id),
      special: wasm.isSpecial(id),
      endOfGeneration: wasm.isEnd(id),
    }
  }

  close(): void {
    finalizer.unregister(this)
    this.#wasm?.delete()
    this.#wasm = undefined
  }

  [Symbol.dispose](): void {
    this.close()
  }

  bytes([pointer, length]: Span): Uint8Array {
    return this.#module.HEAPU8.slice(pointer >>> 0, (pointer >>> 0) + length)
  }

  /** A view that is valid until the next call into wasm. */
  #ids([pointer, length]: Span): Int32Array {
    return new Int32Array(this.#module.HEAPU8.buffer, pointer >>> 0, length)
  }

  #room(bytes: number): number {
    if (bytes > 0x40000000)
      throw new GgufError(
        'out-of-memory',
        `A text of ${counted(bytes, 'byte')} is too long: 1 GiB is the most.`,
      )
    return this.wasm.reserve(bytes) >>> 0
  }

  /** Copies a text to the heap and returns its length in bytes. */
  #put(text: string | Uint8Array): number {
    if (typeof text !== 'string') {
      if (!(text instanceof Uint8Array))
        throw new GgufError('invalid-argument', 'A text must be a string or UTF-8 bytes.')
      const pointer = this.#room(text.length)
      this.#module.HEAPU8.set(text, pointer)
      return text.length
    }
    const room = text.length * 3
    const pointer = this.#room(room)
    return encoder.encodeInto(text, this.#module.HEAPU8.subarray(pointer, pointer + room)).written
  }
}

class Tokens implements TokenList {
  readonly #tokenizer: FileTokenizer

  constructor(tokenizer: FileTokenizer) {
    this.#tokenizer = tokenizer
  }

  get length(): number {
    return this.#tokenizer.size
  }

  at(id: number): Token | undefined {
    return this.#tokenizer.token(id)
  }

  slice(from = 0, to = this.length): Token[] {
    checkArgument('slice()', 'start', from, number())
    checkArgument('slice()', 'end', to, number())
    const start = Math.max(0, Math.trunc(from))
    return Array.from({ length: Math.max(0, Math.min(to, this.length) - start) }, (_, i) =>
      this.at(start + i)!,
    )
  }

  *[Symbol.iterator](): IterableIterator<Token> {
    for (let id = 0; id < this.length; id++) yield this.at(id)!
  }
}
