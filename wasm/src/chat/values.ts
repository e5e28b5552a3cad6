// Converts arguments in other notations to JSON.
import type { Emit, Reader, Reading } from './reader.js'

const kEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  '0': '\0',
  a: '\x07',
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

// These functions pass a value on as JSON while it is read. They return false if the text ended inside it: then nothing
// is closed, and a number or word that might have gone on is left out.

function* escaped(r: Reader): Reading<string | undefined> {
  const escape = yield* r.next()
  if (escape === '') return undefined
  const digits = { x: 2, u: 4, U: 8 }[escape]
  if (digits === undefined) {
    if (escape === '\n') return ''
    return kEscapes[escape] ?? ('\\\'"/'.includes(escape) ? escape : `\\${escape}`)
  }
  let hex = ''
  for (let i = 0; i < digits; i++) hex += yield* r.next()
  if (hex.length < digits) return undefined
  const code = parseInt(hex, 16)
  return code <= 0xffff ? String.fromCharCode(code) : code <= 0x10ffff ? String.fromCodePoint(code) : ''
}

function* pythonString(r: Reader, emit: Emit): Reading<boolean> {
  const quote = yield* r.next()
  emit('"')
  for (;;) {
    const char = yield* r.next()
    if (char === quote) break
    const text = char === '\\' ? yield* escaped(r) : char
    if (text === undefined || char === '') return false
    emit(inJson(text))
  }
  emit('"')
  return true
}

/** Parses items up to the closing character. */
function* items(r: Reader, close: string, emit: Emit, item: () => Reading<boolean>): Reading<boolean> {
  yield* r.next()
  emit(close === '}' ? '{' : '[')
  let first = true
  for (;;) {
    yield* r.word(/[\s,]/)
    if (yield* r.take(close)) break
    if ((yield* r.peek()) === '') return false
    if (!first) emit(', ')
    first = false
    if (!(yield* item())) return false
  }
  emit(close === '}' ? '}' : ']')
  return true
}

function* pythonPair(r: Reader, emit: Emit): Reading<boolean> {
  let key = ''
  if (!(yield* pythonValue(r, (text) => (key += text)))) return false
  yield* r.space()
  yield* r.take(':')
  yield* r.space()
  if (r.atEnd) return false
  emit(`${key.startsWith('"') ? key : JSON.stringify(key)}: `)
  return yield* pythonValue(r, emit)
}

/** Converts a Python literal, or JSON, to JSON. */
export function* pythonValue(r: Reader, emit: Emit): Reading<boolean> {
  const char = yield* r.peek()
  if (char === '"' || char === "'") return yield* pythonString(r, emit)
  if (char === '[' || char === '(')
    return yield* items(r, char === '[' ? ']' : ')', emit, () => pythonValue(r, emit))
  if (char === '{') return yield* items(r, '}', emit, () => pythonPair(r, emit))
  return yield* scalar(yield* r.word(/[^\s,\])}:]/), r, emit)
}

function* scalar(word: string, r: Reader, emit: Emit): Reading<boolean> {
  // If no value begins here, it takes one character, so that the reader always advances.
  const text = word === '' ? yield* r.next() : word
  if (r.atEnd) return false
  const known: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }
  emit(known[text] ?? (isJson(text) ? text : JSON.stringify(text)))
  return true
}

const kGemmaQuote = '<|"|>'
/** Parses a value in Gemma 4's notation: strings between special tokens, keys without quotes. */
function* gemmaValue(r: Reader, emit: Emit): Reading<boolean> {
  if (yield* r.take(kGemmaQuote)) {
    emit('"')
    if ((yield* r.until([kGemmaQuote], (text) => emit(inJson(text)))) === undefined) return false
    emit('"')
    return true
  }
  const char = yield* r.peek()
  if (char === '[') return yield* items(r, ']', emit, () => gemmaValue(r, emit))
  if (char === '{') return yield* items(r, '}', emit, () => gemmaPair(r, emit))
  if (char === '"') return yield* pythonString(r, emit)
  return yield* scalar(yield* r.word(/[^,\]}]/), r, emit)
}
/** names: of the properties that are known, which may have a colon in them. */
export function* gemmaPair(r: Reader, emit: Emit, names: readonly string[] = []): Reading<boolean> {
  const known = yield* r.takeName(names, [':'])
  let key = ''
  if (!known) {
    const quoted = yield* r.take(kGemmaQuote)
    if ((yield* r.until([quoted ? kGemmaQuote : ':'], (text) => (key += text))) === undefined) return false
    if (quoted) yield* r.take(':')
    else key = key.trim()
  }
  if (r.atEnd) return false
  emit(`${JSON.stringify(known?.key ?? key)}: `)
  return yield* gemmaValue(r, emit)
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
