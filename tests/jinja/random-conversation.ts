// Random conversations for real templates: messages, tools, documents and variables as clients send them, and sometimes
// invalid ones.
import { randomOf, type Random } from '../schema/random.ts'

type Value = unknown
type Fields = Record<string, Value>

const kTexts = ['Hi', '', ' ', '\n', ' Bye \n', 'Zürich 😀', '<b>&\'"\\</b>', '{"a": 1}', '[1]', 'a\nb\n', 'x{{ y }}', '\u00a0\u2028', '<think>\nadd\n</think>\n\n2', 'no</think>yes', '<think>', '/no_think', '/think', '</s>', '<tool_call>', 'ẞßı', '\t"', "it's", '%s %d', 'None', '👩‍👩‍👧', '\u0000', '﷽a', '  lead', 'Ǆ', 'ΑΣ'] // prettier-ignore
const kNumbers = [
  0, 1, -1, 2, 1.5, -0.25, 1e21, 1e-7, 123456789, 9007199254740991, 0.1, 100, 1e16, -1e-5, 3.14,
]
const kNames = ['get_weather', 'f', 'now', 'a.b', 'naïve', 'x-1']
const kIds = ['call_abc12', 'abc123def', '0', 'functions.f:0', 'call_00000001', '']
const kTypes = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object', ['string', 'null']]
const kVariables = [
  'enable_thinking', 'thinking', 'reasoning_effort', 'date_string', 'tools_in_user_message', 'builtin_tools', 'custom_tools',
  'clear_thinking', 'keep_past_thinking', 'reasoning_mode', 'custom_instructions', 'system_prompt', 'response_format',
  'drop_thinking', 'add_vision_id', 'developer_instruction', 'model_identity', 'default_system_prompt', 'preserve_thinking',
  'retain_reasoning', 'truncate_history_thinking', 'add_thoughts', 'enable_citations', 'think_render_option', 'controls',
  'skip_thinking', 'grounding', 'datetime', 'functions', 'convert_first_system_msg', 'regen_tool_call_ids', 'citation_options',
  'platform_instruction_override', 'developer_preamble', 'tool_output_instructions', 'bos_token', 'eos_token', 'tools',
] as const // prettier-ignore

export interface RandomConversation {
  readonly messages: readonly Fields[]
  readonly tools: readonly Value[] | undefined
  readonly documents: readonly Value[] | undefined
  readonly addGenerationPrompt: boolean
  readonly variables: Fields
}

class ConversationMaker {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  #of<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)]!
  }
  /** Returns true with this probability. */
  #is(probability: number): boolean {
    return this.#random() < probability
  }
  #list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: Math.floor(this.#random() * (most + 1)) }, make)
  }

  #text(): string {
    return this.#is(0.7) ? this.#of(kTexts) : this.#of(kTexts) + this.#of(kTexts)
  }
  #value(depth = 2): Value {
    if (depth > 0 && this.#is(0.3))
      return this.#is(0.5) ? this.#list(3, () => this.#value(depth - 1)) : this.#object(depth - 1)
    return this.#of([() => this.#text(), () => this.#of(kNumbers), () => this.#of([true, false, null])])()
  }
  #object(depth = 2): Fields {
    const keys = this.#list(3, () => this.#of(['city', 'n', 'unit', 'ä b', 'x', 'items', 'type']))
    return Object.fromEntries(keys.map((key) => [key, this.#value(depth)]))
  }

  #part(): Value {
    return this.#of<() => Value>([
      () => ({ type: 'text', text: this.#text() }),
      () => ({ type: 'text', text: this.#text() }),
      () => ({ type: 'image' }),
      () => ({ type: 'image_url', image_url: { url: 'data:,' } }),
      () => ({ type: 'video' }),
      () => ({ type: 'audio' }),
      () => ({ type: 'thinking', thinking: this.#text() }),
      () => ({ text: this.#text() }),
    ])()
  }
  #content(): Value {
    const roll = this.#random()
    if (roll < 0.85) return this.#text()
    if (roll < 0.97) return this.#list(3, () => this.#part())
    return this.#of<Value>([null, 5, true, {}, { a: 1 }, ['text']])
  }

  #call(): Value {
    const args = this.#object()
    const called: Fields = {
      name: this.#of(kNames),
      arguments: this.#is(0.6)
        ? args
        : this.#is(0.9)
          ? JSON.stringify(args)
          : this.#of<Value>([null, '', 'x', []]),
    }
    if (this.#is(0.1)) return called
    return {
      ...(this.#is(0.8) && { id: this.#of(kIds) }),
      ...(this.#is(0.9) && { type: 'function' }),
      function: called,
    }
  }

  #message(role: string): Fields {
    const message: Fields = { role }
    if (this.#is(0.95)) message['content'] = this.#content()
    if (role === 'assistant') {
      if (this.#is(0.25)) message['reasoning_content'] = this.#is(0.8) ? this.#text() : null
      if (this.#is(0.1)) message[this.#of(['reasoning', 'thinking', 'thought', 'tool_plan'])] = this.#text()
      if (this.#is(0.4)) message['tool_calls'] = this.#is(0.95) ? this.#list(3, () => this.#call()) : null
      if (this.#is(0.05)) message['chosen'] = this.#is(0.5)
    }
    if (role === 'tool') {
      if (this.#is(0.8)) message['tool_call_id'] = this.#of(kIds)
      if (this.#is(0.6)) message['name'] = this.#of(kNames)
      if (this.#is(0.05)) message['tool_responses'] = [{ name: 'f', response: this.#value() }]
    }
    return message
  }

  #schema(depth = 2): Fields {
    const schema: Fields = { type: this.#of(kTypes) }
    if (this.#is(0.5)) schema['description'] = this.#is(0.8) ? this.#text() : 'first\nsecond'
    if (this.#is(0.2)) schema['enum'] = this.#list(3, () => this.#value(0))
    if (this.#is(0.2)) schema['default'] = this.#value(1)
    if (this.#is(0.1)) schema['nullable'] = this.#is(0.5)
    if (this.#is(0.1)) schema['minimum'] = this.#of(kNumbers)
    if (depth === 0) return schema
    if (schema['type'] === 'array' && this.#is(0.8)) schema['items'] = this.#schema(depth - 1)
    if (schema['type'] === 'object' || this.#is(0.05)) Object.assign(schema, this.#properties(depth - 1))
    if (this.#is(0.08)) schema[this.#of(['oneOf', 'anyOf'])] = this.#list(3, () => this.#schema(depth - 1))
    return schema
  }
  #properties(depth: number): Fields {
    const names = this.#list(3, () => this.#of(['city', 'unit', 'n', 'flag', 'ä', 'type']))
    const properties = Object.fromEntries(names.map((name) => [name, this.#schema(depth)]))
    return {
      properties,
      ...(this.#is(0.6) && { required: names.filter(() => this.#is(0.5)) }),
      ...(this.#is(0.2) && { additionalProperties: this.#is(0.7) ? this.#is(0.5) : this.#schema(0) }),
    }
  }
  #tool(): Value {
    const made: Fields = { name: this.#of(kNames) }
    if (this.#is(0.85)) made['description'] = this.#text()
    if (this.#is(0.9)) made['parameters'] = { type: 'object', ...this.#properties(2) }
    if (this.#is(0.1)) made['strict'] = true
    if (this.#is(0.1)) made['return'] = { type: 'string', description: this.#text() }
    if (this.#is(0.1)) made['response'] = this.#schema(1)
    return this.#is(0.93) ? { type: 'function', function: made } : made
  }

  #roles(): string[] {
    const roles: string[] = this.#is(0.4) ? [this.#is(0.8) ? 'system' : 'developer'] : []
    for (let turns = Math.floor(this.#random() * 4); turns > 0; turns--) {
      roles.push('user')
      if (this.#is(0.7)) roles.push('assistant')
      if (this.#is(0.3))
        roles.push('tool', ...(this.#is(0.3) ? ['tool'] : []), ...(this.#is(0.6) ? ['assistant'] : []))
    }
    if (this.#is(0.6)) roles.push('user')
    if (this.#is(0.08))
      roles.splice(Math.floor(this.#random() * roles.length), 0, this.#of(['system', 'tool', 'ipython', 'x']))
    return roles
  }
  #variable(name: string): Value {
    if (name.endsWith('_token')) return this.#of(['<s>', '', '</s>'])
    if (name === 'reasoning_effort') return this.#of(['low', 'medium', 'high', 'none', null])
    if (name === 'tools' || name === 'functions' || name === 'custom_tools')
      return this.#list(2, () => this.#tool())
    if (name === 'builtin_tools')
      return this.#list(2, () => this.#of(['python', 'browser', 'code_interpreter']))
    return this.#is(0.7) ? this.#of([true, false]) : this.#value(1)
  }

  conversation(): RandomConversation {
    const variables: Fields = { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' }
    for (let left = Math.floor(this.#random() * 5); left > 0; left--) {
      const name = this.#of(kVariables)
      variables[name] = this.#variable(name)
    }
    return {
      messages: this.#roles().map((role) => this.#message(role)),
      tools: this.#is(0.5) ? this.#list(3, () => this.#tool()) : undefined,
      documents: this.#is(0.1)
        ? this.#list(2, () => ({
            title: this.#text(),
            text: this.#text(),
            ...(this.#is(0.5) && { doc_id: 1 }),
          }))
        : undefined,
      addGenerationPrompt: this.#is(0.6),
      variables,
    }
  }
}

/** Makes the conversation of a seed. */
export function randomConversation(seed: number): RandomConversation {
  return new ConversationMaker(randomOf(seed)).conversation()
}
