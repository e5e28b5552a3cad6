// Makes grammars of tool calls from a format (the text around the arguments) and the functions' schemas (the
// arguments).
import { chatFormat } from './formats.js'
import {
  callback,
  checkArgument,
  checkOptions,
  either,
  flag,
  object,
  text as isText,
  type Check,
} from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import { dfaToRules, makeDfa } from '../schema/automaton.js'
import type { ObjectSyntax, ValueStyle } from '../schema/context.js'
import { Converter } from '../schema/converter.js'
import {
  characters,
  choice,
  kEmpty,
  optional,
  repeat,
  sequence,
  text,
  without,
  type Expression,
  type Range,
} from '../schema/gbnf.js'
import { schemaToGrammar, type JsonSchema } from '../schema/index.js'
import { withinLimit } from '../schema/steps.js'
import { kCommon, kJson } from '../schema/json-rules.js'
import { SchemaDocument, type Json, type Node } from '../schema/node.js'
import { kAny, parseRegex, type Regex } from '../schema/regex.js'
import { Rules } from '../schema/rules.js'
import { partsOf, stringsOf } from '../schema/strings.js'
import { schemaOfTool } from './schema-of-tool.js'
import { toolChoice as isChoice, toolList, chosenTools, kindOf } from './tool-schemas.js'
import type { ChatFormat, FunctionTool, GrammarTrigger, ToolGrammar, ToolGrammarOptions } from './types.js'

// A text of one of these forms (<|name|>, [NAME]) may be a control token.
const kMarker = /<[|｜/]?[^<>\s]*[|｜]?>|\[\/?[A-Z_]+\]/gu

const kPython: ValueStyle = {
  ...kJson,
  common: { ...kCommon, boolean: '"True" | "False"', null: '"None"' },
  value: (value) => text(pythonOf(value)),
}
function pythonOf(value: Json): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(',')}]`
  return `{${Object.entries(value as { [key: string]: Json })
    .map(([key, item]) => `${JSON.stringify(key)}:${pythonOf(item)}`)
    .join(',')}}`
}

const kJsonTypes = ['number', 'boolean', 'object', 'array', 'null']

const escaped = (value: string) => value.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

class GrammarBuilder {
  readonly shown = new Set<number>()
  readonly #rules: Rules
  readonly #style: ValueStyle

  constructor(
    readonly format: ChatFormat,
    readonly options: ToolGrammarOptions,
  ) {
    this.#style = format.kind === 'python' ? kPython : format.kind === 'gemma' ? this.#gemmaStyle() : kJson
    this.#rules = new Rules(this.#style.common)
    const { reasoning, open, close, callOpen, callClose, marks, dropped, nameOpen, nameClose, parameters } =
      format
    const all = [
      open,
      close,
      callOpen,
      callClose,
      nameOpen,
      ...nameClose,
      ...marks,
      ...dropped,
      '[CALL_ID]',
      '<|"|>',
    ]
    for (const marks of [...(reasoning ? [reasoning] : []), ...(format.otherReasoning ?? [])])
      all.push(marks.open, marks.close)
    all.push(...(format.reasoningEnds ?? []))
    if (parameters) all.push(parameters.open, ...parameters.named, parameters.close, parameters.tagEnd ?? '')
    if (parameters?.type) all.push(parameters.type.open, parameters.type.close)
    for (const one of all) this.#marked(one)
  }

  #token(name: string): number | undefined {
    return this.options.controlToken?.(name)
  }

  /** A text in which control tokens are matched as tokens. */
  #marked(value: string): Expression {
    const parts: Expression[] = []
    let at = 0
    for (const { 0: name, index } of value.matchAll(kMarker)) {
      const id = this.#token(name)
      if (id === undefined) continue
      this.shown.add(id)
      parts.push(text(value.slice(at, index)), { kind: 'token', token: id, negated: false })
      at = index + name.length
    }
    return sequence(...parts, text(value.slice(at)))
  }

  /** Any text that does not contain the given one. */
  #without(end: string): Expression {
    if (this.#token(end) !== undefined) return repeat(characters(kAny), 0, Infinity)
    const dfa = makeDfa([parseRegex(escaped(end))], ([found]) => (found ? '' : 'text'))
    return dfaToRules(dfa, 'text', this.#rules, 'text', characters)
  }

  build(): Expression {
    const { tools, toolChoice = 'auto', parallelToolCalls = true } = this.options
    const calls = chosenTools(tools, toolChoice).map((tool) => this.#call(tool))
    const call = this.#rules.add('call', choice(...calls))
    if (this.format.layout === 'harmony') {
      // gpt-oss ends its turn with a call.
      if (this.format.name !== 'llm-jp-harmony' || !parallelToolCalls) return call
      const end = sequence(
        this.#marked('<|end|>'),
        this.#marked('<|start|>'),
        this.#space(),
        text('assistant'),
      )
      return sequence(call, repeat(sequence(end, text(' to=functions.'), call), 0, Infinity))
    }
    const { open, between, close } = this.format
    if (this.format.layout === 'addressed') return this.#messages(call, parallelToolCalls)
    const next = this.format.layout === 'recipients' ? text('>>>') : this.#marked(between)
    const several = parallelToolCalls ? repeat(sequence(next, call), 0, Infinity) : kEmpty
    return sequence(this.#marked(open), call, several, this.#marked(close))
  }

  /** Calls in a message each. */
  #messages(call: Expression, several: boolean): Expression {
    const one = sequence(this.#marked(this.format.open), call, this.#marked(this.format.close))
    if (!several) return one
    const head = sequence(
      this.#marked('<|eom|>'),
      this.#marked('<|start|>'),
      text('assistant'),
      this.#recipient(),
    )
    return sequence(one, repeat(sequence(head, one), 0, Infinity))
  }
  /** The head of a message to a tool. */
  #recipient(): Expression {
    const name = repeat({ kind: 'class', ranges: [[0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]] }, 1, 64) // prettier-ignore
    return sequence(text(' to='), name, this.#marked('<|message|>'))
  }

  #call(tool: FunctionTool): Expression {
    const { format } = this
    const { name } = tool.function
    const document = new SchemaDocument(schemaOfTool(tool))
    const converter = new Converter(document, this.#rules, this.#style)
    const object = document.make({ types: new Set(['object']) }, '#')
    const json = () => converter.visit([document.root, object], name)
    if (format.layout === 'harmony') return sequence(text(name), this.#harmonyHead(), json())
    if (format.layout === 'recipients') return sequence(text(`${name}\n`), json())
    const open = this.#marked(format.callOpen)
    const close = this.#marked(format.callClose)
    switch (format.kind) {
      case 'object': {
        const [nameKey, argumentsKey, idKey] = [
          format.keys.name[0]!,
          format.keys.arguments[0]!,
          format.keys.id[0]!,
        ]
        const id = idKey === 'id' ? '' : `"${idKey}": "`
        const digits: Expression = { kind: 'class', ranges: [[0x30, 0x39]] }
        const head = id === '' ? text('{') : sequence(text(`{${id}`), repeat(digits, 1, 3), text('", '))
        const named = text(`"${nameKey}": ${JSON.stringify(name)}, "${argumentsKey}": `)
        return sequence(open, head, named, json(), text('}'), close)
      }
      case 'named':
        return sequence(open, this.#named(name), json(), close)
      case 'python':
        return sequence(
          open,
          text(`${name}(`),
          converter.objects([document.root], this.#pythonArguments(converter), name),
          text(')'),
          close,
        )
      case 'gemma':
        return sequence(
          open,
          text(`${name}{`),
          converter.objects([document.root], this.#gemmaArguments(converter), name),
          text('}'),
          close,
        )
      case 'elements':
      case 'parameters':
        return sequence(
          open,
          this.#named(name),
          converter.objects([document.root], this.#tags(converter), name),
          close,
        )
    }
  }

  #named(name: string): Expression {
    const { nameOpen, nameClose, name: format } = this.format
    const end = this.#marked(nameClose[0]!)
    const counted = sequence(text(':'), repeat({ kind: 'class', ranges: [[0x30, 0x39]] }, 1, 2))
    if (format === 'kimi-k2') return sequence(text(`${nameOpen}${name}`), counted, end)
    if (format === 'kimi-k3') {
      const index = repeat({ kind: 'class', ranges: [[0x30, 0x39]] }, 1, 2)
      return sequence(text(`${nameOpen}${name}" index="`), index, text('"'), this.#marked('<|sep|>'))
    }
    if (format !== 'solar') return sequence(this.#marked(nameOpen), text(name), end)
    const id = repeat({ kind: 'class', ranges: [[0x30, 0x39], [0x61, 0x7a]] }, 1, 12) // prettier-ignore
    return sequence(id, this.#marked(nameOpen), text(name), end)
  }

  /** What follows the recipient's name. */
  #harmonyHead(): Expression {
    const space = this.#space()
    const channel = sequence(this.#marked('<|channel|>'), space, choice(text('commentary'), text('analysis')))
    const kind = choice(
      sequence(text(' '), this.#marked('<|constrain|>'), space, text('json')),
      text(' json'),
    )
    return sequence(optional(channel), optional(kind), this.#marked('<|message|>'), space)
  }

  /** The space after a marker that LLM-jp's tokenizer writes. */
  #space(): Expression {
    return this.format.name === 'llm-jp-harmony' ? optional(text(' ')) : kEmpty
  }

  #pythonArguments(converter: Converter): ObjectSyntax {
    return {
      open: kEmpty,
      close: kEmpty,
      comma: text(', '),
      pair: (key, nodes) => sequence(text(`${key}=`), converter.visit(nodes, key)),
      others: false,
    }
  }

  #gemmaStyle(): ValueStyle {
    const quote = this.#marked('<|"|>')
    const token = quote.kind === 'token'
    const spelled = (ranges: readonly Range[]) => characters(token ? ranges : without(ranges, [[0x3c, 0x3c]]))
    const marker = token ? `<[${String((quote as { token: number }).token)}]>` : '"<|\\"|>"'
    // A name with a colon in it would be cut there.
    const name = (key: string) => (key.includes(':') ? sequence(quote, text(key), quote) : text(key))
    const value = (one: Json): Expression => {
      if (typeof one === 'string') return sequence(quote, text(one), quote)
      if (typeof one !== 'object' || one === null) return text(String(one))
      const items = Array.isArray(one)
        ? (one as Json[]).map(value)
        : Object.entries(one).map(([key, item]) => sequence(name(key), text(':'), value(item)))
      const joined = items.flatMap((item, i) => (i > 0 ? [text(','), item] : [item]))
      return Array.isArray(one)
        ? sequence(text('['), ...joined, text(']'))
        : sequence(text('{'), ...joined, text('}'))
    }
    return {
      common: {
        ...kCommon,
        space: '""',
        char: token ? '[^\\x00]' : '[^\\x00<]',
        string: `${marker} char* ${marker}`,
        pair: '[a-zA-Z_] [a-zA-Z0-9_]{0,30} ":" value',
      },
      quote,
      character: spelled,
      value,
      key: name,
    }
  }
  #gemmaArguments(converter: Converter): ObjectSyntax {
    return {
      open: kEmpty,
      close: kEmpty,
      comma: text(','),
      pair: (key, nodes) => sequence(text(`${key}:`), converter.visit(nodes, key)),
      others: false,
    }
  }

  #tags(converter: Converter): ObjectSyntax {
    const { open, named, close, padding, pair, gap = '\n' } = this.format.parameters!
    return {
      open: text(pair ? '' : gap),
      close: kEmpty,
      comma: kEmpty,
      pair: (key, nodes) => {
        const kind = kindOf(converter, nodes)
        const after = named[kind === 'string' ? 0 : named.length - 1]!
        const end = this.format.kind === 'elements' ? `${close}${key}>` : close
        const value = kind === 'string' ? this.#raw(converter, nodes, key, end) : converter.visit(nodes, key)
        const types = kind === 'string' ? text('string') : choice(...kJsonTypes.map(text))
        const type = sequence(text(' type="'), types, text('"'), this.#marked('<|sep|>'))
        return this.#rules.add(
          key,
          sequence(
            this.#marked(open),
            text(key),
            this.#marked(after),
            this.format.name === 'kimi-k3' ? type : kEmpty,
            text(padding),
            value,
            text(padding),
            this.#marked(end),
            text(gap),
          ),
        )
      },
      others: false,
    }
  }

  /** Unquoted strings that do not contain the text that ends them. */
  #raw(converter: Converter, nodes: readonly Node[], hint: string, close: string): Expression {
    const { padding } = this.format.parameters!
    const end = this.#token(close) === undefined ? [parseRegex(escaped(close.trim()))] : []
    // White space at the ends could be read as the padding around a value.
    const edges: Regex[] = padding === '' ? [] : [parseRegex('^\\n|\\n$')]
    const values = converter.values(nodes)
    if (values) {
      const isCut = (one: string) => one.includes(close.trim()) || (padding !== '' && /^\n|\n$/.test(one))
      const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      return choice(...texts.filter((one) => !isCut(one)).map(text))
    }
    const ways = converter.normalizer.all(nodes).map((one) => {
      const parts = partsOf(stringsOf(one))
      const dfa = makeDfa([...parts.map(({ regex }) => regex), ...end, ...edges], (matched) => {
        const own = parts.every(({ negated }, i) => matched[i] !== negated)
        return own && !matched.slice(parts.length).includes(true) ? 'text' : ''
      })
      return dfaToRules(dfa, 'text', this.#rules, hint, characters)
    })
    return choice(...ways)
  }

  /** What may precede the calls if a call is required. */
  before(): Expression {
    const { otherReasoning = [], layout } = this.format
    const prompt = (this.options.prompt ?? '').trimEnd()
    if (layout === 'addressed') {
      const thought = sequence(text(' to=self'), this.#marked('<|message|>'), this.#without('<|eom|>'))
      const next = sequence(this.#marked('<|eom|>'), this.#marked('<|start|>'), text('assistant'))
      return sequence(optional(sequence(thought, next)), this.#recipient())
    }
    if (layout === 'harmony') {
      const analysis = sequence(
        this.#marked('<|channel|>'),
        this.#space(),
        text('analysis'),
        this.#marked('<|message|>'),
        this.#without('<|end|>'),
        this.#marked('<|end|>'),
        this.#marked('<|start|>'),
        this.#space(),
        text('assistant'),
      )
      const commentary = sequence(this.#marked('<|channel|>'), this.#space(), text('commentary'))
      return sequence(optional(analysis), optional(commentary), text(' to=functions.'))
    }
    const opened = otherReasoning.find(({ open }) => prompt.endsWith(open.trim()))
    const reasoning = opened ?? this.format.reasoning
    if (!reasoning) return kEmpty
    const rest = sequence(
      this.#without(reasoning.close),
      this.#marked(reasoning.close),
      optional(text('\n')),
      optional(text('\n')),
    )
    return prompt.endsWith(reasoning.open.trim())
      ? rest
      : optional(sequence(this.#marked(reasoning.open), rest))
  }

  triggers(): GrammarTrigger[] {
    const { format, options } = this
    if (format.layout === 'harmony') return [{ text: ' to=functions.' }]
    if (format.layout === 'recipients')
      return options.tools.flatMap(({ function: { name } }) => [
        { text: `${name}\n`, atStart: true },
        { text: `>>>${name}\n` },
      ])
    const first = format.open === '' ? format.callOpen : format.open
    // Without a marker, only the name of a function distinguishes a call from an answer in JSON.
    if (format.bare !== '')
      return options.tools.map(({ function: { name } }) => ({
        text:
          format.kind === 'python'
            ? `${format.bare}${name}(`
            : `{"${format.keys.name[0]!}": ${JSON.stringify(name)}`,
        atStart: true,
      }))
    const mark = first.trimEnd().replace(/(?<=.)\[$/, '')
    const id = this.#token(mark)
    if (id !== undefined) return [{ token: id }]
    // If the mark begins with a control token, that token is the trigger.
    const head = [...mark.matchAll(kMarker)][0]
    const headId = head?.index === 0 ? this.#token(head[0]) : undefined
    return [headId === undefined ? { text: mark } : { token: headId }]
  }

  /** A reply of calls, or of JSON for a schema. */
  orAnswer(calls: Expression, schema: JsonSchema): Expression {
    if (this.format.layout !== 'marked')
      throw new GgufError(
        'unsupported',
        "Tools cannot be combined with a schema for this model's replies, whose parts have headers: leave one out.",
      )
    // Names of other rules end in a number.
    return choice(calls, this.#rules.include(schemaToGrammar(schema), 'answer'))
  }

  print(root: Expression): string {
    const grammar = this.#rules.print(root)
    if (grammar !== undefined) return grammar
    throw new GgufError(
      'invalid-argument',
      "No tool can be called: their parameters' schemas accept nothing.",
    )
  }
  /** After the trigger >>>name, the grammar includes the whole trigger. */
  lazy(calls: Expression): Expression {
    if (this.format.layout === 'harmony') return sequence(text(' to=functions.'), calls)
    return this.format.layout === 'recipients' ? sequence(optional(text('>>>')), calls) : calls
  }
}

const kChecks: Readonly<Record<keyof ToolGrammarOptions, Check>> = {
  tools: toolList,
  toolChoice: isChoice,
  parallelToolCalls: flag,
  schema: either(object, flag),
  prompt: isText,
  controlToken: callback,
}

/**
 * Options of generate() that make a reply's calls valid for the functions' schemas. With 'auto' the grammar begins
 * where the model begins a call; with a schema, the reply is calls or JSON for it. With 'required' or a function, the reply is optional reasoning and then calls.
 * Errors: those of schemaToGrammar, 'invalid-argument' for a function that is not among the tools.
 */
export function toolGrammar(format: ChatFormat, options: ToolGrammarOptions): ToolGrammar {
  checkArgument('toolGrammar()', 'format', format, chatFormat)
  checkOptions('toolGrammar()', options, kChecks)
  checkArgument('toolGrammar()', 'option tools', options.tools, toolList)
  return withinLimit(() => writeGrammar(format, options))
}

function writeGrammar(format: ChatFormat, options: ToolGrammarOptions): ToolGrammar {
  const builder = new GrammarBuilder(format, options)
  const { tools, toolChoice = 'auto' } = options
  const showTokens = [...builder.shown]
  if (chosenTools(tools, toolChoice).length === 0)
    return { grammar: undefined, grammarTriggers: [], showTokens }
  const calls = builder.build()
  const answer = toolChoice === 'auto' ? options.schema : undefined
  const lazy = toolChoice === 'auto' && answer === undefined
  const reply = answer === undefined ? calls : builder.orAnswer(calls, answer)
  const root = lazy ? builder.lazy(calls) : sequence(builder.before(), reply)
  return {
    grammar: builder.print(root),
    grammarTriggers: lazy ? builder.triggers() : [],
    showTokens,
  }
}
