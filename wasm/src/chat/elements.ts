// Reads and writes MiniMax-M3's arguments, in which each property is a tag of its name, also inside objects, and an
// array is a list of <item>s. Another text precedes each tag.
import type { Output } from './output.js'
import type { Emit, Reader, Reading } from './reader.js'
import type { ParameterKinds } from './tool-schemas.js'
import type { ChatFormat } from './types.js'
import { isJson } from './values.js'

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

/**
 * Parses the elements up to a closing tag; the object is emitted as JSON. false: the text ended inside it. names: of
 * the properties that are known, which may have the end of a tag in them.
 */
function* readObject(
  r: Reader,
  format: ChatFormat,
  isText: (key: string) => boolean,
  emit: Emit,
  names: readonly string[] = [],
): Reading<boolean> {
  const { open, close } = format.parameters!
  emit('{')
  let first = true
  for (;;) {
    yield* r.space()
    if (yield* r.startsWith(close)) break
    if (!(yield* r.take(open))) return false
    let key = (yield* r.takeName(names, ['>']))?.key ?? ''
    if (key === '' && (yield* r.until(['>'], (text) => (key += text))) === undefined) return false
    emit(`${first ? '' : ', '}${JSON.stringify(key)}: `)
    first = false
    if (!(yield* readValue(r, format, key, isText(key), emit))) return false
  }
  emit('}')
  return true
}

/** Parses a value and its closing tag. isText: it is a string, whatever it looks like. */
function* readValue(
  r: Reader,
  format: ChatFormat,
  key: string,
  isText: boolean,
  emit: Emit,
): Reading<boolean> {
  const { open, close } = format.parameters!
  const end = `${close}${key}>`
  if (isText) {
    emit('"')
    if ((yield* r.until([end], (text) => emit(inJson(text)))) === undefined) return false
    emit('"')
    return true
  }
  let ahead = 0
  while (/\s/.test(yield* r.peek(ahead))) ahead++
  const isNested = (yield* r.startsWith(open, ahead)) && !(yield* r.startsWith(close, ahead))
  if (isNested) {
    yield* r.space()
    const isList = yield* r.startsWith(`${open}item>`)
    if (r.atEnd) return false // either one
    const nested = isList
      ? yield* readItems(r, format, emit)
      : yield* readObject(r, format, () => false, emit)
    if (!nested) return false
    yield* r.space()
    return yield* r.take(end)
  }
  let text = ''
  if ((yield* r.until([end], (more) => (text += more))) === undefined) return false
  emit(isJson(text.trim()) ? text.trim() : JSON.stringify(text))
  return true
}

function* readItems(r: Reader, format: ChatFormat, emit: Emit): Reading<boolean> {
  const { open, close } = format.parameters!
  emit('[')
  let first = true
  for (;;) {
    yield* r.space()
    if (yield* r.startsWith(close)) break
    if (!(yield* r.take(`${open}item>`))) return false
    if (!first) emit(', ')
    first = false
    if (!(yield* readValue(r, format, 'item', false, emit))) return false
  }
  emit(']')
  return true
}

/** Parses a call: its name, then its arguments. false: no call follows. */
export function* readElements(
  r: Reader,
  out: Output,
  format: ChatFormat,
  kinds: ParameterKinds,
  readName: () => Reading<{ name: string } | undefined>,
): Reading<boolean> {
  const named = yield* readName()
  if (!named) return true
  const { name } = named
  out.call(name)
  // An object without properties is only certain when it ends.
  let held = ''
  let begun = false
  const emit: Emit = (text) => {
    if (begun || text !== '{') out.arguments(held + text)
    else held = text
    if (text !== '{') held = ''
    begun ||= text !== '{'
  }
  const isText = (key: string) => kinds.of(name, key) === 'string'
  if (yield* readObject(r, format, isText, emit, kinds.names(name))) yield* r.take(format.callClose)
  return true
}

/** The elements of an object, given as JSON. */
export function writeElements(json: string, format: ChatFormat): string {
  const { open, close } = format.parameters!
  const written = (value: unknown): string => {
    if (Array.isArray(value)) return value.map((one) => `${open}item>${written(one)}${close}item>`).join('')
    if (typeof value === 'object' && value !== null)
      return Object.entries(value)
        .map(([key, one]) => `${open}${key}>${written(one)}${close}${key}>`)
        .join('')
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
  return Object.entries(JSON.parse(json) as Record<string, unknown>)
    .map(([key, value]) => `${open}${key}>${written(value)}${close}${key}>\n`)
    .join('')
}
