// Parses replies incrementally into content, reasoning and tool calls.
import { chatFormat } from './formats.js'
import { callback, checkArgument, checkOptions, oneOf, text } from '../api/checks.js'
import { CallReader } from './calls.js'
import { Output } from './output.js'
import { Reader, type Emit, type Reading } from './reader.js'
import { ParameterKinds, toolList } from './tool-schemas.js'
import type { ChatFormat, ReplyDelta, ReplyParser, ReplyParserOptions } from './types.js'

/** The text of a header; next: the mark that came before its end. */
type Header = { readonly text: string; readonly next?: string }
const kNoHeader: Header = { text: '' }
/** A header that a limit or the model has cut, and nothing else. */
const kHeaderBeginning =
  /^\s*\w*(\s*to=[\w.-]*)?(\s*<\|channel\|>\s*\w*)?(\s*to=[\w.-]*)?(\s*<\|constrain\|>\s*\w*|\s+\w*)?(\s*<\|?\w*)?$/

class Parser {
  readonly #r = new Reader()
  readonly #out: Output
  readonly #calls: CallReader
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
    this.#calls = new CallReader(format, this.#r, this.#out, this.#kinds)
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
    else if (this.format.layout === 'addressed') yield* this.#addressed()
    else yield* this.#marked()
    this.#out.finish(this.#r.cut)
  }

  *#marked(): Reading {
    const { reasoning, otherReasoning = [], dropped, bare } = this.format
    const r = this.#r
    const closes = new Map(
      [...(reasoning ? [reasoning] : []), ...otherReasoning].map(({ open, close }) => [open.trim(), close]),
    )
    const opens = [...closes.keys()]
    const opened = opens.find((open) => this.prompt.trimEnd().endsWith(open))
    if (opened !== undefined) yield* this.#reasoning(closes.get(opened)!)
    if (r.cut) return
    let first = true
    for (;;) {
      if (this.#calling && bare !== '' && first && (yield* this.#calls.readBare())) {
        if (r.cut) return
        continue
      }
      const stop = yield* r.until([...opens, ...this.#starts, ...dropped], (text) => {
        if (/\S/.test(text)) first = false
        this.#out.content(text)
      })
      if (stop === undefined) return this.#rest()
      const close = closes.get(stop)
      if (close !== undefined) yield* this.#reasoning(close)
      else if (this.#starts.includes(stop) && !(yield* this.#calls.read(stop)) && !r.cut) {
        first = false
        this.#out.content(stop)
      }
      if (r.cut) return // what is left is the beginning of a marker
    }
  }

  /** The end of a text: after a call, it is the beginning of another one. */
  #rest(): void {
    const text = this.#r.rest()
    if (!this.#r.cut || !this.#out.hasCalls) this.#out.content(text)
  }

  /** Parses reasoning. A call also ends it, because a lazy grammar begins at the call's marker, wherever that is. */
  *#reasoning(close: string): Reading {
    const r = this.#r
    this.#out.part()
    if (this.format.reasoning?.open.endsWith('thought\n')) yield* r.space()
    for (;;) {
      const closers = [close.trim(), ...(this.format.reasoningEnds ?? [])]
      const end = yield* r.until([...closers, ...this.#starts], this.#out.reasoning)
      if (end === undefined) this.#out.reasoning(r.rest())
      if (end === undefined || closers.includes(end) || (yield* this.#calls.read(end)) || r.cut) break
      this.#out.reasoning(end)
    }
    this.#out.part()
  }

  /** Parses <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>commentary to=functions.name ... */
  *#harmony(): Reading {
    const r = this.#r
    const ends = ['<|end|>', '<|call|>', '<|return|>', '<|start|>']
    // LLM-jp's tokenizer writes a space after each marker.
    const isSpaced = this.format.name === 'llm-jp-harmony'
    let started = false
    for (;;) {
      started ||= yield* r.take('<|start|>')
      if (isSpaced && (yield* r.startsWith(' assistant'))) yield* r.take(' ')
      if ((yield* r.peek()) === '') return
      const headed: boolean = started || (yield* this.#startsHeader(['<|channel|>', ' to=']))
      if (!headed && r.cut) return this.#rest() // the beginning of a header
      const header: Header | undefined = headed ? yield* this.#header(ends) : kNoHeader
      if (!header) return
      started = header.next === '<|start|>'
      if (started) continue
      if (isSpaced) yield* r.take(' ')
      const recipient: string | undefined = this.#calling
        ? /\bto=(?:functions\.)?([\w.-]+)/.exec(header.text)?.[1]
        : undefined
      const channel: string | undefined = /<\|channel\|>\s*(\w+)/.exec(header.text)?.[1]
      let emit: Emit = channel === 'analysis' ? this.#out.reasoning : this.#out.content
      if (recipient !== undefined) {
        this.#out.call(recipient)
        emit = (yield* this.#jsonArguments()) ? () => {} : this.#out.arguments
      } else this.#out.part()
      const end: string | undefined = yield* r.until(ends, emit)
      if (recipient !== undefined) this.#out.endCall(r.atEnd)
      if (end === undefined) {
        if (recipient === undefined) emit(r.rest())
        return
      }
      started = end === '<|start|>'
    }
  }

  /** Whether a header begins here. The word assistant is one's beginning only where something else of a header follows. */
  *#startsHeader(marks: readonly string[]): Reading<boolean> {
    const r = this.#r
    for (const mark of marks) if (yield* r.startsWith(mark)) return true
    if (!(yield* r.startsWith('assistant'))) return false
    const ahead = 'assistant'.length
    return (yield* r.startsWith('<|', ahead)) || (yield* r.startsWith(' to=', ahead))
  }
  /** A message's header; undefined: the text ends in it. What is no header is content. */
  *#header(ends: readonly string[]): Reading<Header | undefined> {
    const r = this.#r
    let text = ''
    const next = yield* r.until(['<|message|>', ...ends], (more) => (text += more))
    if (next === '<|message|>') return { text }
    if (!kHeaderBeginning.test(text)) this.#out.content(next === undefined ? text + r.rest() : text)
    return next === undefined ? undefined : { text: '', next }
  }

  /**
   * Parses Muse Glimmer's messages: <|start|>assistant to=self<|message|>... is reasoning, to=user or without a recipient
   * text, and to a tool a call.
   */
  *#addressed(): Reading {
    const r = this.#r
    const ends = ['<|eom|>', '<|eot|>', '<|start|>']
    let started = false
    for (;;) {
      started ||= yield* r.take('<|start|>')
      if ((yield* r.peek()) === '') return
      const headed: boolean = started || (yield* this.#startsHeader([' to=', '<|message|>']))
      const header: Header | undefined = headed ? yield* this.#header(ends) : kNoHeader
      if (!header) return
      started = header.next === '<|start|>'
      if (started) continue
      const isSelf = /\bto=self\s*$/.test(header.text)
      const emit = isSelf ? this.#out.reasoning : this.#out.content
      this.#out.part()
      let end: string | undefined
      do {
        end = yield* r.until([...ends, ...(isSelf ? [] : this.#starts)], emit)
        if (end === undefined) return emit(r.rest())
        if (this.#starts.includes(end) && !(yield* this.#calls.read(end)) && !r.cut) emit(end)
        if (r.cut) return
      } while (this.#starts.includes(end))
      started = end === '<|start|>'
      if (!started) yield* r.space()
    }
  }

  /**
   * Parses Functionary's format: a recipient's name and a line break, then text (for "all") or a function's arguments.
   * >>> precedes the next recipient.
   */
  *#recipients(): Reading {
    const r = this.#r
    for (let mark = ''; ; mark = '>>>') {
      if (yield* r.take('>>>')) mark = '>>>'
      let name = ''
      const end = yield* r.until(['\n'], (text) => (name += text))
      if (end === undefined) {
        if (!r.cut || /\S\s+\S/.test(name)) this.#out.content(mark + name)
        return
      }
      const isText = !this.#isRecipient(name.trim())
      if (isText) this.#out.content(`${mark}${name}\n`)
      if (isText || ['all', ''].includes(name.trim())) {
        if ((yield* r.until(['>>>'], this.#out.content)) === undefined) return this.#out.content(r.rest())
        this.#out.part()
        continue
      }
      this.#out.call(name.trim())
      const emit = (yield* this.#jsonArguments()) ? () => {} : this.#out.arguments
      const next = yield* r.until(['>>>'], emit)
      this.#out.endCall(r.atEnd)
      if (next === undefined) return
    }
  }

  /** Whether a line can name the recipient of a message; otherwise it is text. */
  #isRecipient(name: string): boolean {
    return ['all', ''].includes(name) || (this.#calling && /^[\w.-]+$/.test(name) && this.#kinds.has(name))
  }

  /** false: the arguments are no JSON. */
  *#jsonArguments(): Reading<boolean> {
    yield* this.#r.space()
    const isJson = '{['.includes((yield* this.#r.peek()) || ' ')
    if (isJson) yield* this.#r.json(this.#out.arguments)
    return isJson
  }
}

const endReason = oneOf('end', 'stop', 'length', 'context', 'tool_calls', 'abort')

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
    end(reason = 'end') {
      checkArgument('end()', 'reason', reason, endReason)
      parser.reader.end(reason !== 'end' && reason !== 'tool_calls')
      return go()
    },
  }
}
