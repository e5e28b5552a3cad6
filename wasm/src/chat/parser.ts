// Parses replies incrementally into content, reasoning and tool calls.
import { chatFormat } from './formats.js'
import { callback, checkArgument, checkOptions, text } from '../api/checks.js'
import { gemmaPair, isJson, pythonValue } from './values.js'
import { Output } from './output.js'
import { Reader, type Emit, type Reading } from './reader.js'
import { ParameterKinds, toolList } from './tool-schemas.js'
import type { ChatFormat, ReplyDelta, ReplyParser, ReplyParserOptions } from './types.js'

class Parser {
  readonly #r = new Reader()
  readonly #out: Output
  readonly #kinds: ParameterKinds
  readonly #starts: readonly string[]
  /** Whether there are tools. Without them, nothing is parsed as a call. */
  readonly #calling: boolean

  constructor(
    readonly format: ChatFormat,
    readonly prompt: string,
    options: ReplyParserOptions,
  ) {
    this.#out = new Output(
      options.newId ?? (() => `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`),
    )
    this.#kinds = new ParameterKinds(options.tools ?? [])
    const { open, callOpen, marks } = format
    this.#calling = options.tools === undefined || options.tools.length > 0
    // A section is recognized by its marks, because models vary the white space in the rest of its beginning.
    const sections = open !== '' && marks.length > 0 ? [] : [open.trim(), callOpen.trim()]
    this.#starts = [...new Set(this.#calling ? [...sections, ...marks] : [])]
      .filter((mark) => mark !== '' && mark !== '[' && mark !== '{"')
      .sort((a, b) => b.length - a.length)
  }

  get reader(): Reader {
    return this.#r
  }
  get output(): Output {
    return this.#out
  }

  *run(): Reading {
    if (this.format.layout === 'harmony') yield* this.#harmony()
    else if (this.format.layout === 'recipients') yield* this.#recipients()
    else yield* this.#marked()
    this.#out.finish()
  }

  *#marked(): Reading {
    const { reasoning, dropped, bare } = this.format
    const r = this.#r
    if (reasoning && this.prompt.trimEnd().endsWith(reasoning.open.trim()))
      yield* this.#reasoning(reasoning.close)
    const opens = reasoning ? [reasoning.open.trim()] : []
    let first = true
    for (;;) {
      if (this.#calling && bare !== '' && first && (yield* this.#bare())) continue
      const stop = yield* r.until([...opens, ...this.#starts, ...dropped], (text) => {
        if (/\S/.test(text)) first = false
        this.#out.content(text)
      })
      if (stop === undefined) return
      if (opens.includes(stop)) yield* this.#reasoning(reasoning!.close)
      else if (this.#starts.includes(stop)) {
        if (yield* this.#calls(stop)) continue
        first = false
        this.#out.content(stop)
      }
    }
  }

  /** Parses reasoning. A call also ends it, because a lazy grammar begins at the call's marker, wherever that is. */
  *#reasoning(close: string): Reading {
    const r = this.#r
    this.#out.part()
    if (this.format.reasoning?.open.endsWith('thought\n')) yield* r.space()
    for (;;) {
      const end = yield* r.until([close.trim(), ...this.#starts], this.#out.reasoning)
      if (end === undefined || end === close.trim() || (yield* this.#calls(end))) break
      this.#out.reasoning(end)
    }
    this.#out.part()
  }

  /** Parses a reply that is a call without a marker. */
  *#bare(): Reading<boolean> {
    const r = this.#r
    let ahead = 0
    while (/[\s;]/.test(yield* r.peek(ahead))) ahead++
    if (this.format.bare === '[') {
      if (!(yield* r.looksLike(ahead, /^\[\s*[A-Za-z_][\w.]*\($/, /^\[\s*([A-Za-z_][\w.]*)?$/))) return false
      yield* r.space()
      return yield* this.#calls('')
    }
    const keys = [
      ...this.format.keys.name,
      ...this.format.keys.arguments,
      ...this.format.keys.id,
      'type',
      'function',
    ]
    const key = new RegExp(`^\\{\\s*"(${keys.join('|')})"$`)
    if (!(yield* r.looksLike(ahead, key, /^\{\s*("[a-z_]*)?$/))) return false
    yield* r.word(/[\s;]/)
    return yield* this.#object(this.#out)
  }

  /** Parses the calls after a marker; false if no call follows. */
  *#calls(mark: string): Reading<boolean> {
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
        if (!(yield* r.take(callOpen.trim()))) break
      }
      const good =
        kind === 'named'
          ? yield* this.#named()
          : kind === 'gemma'
            ? yield* this.#gemma()
            : yield* this.#tagged(mark)
      this.#out.endCall()
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
    for (;;) {
      yield* r.word(/[\s,;]/)
      if ((yield* r.peek()) !== '{') break
      if (!(yield* this.#object(this.#out))) break
      if (!list) break
    }
    yield* r.space()
    if (list) yield* r.take(']')
    const end = (list ? close.replace(/^\]/, '') : callClose || close.replace(/^\]/, '')).trim()
    if (end !== '') {
      yield* r.space()
      yield* r.take(end)
    }
    return true
  }

  /** Parses {"name": ..., "arguments": {...}} with the keys in any order. */
  *#object(out: Output): Reading<boolean> {
    const { keys } = this.format
    const r = this.#r
    let name: string | undefined
    let id = ''
    let early = '' // arguments before the name
    let begun = false
    const begin = () => {
      // Command R calls this function when no tool is needed.
      if (begun || name === undefined || /^directly[-_]answer$/.test(name)) return
      begun = true
      out.call(name, id)
      out.arguments(early)
    }
    const read = function* (): Reading {
      yield* r.take('{')
      for (;;) {
        yield* r.word(/[\s,]/)
        const char = yield* r.peek()
        if (char === '' || (yield* r.take('}'))) return
        const key = yield* r.string()
        yield* r.space()
        yield* r.take(':')
        yield* r.space()
        const value = yield* r.peek()
        if (keys.name.includes(key) && value === '"') name = yield* r.string()
        else if (keys.id.includes(key)) id = value === '"' ? yield* r.string() : ''
        else if (key === 'function' && value === '{') yield* read()
        else if (keys.arguments.includes(key)) {
          begin()
          const emit: Emit = (text) => (begun ? out.arguments(text) : (early += text))
          if (value === '"') emit(yield* r.string())
          else yield* r.json(emit)
        } else yield* r.json(() => {})
        if (char !== '"') yield* r.next() // always advances
        if (name !== undefined && early !== '') begin()
      }
    }
    yield* read()
    begin()
    if (begun) out.endCall()
    return true
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
      yield* this.#pythonArguments()
      return true
    }
    this.#out.call(this.#kinds.has('python') ? 'python' : 'code_interpreter')
    this.#out.arguments('{"code": ')
    let code = ''
    yield* r.until([], (text) => (code += text))
    this.#out.arguments(`${JSON.stringify(code)}}`)
    return true
  }

  /** Parses [name(key=value, ...), ...]. */
  *#python(): Reading<boolean> {
    const r = this.#r
    const { close } = this.format
    yield* r.space()
    yield* r.take('[')
    let any = false
    for (;;) {
      yield* r.word(/[\s,;]/)
      const name = yield* r.word(/[\w.-]/)
      if (name === '') break
      if ((yield* this.#ahead()) !== '(') break
      yield* r.space()
      this.#out.call(name)
      yield* this.#pythonArguments()
      this.#out.endCall()
      any = true
    }
    yield* r.space()
    yield* r.take(']')
    yield* r.take(close.replace(/^\]/, ''))
    return any
  }
  *#pythonArguments(): Reading {
    const r = this.#r
    let first = true
    yield* r.take('(')
    for (;;) {
      yield* r.word(/[\s,]/)
      if ((yield* r.peek()) === '' || (yield* r.take(')'))) break
      const key = yield* r.word(/[\w.-]/)
      yield* r.space()
      yield* r.take('=')
      yield* r.space()
      const value = yield* pythonValue(r)
      if (key === '') continue
      this.#out.arguments(`${first ? '{' : ', '}${JSON.stringify(key)}: ${value}`)
      first = false
    }
    this.#out.arguments(first ? '{}' : '}')
  }

  /** Parses a call's name and id. Returns undefined if the text ends before the name does. */
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
    if (parameters?.open === '<arg_key>') return { name: (yield* r.word(/[^<\n]/)).trim(), id }
    let name = ''
    const ends = [...nameClose.map((end) => end.trim() || end), '[CALL_ID]']
    const end = yield* r.until(ends, (text) => (name += text))
    if (end === undefined) return undefined
    if (end === '[CALL_ID]') {
      let text = ''
      yield* r.until(['[ARGS]'], (more) => (text += more))
      id = text.trim()
    }
    name = name.trim()
    // Kimi K2's form is functions.name:3.
    const counted = /^(?:functions\.)?([\w.-]+):(\d+)$/.exec(name)
    if (counted && this.format.name === 'kimi-k2') {
      id = `functions.${counted[1]!}:${counted[2]!}`
      name = counted[1]!
    }
    return { name, id }
  }

  *#named(): Reading<boolean> {
    const r = this.#r
    const named = yield* this.#name()
    if (!named) return true
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
    if (!named) return true
    this.#out.call(named.name)
    let first = true
    for (;;) {
      yield* r.word(/[\s,]/)
      if ((yield* r.peek()) === '' || (yield* r.take('}'))) break
      const pair = yield* gemmaPair(r)
      this.#out.arguments(`${first ? '{' : ', '}${pair}`)
      first = false
    }
    this.#out.arguments(first ? '{}' : '}')
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
    const bareEnd = format === 'glm-4'
    const named = mark === nameOpen.trim() ? yield* this.#rest() : yield* this.#name()
    if (!named) return true
    const { name } = named
    this.#out.call(name)
    let first = true
    for (;;) {
      yield* r.space()
      if (!(yield* r.take(tags.open))) break
      let key = ''
      // White space inside the tags after a name is ignored.
      const [ends, then] = bareEnd ? [['</arg_key>'], '<arg_value>'] : [tags.named, '']
      yield* r.until(ends, (text) => (key += text))
      if (then !== '') {
        yield* r.space()
        yield* r.take(then)
      }
      this.#out.arguments(`${first ? '{' : ', '}${JSON.stringify(key.trim())}: `)
      first = false
      yield* this.#taggedValue(name, key.trim())
    }
    this.#out.arguments(first ? '{}' : '}')
    for (const part of callClose.split('\n')) {
      yield* r.space()
      yield* r.take(part)
    }
    return true
  }
  *#rest(): Reading<{ name: string } | undefined> {
    let name = ''
    const end = yield* this.#r.until([this.format.nameClose[0]!], (text) => (name += text))
    return end === undefined ? undefined : { name: name.trim() }
  }
  *#taggedValue(tool: string, key: string): Reading {
    const r = this.#r
    const { close, padding } = this.format.parameters!
    const kind = this.#kinds.of(tool, key)
    if (padding !== '') yield* r.take(padding)
    if (kind !== 'string') {
      let text = ''
      yield* r.until([close], (more) => (text += more))
      const value = text.trim()
      const python = { True: 'true', False: 'false', None: 'null' }[value]
      const plain = padding !== '' && text.endsWith(padding) ? text.slice(0, -padding.length) : text
      this.#out.arguments(isJson(value) ? value : (python ?? JSON.stringify(plain)))
      return
    }
    this.#out.arguments('"')
    let held = ''
    yield* r.until([close], (text) => {
      const all = held + text
      held = padding !== '' && all.endsWith(padding) ? padding : ''
      this.#out.arguments(JSON.stringify(all.slice(0, all.length - held.length)).slice(1, -1))
    })
    this.#out.arguments('"')
  }

  /** Parses <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>commentary to=functions.name ... */
  *#harmony(): Reading {
    const r = this.#r
    const ends = ['<|end|>', '<|call|>', '<|return|>', '<|start|>']
    for (;;) {
      yield* r.takeAny(['<|start|>'])
      if ((yield* r.peek()) === '') return
      const headed =
        (yield* r.startsWith('<|channel|>')) ||
        (yield* r.startsWith('assistant')) ||
        (yield* r.startsWith(' to='))
      let header = ''
      if (headed && (yield* r.until(['<|message|>'], (text) => (header += text))) === undefined) return
      const recipient = /\bto=(?:functions\.)?([\w.-]+)/.exec(header)?.[1]
      const channel = /<\|channel\|>\s*(\w+)/.exec(header)?.[1]
      const emit =
        recipient !== undefined
          ? this.#out.arguments
          : channel === 'analysis'
            ? this.#out.reasoning
            : this.#out.content
      if (recipient !== undefined) this.#out.call(recipient)
      else this.#out.part()
      const end = yield* r.until(ends, emit)
      if (recipient !== undefined) this.#out.endCall()
      if (end === undefined) return
      if (end !== '<|start|>') yield* r.takeAny(['<|start|>'])
      else continue
    }
  }

  /**
   * Parses Functionary's format: a recipient's name and a line break, then text (for "all") or a function's arguments.
   * >>> precedes the next recipient.
   */
  *#recipients(): Reading {
    const r = this.#r
    for (;;) {
      yield* r.take('>>>')
      let name = ''
      const end = yield* r.until(['\n'], (text) => (name += text))
      if (end === undefined) {
        this.#out.content(name)
        return
      }
      if (name.trim() === 'all') {
        if ((yield* r.until(['>>>'], this.#out.content)) === undefined) return
        this.#out.part()
        continue
      }
      this.#out.call(name.trim())
      yield* r.space()
      if ('{['.includes((yield* r.peek()) || ' ')) yield* r.json(this.#out.arguments)
      this.#out.endCall()
      if ((yield* r.until(['>>>'], () => {})) === undefined) return
    }
  }
}

/** Makes a parser of replies in a format. Each parser reads one reply. */
export function createReplyParser(format: ChatFormat, options: ReplyParserOptions = {}): ReplyParser {
  checkArgument('createReplyParser()', 'format', format, chatFormat)
  checkOptions('createReplyParser()', options, { tools: toolList, prompt: text, newId: callback })
  const parser = new Parser(format, options.prompt ?? '', options)
  const reading = parser.run()
  let done = false
  const go = (): ReplyDelta[] => {
    if (!done) done = reading.next().done === true
    return parser.output.take()
  }
  return {
    push(text) {
      if (text === '') return []
      parser.reader.add(text)
      return go()
    },
    end() {
      parser.reader.end()
      return go()
    },
  }
}
