// Parses tool calls in each format's notation. What the text does not complete stays open: see Reader.atEnd.
import { readElements } from './elements.js'
import type { Output } from './output.js'
import type { Emit, Reader, Reading } from './reader.js'
import type { ParameterKinds } from './tool-schemas.js'
import type { ChatFormat } from './types.js'
import { gemmaPair, isJson, pythonValue } from './values.js'

/** The text of an attribute: Kimi K3 escapes two characters. */
const attributeText = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&')

export class CallReader {
  readonly #r: Reader
  readonly #out: Output

  constructor(
    readonly format: ChatFormat,
    reader: Reader,
    output: Output,
    readonly kinds: ParameterKinds,
  ) {
    this.#r = reader
    this.#out = output
  }

  /**
   * Parses a reply that is a call without a marker. false, and nothing is read: it is other text, or JSON that calls no
   * known function.
   */
  *readBare(): Reading<boolean> {
    const r = this.#r
    let ahead = 0
    while (/[\s;]/.test(yield* r.peek(ahead))) ahead++
    const [whole, begun] = this.#bareBeginnings()
    if (!(yield* r.looksLike(ahead, whole, begun))) {
      // The beginning of a call at the end of a cut text; a single character may as well be text.
      const left = r.cut ? r.left.trim() : ''
      return left !== '' && (left.length > 1 || this.#out.hasCalls)
    }
    r.hold()
    yield* r.word(/[\s;]/)
    const found = this.format.bare === '[' ? yield* this.#python(true) : yield* this.#object(true)
    r.release(!found && !r.cut)
    return found || r.cut
  }
  /** How a call without a marker begins, and what may be the start of such a beginning. */
  #bareBeginnings(): [whole: RegExp, begun: RegExp] {
    if (this.format.bare === '[') return [/^\[\s*[A-Za-z_][\w.]*\($/, /^\[\s*([A-Za-z_][\w.]*)?$/]
    const keys = [
      ...this.format.keys.name,
      ...this.format.keys.arguments,
      ...this.format.keys.id,
      'type',
      'function',
    ]
    return [new RegExp(`^\\{\\s*"(${keys.join('|')})"$`), /^\{\s*("[a-z_]*)?$/]
  }

  /** Parses the calls after a marker. false, and nothing is read: no call follows. */
  *read(mark: string): Reading<boolean> {
    const r = this.#r
    r.hold()
    const found = yield* this.#read(mark)
    r.release(!found && !r.cut)
    return found
  }
  *#read(mark: string): Reading<boolean> {
    const { kind, open, close, callOpen, between } = this.format
    const r = this.#r
    const section = open !== '' && mark !== callOpen.trim()
    if (kind === 'object') return yield* this.#objects(mark)
    if (kind === 'python') return yield* this.#python()
    if (mark.startsWith('[TOOL_CALLS]') && '[{'.includes((yield* this.#ahead()) || ' '))
      return yield* this.#objects(mark)
    let any = false
    for (;;) {
      if (section) {
        yield* r.word(/[\s,[]/)
        if (any) r.hold()
        if (!(yield* r.take(callOpen.trim()))) break
      }
      const good =
        kind === 'named'
          ? yield* this.#named()
          : kind === 'gemma'
            ? yield* this.#gemma()
            : kind === 'elements'
              ? yield* readElements(r, this.#out, this.format, this.kinds, () => this.#name())
              : yield* this.#tagged(mark)
      this.#out.endCall(r.atEnd)
      if (any && !good) r.release(true) // what follows the calls is text
      any ||= good
      if (!section || !good) return any
      if (between.trim() !== '') yield* r.take(between.trim())
    }
    if (close !== '') {
      yield* r.space()
      yield* r.take(close.trim())
    }
    return any
  }
  *#ahead(): Reading<string> {
    let ahead = 0
    while (/\s/.test(yield* this.#r.peek(ahead))) ahead++
    return yield* this.#r.peek(ahead)
  }

  /** Parses one JSON object with a call, or a list of them. */
  *#objects(mark: string): Reading<boolean> {
    const { close, callClose } = this.format
    const r = this.#r
    let first = yield* this.#ahead()
    if (first === '`') {
      yield* r.space()
      if (yield* r.take('```json')) yield* r.space()
      first = yield* r.peek()
    }
    if (mark === '<|python_tag|>' && first !== '{') return yield* this.#code()
    if (first !== '{' && first !== '[') return false
    yield* r.space()
    const list = yield* r.take('[')
    let any = false
    for (;;) {
      yield* r.word(/[\s,;]/)
      if ((yield* r.peek()) !== '{') break
      if (any) r.hold()
      if (!(yield* this.#object(false))) {
        if (!any) return false
        r.release(true) // what follows the calls is text
        break
      }
      any = true
      // Some models write several objects between two tags.
      if (!list && callClose === '') break
    }
    yield* r.space()
    if (list) yield* r.take(']')
    const after = close.replace(/^\]/, '')
    const end = (list ? after || callClose : callClose || after).trim()
    if (end !== '') {
      yield* r.space()
      yield* r.take(end)
    }
    return true
  }

  /**
   * Parses {"name": ..., "arguments": {...}} with the keys in any order. false: the object is no call: it has no name, or
   * another key instead of its arguments. isBare: it has no marker, and is a call only if it has the keys of one and the
   * name of a known function.
   */
  *#object(isBare: boolean): Reading<boolean> {
    const { keys } = this.format
    const r = this.#r
    const out = this.#out
    let name: string | undefined
    let id = ''
    let early = '' // arguments before the name
    let begun = false
    let isWhole = false
    let isOther = false
    let hasArguments = false
    let hasUnknown = false
    // Command R calls this function when no tool is needed.
    const isSilent = () => name !== undefined && /^directly[-_]answer$/.test(name)
    const begin = () => {
      if (begun || name === undefined || isSilent()) return
      begun = true
      out.call(name, id)
      out.arguments(early)
    }
    const emit: Emit = (text) => (begun ? out.arguments(text) : (early += text))
    const kinds = this.kinds
    const read = function* (): Reading {
      yield* r.take('{')
      for (;;) {
        yield* r.word(/[\s,]/)
        const char = yield* r.peek()
        isWhole = yield* r.take('}')
        if (char === '' || isWhole) return
        const key = yield* r.string()
        yield* r.space()
        yield* r.take(':')
        yield* r.space()
        const value = yield* r.peek()
        if (key === undefined || value === '') return
        if (keys.name.includes(key) && value === '"') {
          name = yield* r.string()
          isOther = name !== undefined && (name.trim() === '' || (isBare && !kinds.has(name)))
        } else if (keys.id.includes(key)) id = (value === '"' && (yield* r.string())) || ''
        else if (key === 'function' && value === '{') yield* read()
        else if (keys.arguments.includes(key)) {
          hasArguments = true
          begin()
          if (value === '"') emit((yield* r.string(emit)) ?? '')
          else yield* r.json(emit)
        } else if (isBare && key === 'type') isOther = (yield* r.string()) !== 'function' && !r.cut
        else if (isBare && name === undefined) isOther = true
        else yield* r.json(() => void (hasUnknown ||= key !== 'type'))
        if (isOther) return
        if (char !== '"') yield* r.next() // always advances
        if (name !== undefined && early !== '') begin()
      }
    }
    yield* read()
    if (isOther || (isWhole && hasUnknown && !hasArguments && !isSilent())) return false
    if (isWhole) begin()
    if (begun) out.endCall(r.atEnd)
    return begun || isSilent() || r.cut
  }

  /** Parses calls of Llama's built-in tools: name.call(key="value"), or code for the interpreter. */
  *#code(): Reading<boolean> {
    const r = this.#r
    let ahead = 0
    while (/[\w]/.test(yield* r.peek(ahead))) ahead++
    if (ahead > 0 && (yield* r.startsWith('.call(', ahead))) {
      const name = yield* r.word(/\w/)
      yield* r.take('.call')
      this.#out.call(name)
      this.#out.endCall(!(yield* this.#pythonArguments(name)))
      return true
    }
    if (r.cut) return true // either one
    this.#out.call(this.kinds.has('python') ? 'python' : 'code_interpreter')
    this.#out.arguments('{"code": "')
    yield* r.until([], (text) => this.#out.arguments(JSON.stringify(text).slice(1, -1)))
    if (!r.cut) this.#out.arguments('"}')
    return true
  }

  /** Parses [name(key=value, ...), ...]. isBare: without a marker, the functions must be known. */
  *#python(isBare = false): Reading<boolean> {
    const r = this.#r
    const { close } = this.format
    yield* r.space()
    yield* r.take('[')
    let any = false
    for (;;) {
      yield* r.word(/[\s,;]/)
      if (any) r.hold()
      const name = yield* r.word(/[\w.-]/)
      if (name === '') break
      let isCall = (yield* this.#ahead()) === '(' && (!isBare || this.kinds.has(name))
      if (isCall) {
        yield* r.space()
        this.#out.call(name)
        isCall = yield* this.#pythonArguments(name)
        this.#out.endCall(!isCall)
        isCall ||= r.atEnd && (any || this.#out.hasCalls || r.cut)
      }
      if (!isCall && any && !r.cut) r.release(true) // what follows the calls is text
      if (!isCall) break
      any = true
    }
    yield* r.space()
    yield* r.take(']')
    yield* r.take(close.replace(/^\]/, ''))
    return any
  }
  /** false: the text ended inside the parentheses, or they begin with an argument without a name. */
  *#pythonArguments(tool: string): Reading<boolean> {
    const r = this.#r
    let first = true
    yield* r.take('(')
    for (;;) {
      yield* r.word(/[\s,]/)
      if (yield* r.take(')')) break
      if ((yield* r.peek()) === '') return false
      const known = yield* r.takeName(this.kinds.names(tool), ['='])
      const key = known?.key ?? (yield* r.word(/[\p{L}\p{M}\p{N}_.-]/u))
      if (!known) yield* r.space()
      const isNamed = known !== undefined || (yield* r.take('='))
      yield* r.space()
      if (r.atEnd || (first && !isNamed)) return false
      if (key !== '') this.#out.arguments(`${first ? '{' : ', '}${JSON.stringify(key)}: `)
      first &&= key === ''
      if (!(yield* pythonValue(r, key === '' ? () => {} : this.#out.arguments))) return false
    }
    this.#close(first)
    return true
  }
  /** Ends the arguments' object, unless the text ended inside it. */
  #close(isEmpty: boolean): void {
    if (!this.#r.atEnd) this.#out.arguments(isEmpty ? '{}' : '}')
  }

  /** Parses a call's name and id. Returns undefined if there is no name, or if the text ends before the name does. */
  *#name(): Reading<{ name: string; id: string | undefined } | undefined> {
    const { nameOpen, nameClose, parameters } = this.format
    const r = this.#r
    yield* r.space()
    let id: string | undefined
    if (nameOpen.startsWith('<|tool_call:')) {
      // The id comes first.
      let text = ''
      yield* r.until([nameOpen], (more) => (text += more))
      id = text.trim()
    } else yield* r.take(nameOpen.trim())
    if (parameters?.pair) {
      const name = (yield* r.word(/[^<\n]/)).trim()
      return r.atEnd || name === '' ? undefined : { name, id }
    }
    let name = ''
    const ends = [...nameClose.map((end) => end.trim() || end), '[CALL_ID]']
    const end = yield* r.until(ends, (text) => (name += text))
    if (end === undefined) return undefined
    if (end === '[CALL_ID]') {
      let text = ''
      if ((yield* r.until(['[ARGS]'], (more) => (text += more))) === undefined) return undefined
      id = text.trim()
    }
    name = name.trim()
    if (parameters?.tagEnd) {
      if ((yield* r.until([parameters.tagEnd], () => {})) === undefined) return undefined
      name = attributeText(name)
    }
    // Kimi K2's form is functions.name:3.
    const counted = /^(?:functions\.)?([\w.-]+):(\d+)$/.exec(name)
    if (counted && this.format.name === 'kimi-k2') {
      id = `functions.${counted[1]!}:${counted[2]!}`
      name = counted[1]!
    }
    return name === '' ? undefined : { name, id }
  }

  *#named(): Reading<boolean> {
    const r = this.#r
    const named = yield* this.#name()
    if (!named) return r.cut
    const { name, id } = named
    this.#out.call(name, id)
    yield* r.space()
    if ('{['.includes((yield* r.peek()) || ' ')) yield* r.json(this.#out.arguments)
    yield* r.space()
    for (const part of this.format.callClose.split(/(?<=```)/)) {
      yield* r.space()
      yield* r.take(part.trim())
    }
    return true
  }

  *#gemma(): Reading<boolean> {
    const r = this.#r
    const named = yield* this.#name()
    if (!named) return r.cut
    this.#out.call(named.name)
    let first = true
    for (;;) {
      yield* r.word(/[\s,]/)
      if (yield* r.take('}')) break
      if ((yield* r.peek()) === '') return true
      let pair = first ? '{' : ', '
      const emit: Emit = (text) => {
        this.#out.arguments(pair + text)
        pair = ''
      }
      if (!(yield* gemmaPair(r, emit, this.kinds.names(named.name)))) return true
      first = false
    }
    this.#close(first)
    yield* r.take(this.format.callClose)
    return true
  }

  /** Parses parameters in tags. */
  *#tagged(mark: string): Reading<boolean> {
    const r = this.#r
    const { parameters, callClose, nameOpen, name: format } = this.format
    const tags = parameters!
    if (mark !== nameOpen.trim()) {
      yield* r.space()
      if (nameOpen !== '' && !(yield* r.startsWith(nameOpen.trim()))) return false
    }
    // K2 Horizon may also write JSON.
    if (format === 'k2-horizon' && (yield* this.#ahead()) === '{') return yield* this.#objects(mark)
    const named = mark === nameOpen.trim() ? yield* this.#rest() : yield* this.#name()
    if (!named) return r.cut
    const { name } = named
    this.#out.call(name)
    let first = true
    for (;;) {
      yield* r.space()
      if (format === 'kimi-k3' && (yield* r.take('<|open|>json'))) {
        if (!(yield* this.#jsonBlock())) return true
        first = false
        yield* r.space()
        yield* r.take(callClose)
        return true
      }
      if (!(yield* r.take(tags.open))) break
      const found = yield* this.#key(name)
      if (found === undefined) return true
      const { key, isText } = found
      this.#out.arguments(`${first ? '{' : ', '}${JSON.stringify(key)}: `)
      first = false
      if (!(yield* this.#taggedValue(name, key, isText))) return true
    }
    const [closer, ...others] = callClose.split('\n')
    yield* r.take(closer!)
    this.#close(first)
    for (const part of others) {
      yield* r.space()
      yield* r.take(part)
    }
    return true
  }
  /**
   * The name of a parameter, up to its value. undefined: the text ended before that. isText: its tags say that the value
   * is a string.
   */
  *#key(tool: string): Reading<{ key: string; isText: boolean } | undefined> {
    const r = this.#r
    const { named, pair, type, tagEnd } = this.format.parameters!
    const ends = pair ? [pair.nameClose] : named
    const known = yield* r.takeName(this.kinds.names(tool), ends)
    let key = ''
    const end = known?.end ?? (yield* r.until(ends, (text) => (key += text)))
    if (end === undefined) return undefined
    key = known?.key ?? (tagEnd ? attributeText(key.trim()) : key.trim())
    let kind = ''
    if (tagEnd) {
      if ((yield* r.until([tagEnd], (text) => (kind += text))) === undefined) return undefined
      return { key, isText: kind.includes('type="string"') }
    }
    if (!pair) return { key, isText: named.length > 1 && end === named[0] }
    // White space between the tags is ignored.
    yield* r.space()
    if (type && (yield* r.take(type.open))) {
      if ((yield* r.until([type.close], (text) => (kind += text))) === undefined) return undefined
      yield* r.space()
    }
    yield* r.take(pair.valueOpen)
    return r.atEnd ? undefined : { key, isText: kind.trim() === 'string' }
  }
  /** Kimi K3: all arguments as one JSON object. false: the text ended inside it. */
  *#jsonBlock(): Reading<boolean> {
    const r = this.#r
    if ((yield* r.until(['<|sep|>'], () => {})) === undefined) return false
    yield* r.space()
    if (!(yield* r.json(this.#out.arguments))) return false
    return (yield* r.until(['<|close|>json<|sep|>'], () => {})) !== undefined
  }
  *#rest(): Reading<{ name: string } | undefined> {
    let name = ''
    const end = yield* this.#r.until([this.format.nameClose[0]!], (text) => (name += text))
    return end === undefined || name.trim() === '' ? undefined : { name: name.trim() }
  }
  /** A string that may contain tags. */
  *#dataSection(close: string): Reading<boolean> {
    const r = this.#r
    this.#out.arguments('"')
    const end = yield* r.until([']]>'], (text) => this.#out.arguments(JSON.stringify(text).slice(1, -1)))
    if (end === undefined) return false
    this.#out.arguments('"')
    yield* r.space()
    yield* r.take(close)
    return true
  }
  /** false: the text ended inside the value. One that is not surely a string is then left out. */
  *#taggedValue(tool: string, key: string, isText: boolean): Reading<boolean> {
    const r = this.#r
    const { close, padding } = this.format.parameters!
    const expected = this.kinds.of(tool, key)
    const kind = expected === 'either' && isText ? 'string' : expected
    if (padding !== '') yield* r.take(padding)
    const data = this.format.name === 'minicpm5' && (yield* r.take('<![CDATA['))
    if (data) return yield* this.#dataSection(close)
    // What was cut may be the beginning of a section.
    if (this.format.name === 'minicpm5' && r.atEnd) return false
    if (kind !== 'string') {
      let text = ''
      if ((yield* r.until([close], (more) => (text += more))) === undefined) return false
      const value = text.trim()
      const python = { True: 'true', False: 'false', None: 'null' }[value]
      const plain = padding !== '' && text.endsWith(padding) ? text.slice(0, -padding.length) : text
      this.#out.arguments(isJson(value) ? value : (python ?? JSON.stringify(plain)))
      return true
    }
    this.#out.arguments('"')
    let held = ''
    const end = yield* r.until([close], (text) => {
      const all = held + text
      held = padding !== '' && all.endsWith(padding) ? padding : ''
      this.#out.arguments(JSON.stringify(all.slice(0, all.length - held.length)).slice(1, -1))
    })
    if (end === undefined) return false
    this.#out.arguments('"')
    return true
  }
}
