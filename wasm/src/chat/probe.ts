// Detects what a chat template supports by rendering small conversations with words that occur nowhere else. Each probe
// runs once for a template, and only if a conversation needs its result.
import { GgufError } from '../api/errors.js'
import type { AssetOptions } from '../api/assets.js'
import { renderTemplate } from '../text/render-template.js'

type ProbedRole = 'system' | 'user' | 'assistant' | 'tool'
export interface Message {
  readonly role: string
  readonly content?: unknown
  readonly [field: string]: unknown
}

/** The forms of a message's content whose text appears in the prompt. */
export interface ContentForms {
  readonly text: boolean
  readonly parts: boolean
}
/**
 * The forms of calls. nested: a call's fields are inside `function`. object, string: whether arguments in that form
 * appear unchanged in the prompt.
 */
interface CallForms {
  readonly nested: boolean
  readonly object: boolean
  readonly string: boolean
}
/**
 * A form of tools. nested: OpenAI's { type, function }, otherwise the function alone. text: as JSON text. variable: the
 * template's variable, usually `tools`.
 */
interface ToolForms {
  readonly nested: boolean
  readonly variable: string
  readonly text: boolean
}
type Variables = Readonly<Record<string, unknown>>

const kUser: Message = { role: 'user', content: 'zquser' }
const kAnswer: Message = { role: 'assistant', content: 'zqanswer' }
const kShortId = 'zq0000001'
const kFunction = {
  name: 'zqcall',
  description: 'zqdescription',
  parameters: {
    type: 'object',
    properties: { zqkey: { type: 'string', description: 'zqtold' } },
    required: ['zqkey'],
  },
}
const kArguments = { zqkey: 'zqvalue' }
/** Roles of messages with tool results. */
const kResultRoles = ['tool', 'function', 'ipython', 'observation', 'environment']
/** Names of fields that hold an assistant's reasoning. */
export const kReasoningFields = ['reasoning_content', 'reasoning', 'thinking', 'thought'] as const
const kToolForms: readonly ToolForms[] = [
  { nested: true, variable: 'tools', text: false },
  { nested: false, variable: 'tools', text: false },
  { nested: true, variable: 'xml_tools', text: false },
  { nested: true, variable: 'functions', text: false },
  { nested: true, variable: 'functions', text: true },
]
/** Variables for a conversation without tools. The first row that a template takes is used. */
const kNoTools: readonly Variables[] = [
  { tools: null },
  {},
  { tools: [] },
  { tools: null, functions: '', datetime: 'zqtime' },
]

/** Types of parts for each medium. The first one that a template takes is used. */
export const kMediaTypes = {
  image: ['image_url', 'image'],
  audio: ['input_audio', 'audio', 'audio_url'],
  video: ['video_url', 'video'],
} as const
export type Medium = keyof typeof kMediaTypes

const count = (text: string, part: string) => text.split(part).length - 1
const part = (text: string) => ({ type: 'text', text })
/** Whether the template printed a part as a value instead of its text. */
const printed = (text: string) => /text\\*['"]\s*:\s*\\*['"]\s*zqone|type\\*['"]\s*:\s*\\*['"](?:text|image|input_audio|audio|video)/.test(text) // prettier-ignore

/** The template's variables with the given tools. */
export function toolVariables(
  { nested, variable, text }: ToolForms,
  functions: readonly unknown[],
): Variables {
  const tools = nested ? functions.map((one) => ({ type: 'function', function: one })) : functions
  return { [variable]: text ? JSON.stringify(tools, undefined, 2) : tools }
}

export class TemplateProbe {
  readonly #known = new Map<string, Promise<unknown>>()

  constructor(
    readonly source: string,
    readonly hosting: AssetOptions | undefined,
  ) {}

  #once<T>(name: string, find: () => Promise<T>): Promise<T> {
    let known = this.#known.get(name) as Promise<T> | undefined
    if (!known) {
      known = find()
      this.#known.set(name, known)
      known.catch(() => this.#known.delete(name))
    }
    return known
  }

  /** The variables for a conversation without tools; datetime is the template engine's. */
  noTools(): Promise<Variables> {
    return this.#once('no tools', async () => {
      for (const row of kNoTools)
        if (
          (await this.#attempt({
            documents: null,
            add_generation_prompt: false,
            ...row,
            messages: [kUser],
          })) !== undefined
        )
          return row
      return kNoTools[0]!
    })
  }

  /** Renders messages. Returns undefined if the template raised an error. */
  async #render(messages: readonly Message[], variables: Variables = {}): Promise<string | undefined> {
    const all = {
      ...(await this.noTools()),
      documents: null,
      add_generation_prompt: false,
      ...variables,
      messages,
    }
    return await this.#attempt(all)
  }
  async #attempt(variables: Variables): Promise<string | undefined> {
    try {
      const all = { bos_token: '', eos_token: '', ...variables }
      return (await renderTemplate(this.source, all, {}, this.hosting)).text
    } catch (error) {
      // A template that exceeds a limit with so small an input would exceed it with every other one.
      if (error instanceof GgufError && error.code === 'chat-template') return undefined
      throw error
    }
  }
  async #shows(
    words: readonly string[],
    messages: readonly Message[],
    variables?: Variables,
  ): Promise<boolean> {
    const text = await this.#render(messages, variables)
    return text !== undefined && words.every((word) => text.includes(word))
  }

  /** Whether the template has the role's name. */
  names(role: string): boolean {
    return this.source.includes(`'${role}'`) || this.source.includes(`"${role}"`)
  }

  content(role: ProbedRole): Promise<ContentForms> {
    return this.#once(`content ${role}`, async () => {
      const around = async (content: unknown): Promise<string | undefined> => {
        if (role === 'tool')
          return await this.#renderCalls({ role: (await this.resultRole()) ?? role, result: content })
        const message = { role, content }
        const before = role === 'assistant' ? [kUser] : []
        return await this.#render([...before, message, ...(role === 'user' ? [] : [kUser])])
      }
      const text = (await around('zqone'))?.includes('zqone') === true
      const parts = await around([part('zqone'), part('zqtwo')])
      const good = parts?.includes('zqone') === true && parts.includes('zqtwo')
      return { text, parts: good && !printed(parts) }
    })
  }

  /** The type of part that the template knows for a medium; undefined: the template has no place for the medium. */
  media(medium: Medium, given: string): Promise<string | undefined> {
    return this.#once(`${medium} ${given}`, async () => {
      const without = await this.#render([{ role: 'user', content: [part('zqone')] }])
      for (const type of new Set([given, ...kMediaTypes[medium]])) {
        const value = type.endsWith('_url') ? { url: 'zqmedia' } : 'zqmedia'
        const content = [{ type, [type]: value }, part('zqone')]
        const text = await this.#render([{ role: 'user', content }])
        if (text?.includes('zqone') && text !== without && !printed(text)) return type
      }
      return undefined
    })
  }

  /** first: whether a system message may come first; later: whether another one may follow other messages. */
  system(): Promise<{ first: boolean; later: boolean; several: boolean }> {
    return this.#once('system', async () => {
      const text = (await this.content('system')).text
      const message = (word: string) => ({ role: 'system', content: text ? word : [part(word)] })
      const [one, two] = [message('zqfirst'), message('zqsecond')]
      const words = ['zqfirst', 'zqsecond']
      return {
        first: await this.#shows(['zqfirst'], [one, kUser]),
        several: await this.#shows(words, [one, two, kUser]),
        later: await this.#shows(words, [one, kUser, kAnswer, two, kUser]),
      }
    })
  }
  /** Whether the template knows a role. */
  knows(role: string): Promise<boolean> {
    return this.#once(`role ${role}`, async () =>
      this.names(role) ? await this.#shows(['zqone'], [{ role, content: 'zqone' }, kUser]) : false,
    )
  }

  /** Whether the template writes this role as it is, and its message. */
  writes(role: string): Promise<boolean> {
    const messages = [kUser, kAnswer, { role, content: 'zqone' }]
    return this.#once(`writes ${role}`, () => this.#shows([role, 'zqone'], messages))
  }

  /** Whether two consecutive messages may have the same role. */
  repeats(role: 'user' | 'assistant'): Promise<boolean> {
    return this.#once(`repeats ${role}`, async () => {
      const text = (await this.content(role)).text
      const message = (word: string) => ({ role, content: text ? word : [part(word)] })
      const pair = [message('zqone'), message('zqtwo')]
      const all = role === 'user' ? pair : [kUser, ...pair, kUser]
      return await this.#shows(['zqone', 'zqtwo'], all)
    })
  }

  tools(): Promise<ToolForms | undefined> {
    return this.#once('tools', async () => {
      for (const form of kToolForms) {
        if (!this.source.includes(form.variable)) continue
        for (const messages of [[kUser], [{ role: 'system', content: 'zqsystem' }, kUser]])
          if (await this.#shows(['zqcall', 'zqkey'], messages, toolVariables(form, [kFunction]))) return form
      }
      // The template uses them for something else.
      const form = kToolForms[0]!
      const text = await this.#render([kUser], toolVariables(form, [kFunction]))
      return text !== undefined && text !== (await this.#render([kUser])) ? form : undefined
    })
  }

  async #renderCalls(
    given: {
      readonly calls?: number
      readonly form?: Pick<CallForms, 'nested'>
      readonly args?: unknown
      readonly content?: unknown
      readonly extra?: Readonly<Record<string, unknown>>
      /** null: no id */
      readonly id?: string | null
      readonly role?: string
      readonly result?: unknown
      readonly more?: readonly Message[]
    } = {},
  ): Promise<string | undefined> {
    const { calls = 1, args, extra = {}, role = 'tool', result = 'zqresult', more = [] } = given
    const form = given.form ?? (await this.calls()) ?? { nested: true, object: true }
    const taken = args ?? ('object' in form && form.object ? kArguments : JSON.stringify(kArguments))
    const id = (i: number) => (given.id === undefined ? `zq000000${i + 1}` : given.id)
    const indices = Array.from({ length: calls }, (_, i) => i)
    const tool_calls = indices.map((i) => {
      const called = { name: `zqcall${i || ''}`, arguments: taken }
      return {
        ...(id(i) !== null && { id: id(i) }),
        type: 'function',
        ...(form.nested ? { function: called } : called),
      }
    })
    const content = 'content' in given ? given.content : given.form ? '' : await this.callContent()
    const assistant = { role: 'assistant', ...(content !== undefined && { content }), tool_calls, ...extra }
    const results = indices.map((i) => ({
      role,
      ...(id(i) !== null && { tool_call_id: id(i) }),
      name: `zqcall${i || ''}`,
      content: calls > 1 ? `zqresult${i}` : result,
    }))
    const tools = await this.tools()
    const described = indices.map((i) => ({ ...kFunction, name: `zqcall${i || ''}` }))
    const variables = tools && toolVariables(tools, described)
    return await this.#render([kUser, assistant, ...results, ...more], variables)
  }

  /** The forms of calls; undefined if the template ignores calls in messages. */
  calls(): Promise<CallForms | undefined> {
    return this.#once('calls', async () => {
      const text = JSON.stringify(kArguments)
      for (const nested of [true, false]) {
        const shown = async (args: unknown): Promise<string | undefined> => {
          for (const content of ['', null, undefined]) {
            const all = await this.#renderCalls({ form: { nested }, args, content })
            // The result is probed separately, because templates differ in the role that they take.
            if (all !== undefined && /zqkey[^]{1,60}zqvalue/.test(all)) return all
          }
          return undefined
        }
        const [withObject, withString] = [await shown(kArguments), await shown(text)]
        const unharmed = (all: string | undefined) => all !== undefined && !/\\+"zqkey/.test(all)
        const object = unharmed(withObject) && (!/'zqkey'\s*:/.test(withObject!) || !unharmed(withString))
        // If a template writes text differently from the object, its model was not trained on that form.
        const same = withString?.replaceAll(/\s/g, '') === withObject?.replaceAll(/\s/g, '')
        const string = unharmed(withString) && (same || !object)
        if (object || string) return { nested, object, string }
      }
      return undefined
    })
  }

  /** How to write a message with calls but without content: '', null or no field. */
  callContent(given?: unknown): Promise<unknown> {
    return this.#once(`call content ${JSON.stringify(given)}`, async () => {
      const form = await this.calls()
      let best: { content: unknown; nones: number } | undefined
      for (const content of new Set([given, '', null, undefined])) {
        const args = form?.object ? kArguments : JSON.stringify(kArguments)
        const text = await this.#renderCalls({ form: form ?? { nested: true }, args, content })
        if (text === undefined || !text.includes('zqvalue')) continue
        const nones = count(text, 'None')
        if (!best || nones < best.nones) best = { content, nones }
      }
      return best ? best.content : ''
    })
  }

  /** The role for tool results; undefined: the template knows none. */
  resultRole(): Promise<string | undefined> {
    return this.#once('result', async () => {
      const calls = (await this.calls()) !== undefined
      // A template that writes any role can take results if it also writes the tools.
      const generic = (await this.tools()) !== undefined
      for (const role of kResultRoles) {
        if (!this.names(role) && !(generic && role === 'tool')) continue
        for (const result of ['zqresult', [part('zqresult')]]) {
          const text = calls
            ? await this.#renderCalls({ role, result })
            : await this.#render([kUser, kAnswer, { role, name: 'zqcall', content: result }])
          if (text?.includes('zqresult')) return role
        }
      }
      return undefined
    })
  }

  /** Whether a message may hold several calls. */
  parallel(): Promise<boolean> {
    return this.#once('parallel', async () => {
      const role = (await this.resultRole()) ?? 'tool'
      const text = await this.#renderCalls({ calls: 2, role })
      if (text === undefined) return false
      // The names also occur in the descriptions of the tools.
      return count(text, 'zqvalue') === 2 && text.includes('zqresult0') && text.includes('zqresult1')
    })
  }
  /** What the template requires of ids: nine letters or digits, any id, or nothing. */
  ids(): Promise<'short' | 'needed' | 'free'> {
    return this.#once('ids', async () => {
      const role = (await this.resultRole()) ?? 'tool'
      const takes = async (id: string | null) => (await this.#renderCalls({ role, id })) !== undefined
      if (await takes('call_zq0123456789abcdefg')) return (await takes(null)) ? 'free' : 'needed'
      return (await takes(kShortId)) ? 'short' : 'free'
    })
  }

  documents(): Promise<boolean> {
    return this.#once('documents', async () => {
      if (!this.source.includes('documents')) return false
      const documents = [{ title: 'zqtitle', text: 'zqdocument', doc_id: 1 }]
      return await this.#shows(['zqdocument'], [kUser], { documents })
    })
  }

  /** The reasoning field that the template writes, the given one first; undefined: it writes none. */
  reasoning(given: string): Promise<string | undefined> {
    return this.#once(`reasoning ${given}`, async () => {
      for (const field of new Set([given, ...kReasoningFields])) {
        if (!this.source.includes(field)) continue
        const extra = { [field]: 'zqthought' }
        if (await this.#shows(['zqthought'], [kUser, { ...kAnswer, ...extra }])) return field
        for (const content of ['', null])
          if ((await this.#renderCalls({ content, extra }))?.includes('zqthought')) return field
      }
      return undefined
    })
  }
  /** Whether the template takes reasoning as a part of the content. */
  thinkingParts(): Promise<boolean> {
    return this.#once('thinking parts', async () => {
      if (!this.names('thinking')) return false
      const content = [{ type: 'thinking', thinking: 'zqthought' }, part('zqanswer')]
      return await this.#shows(['zqthought', 'zqanswer'], [kUser, { role: 'assistant', content }])
    })
  }
  /** Whether the template writes calls in a message that also has text. */
  callsBesideText(): Promise<boolean> {
    return this.#once('beside text', async () =>
      ((await this.#renderCalls({ content: 'zqone' })) ?? 'zqvalue').includes('zqvalue'),
    )
  }
  /** Whether an assistant message may be empty. */
  silence(): Promise<boolean> {
    return this.#once(
      'silence',
      async () => (await this.#render([kUser, { role: 'assistant', content: '' }, kUser])) !== undefined,
    )
  }
  /** Whether the template takes these variables. */
  async takes(variables: Variables): Promise<boolean> {
    return (await this.#render([kUser], variables)) !== undefined
  }
  /** Whether a message may have text, reasoning and calls together. */
  reasonsBesideText(field: string): Promise<boolean> {
    return this.#once(`beside ${field}`, async () => {
      const text = await this.#renderCalls({ content: 'zqone', extra: { [field]: 'zqthought' } })
      return text !== undefined
    })
  }
}

const kMaxKept = 16
const kept = new Map<string, TemplateProbe>()

/** The probe of a template, from a cache of the most recently used ones. */
export function probeOf(source: string, hosting: AssetOptions | undefined): TemplateProbe {
  const probe = kept.get(source) ?? new TemplateProbe(source, hosting)
  kept.delete(source)
  kept.set(source, probe)
  if (kept.size > kMaxKept) kept.delete(kept.keys().next().value!)
  return probe
}
