// Converts arguments in other notations to JSON.
import type { Reader, Reading } from './reader.js'

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

function* pythonString(r: Reader): Reading<string> {
  const quote = yield* r.next()
  let out = ''
  for (;;) {
    const char = yield* r.next()
    if (char === '' || char === quote) return out
    if (char !== '\\') {
      out += char
      continue
    }
    const escape = yield* r.next()
    const digits = { x: 2, u: 4, U: 8 }[escape]
    if (digits === undefined) {
      if (escape !== '\n') out += kEscapes[escape] ?? ('\\\'"/'.includes(escape) ? escape : `\\${escape}`)
      continue
    }
    let hex = ''
    for (let i = 0; i < digits; i++) hex += yield* r.next()
    const code = parseInt(hex, 16)
    out += code <= 0xffff ? String.fromCharCode(code) : code <= 0x10ffff ? String.fromCodePoint(code) : ''
  }
}

/** Parses items up to one of the closing characters. */
function* items(r: Reader, close: string, item: () => Reading<string>): Reading<string[]> {
  const out: string[] = []
  yield* r.next()
  for (;;) {
    yield* r.space()
    if (yield* r.take(',')) continue
    const char = yield* r.peek()
    if (char === '' || (yield* r.take(close))) return out
    out.push(yield* item())
  }
}

/** Converts a Python literal, or JSON, to JSON. */
export function* pythonValue(r: Reader): Reading<string> {
  const char = yield* r.peek()
  if (char === '"' || char === "'") return JSON.stringify(yield* pythonString(r))
  if (char === '[' || char === '(')
    return `[${(yield* items(r, char === '[' ? ']' : ')', () => pythonValue(r))).join(', ')}]`
  if (char === '{')
    return `{${(yield* items(r, '}', function* () {
      const key = yield* pythonValue(r)
      yield* r.space()
      yield* r.take(':')
      yield* r.space()
      return `${key.startsWith('"') ? key : JSON.stringify(key)}: ${yield* pythonValue(r)}`
    })).join(', ')}}`
  return yield* scalar(yield* r.word(/[^\s,\])}:]/), r)
}

/** The text of a scalar. If no value begins here, it takes one character, so that the reader always advances. */
function* scalarText(word: string, r: Reader): Reading<string> {
  return word === '' ? yield* r.next() : word
}
function* scalar(word: string, r: Reader): Reading<string> {
  const text = yield* scalarText(word, r)
  const known: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }
  if (known[text] !== undefined) return known[text]
  return isJson(text) ? text : JSON.stringify(text)
}

const kGemmaQuote = '<|"|>'
/** Parses a value in Gemma 4's notation: strings between special tokens, keys without quotes. */
export function* gemmaValue(r: Reader): Reading<string> {
  if (yield* r.take(kGemmaQuote)) {
    let out = ''
    yield* r.until([kGemmaQuote], (text) => (out += text))
    return JSON.stringify(out)
  }
  const char = yield* r.peek()
  if (char === '[') return `[${(yield* items(r, ']', () => gemmaValue(r))).join(', ')}]`
  if (char === '{') return `{${(yield* items(r, '}', () => gemmaPair(r))).join(', ')}}`
  if (char === '"') return JSON.stringify(yield* pythonString(r))
  return yield* scalar(yield* r.word(/[^,\]}]/), r)
}
export function* gemmaPair(r: Reader): Reading<string> {
  let key = ''
  if (yield* r.take(kGemmaQuote)) {
    yield* r.until([kGemmaQuote], (text) => (key += text))
    yield* r.take(':')
  } else {
    yield* r.until([':'], (text) => (key += text))
  }
  return `${JSON.stringify(key.trim())}: ${yield* gemmaValue(r)}`
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
