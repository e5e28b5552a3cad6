// Chat templates are programs of strangers. They run in the interpreter of @huggingface/jinja, which has no access to
// anything but what it is given; here every step of it is counted, so that none runs on or grows without end.
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja'
import { GgufError, messageOf } from '../api/errors.js'
import type { RenderChatOptions } from '../api/text.js'

const kMaxLength = 4_000_000
export const kTimeout = 2000
const kMaxElements = 200_000
const kMaxDepth = 500
const kMaxTemplate = 1_000_000

type Value = ReturnType<Interpreter['evaluate']>
type Statement = Parameters<Interpreter['evaluate']>[0]

export function limit(what: string): GgufError {
  return new GgufError('chat-template-limit', `The chat template was stopped: ${what}.`)
}

class BoundedInterpreter extends Interpreter {
  readonly #maxLength: number
  readonly #deadline: number
  #depth = 0

  constructor(environment: Environment, maxLength: number, timeout: number) {
    super(environment)
    this.#maxLength = maxLength
    this.#deadline = performance.now() + timeout
  }

  override evaluate(statement: Statement, environment: Environment): Value {
    if (performance.now() > this.#deadline) throw limit('it takes too long')
    if (++this.#depth > kMaxDepth) throw limit(`it nests deeper than ${kMaxDepth} levels`)
    try {
      const value = super.evaluate(statement, environment)
      const size = sizeOf(value.value)
      // No single step more than doubles what it is given, or it fails in the engine.
      if (typeof value.value === 'string' ? size > this.#maxLength : size > kMaxElements) {
        throw limit(`it makes a ${typeof value.value === 'string' ? 'text' : 'list'} of ${size} elements`)
      }
      return value
    } finally {
      this.#depth--
    }
  }
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return value instanceof Map ? value.size : 0
}

/** range() of Python over numbers, bounded. */
function range(first: number, second?: number, step = 1): number[] {
  const [from, to] = second === undefined ? [0, first] : [first, second]
  if (step === 0) throw new Error('range() step must not be zero')
  const count = Math.max(0, Math.ceil((to - from) / step))
  if (!(count <= kMaxElements)) throw limit(`range() of ${count} elements`)
  return Array.from({ length: count }, (_, i) => from + i * step)
}

function strftime(now: Date, format: string): string {
  const two = (n: number) => String(n).padStart(2, '0')
  const month = (style: 'long' | 'short') => new Intl.DateTimeFormat(undefined, { month: style }).format(now)
  const parts: Readonly<Record<string, () => string>> = {
    '%Y': () => String(now.getFullYear()),
    '%m': () => two(now.getMonth() + 1),
    '%d': () => two(now.getDate()),
    '%b': () => month('short'),
    '%B': () => month('long'),
    '%H': () => two(now.getHours()),
    '%M': () => two(now.getMinutes()),
    '%%': () => '%',
  }
  return format.replace(/%[YmdbBHM%]/g, (part) => parts[part]!())
}

export type TemplateOptions = Pick<RenderChatOptions, 'maxLength' | 'timeout' | 'now'>

/** Renders one template with those variables, bounded. */
export function renderTemplate(
  text: string,
  variables: Readonly<Record<string, unknown>>,
  { maxLength = kMaxLength, timeout = kTimeout, now = new Date() }: TemplateOptions = {},
): string {
  try {
    if (text.length > kMaxTemplate) throw limit(`it is ${text.length} characters long itself`)
    const environment = new Environment()
    const globals: Record<string, unknown> = {
      true: true,
      false: false,
      none: null,
      True: true,
      False: false,
      None: null,
      range,
      raise_exception: (message: string) => {
        throw new Error(message)
      },
      strftime_now: (format: string) => strftime(now, format),
    }
    for (const [name, value] of Object.entries(globals)) environment.set(name, value)
    for (const [name, value] of Object.entries(variables)) {
      if (!environment.variables.has(name)) environment.set(name, value)
    }
    const program = parse(tokenize(text, { lstrip_blocks: true, trim_blocks: true }))
    return String(new BoundedInterpreter(environment, maxLength, timeout).run(program).value)
  } catch (error) {
    if (error instanceof GgufError) throw error
    // Too deep for the parser, or a text longer than the engine can hold.
    if (error instanceof RangeError) throw limit(messageOf(error))
    throw new GgufError('chat-template', `The chat template fails: ${messageOf(error)}`, { cause: error })
  }
}
