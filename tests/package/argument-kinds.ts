// What wrong-arguments.test.ts tries: wrong values, and which of them each kind of parameter or option takes.

/** Whether a parameter may be one of the values below; undefined: not tried. */
export type Kind = (value: unknown) => boolean | undefined
export type Options = Readonly<Record<string, Kind>>

export const kValues: Readonly<Record<string, unknown>> = {
  undefined,
  null: null,
  NaN,
  '-1': -1,
  '0.5': 0.5,
  '1e300': 1e300,
  '1n': 1n,
  true: true,
  'a text': 'nonsense',
  'an empty text': '',
  'a symbol': Symbol('nonsense'),
  'a function': () => {},
  '[]': [],
  '[null]': [null],
  '{}': {},
}

export const never: Kind = () => false
export const any: Kind = () => true
export const text: Kind = (value) => typeof value === 'string'
export const flag: Kind = (value) => typeof value === 'boolean'
export const callback: Kind = (value) => typeof value === 'function'
// What a function returns is not tried.
export const fetching: Kind = (value) => (typeof value === 'function' ? undefined : false)
export const object: Kind = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
export const emptyList: Kind = (value) => Array.isArray(value) && value.length === 0
export const list: Kind = Array.isArray
export const number =
  (least = -Infinity, most = Infinity): Kind =>
  (value) =>
    Number.isFinite(value) && least <= Number(value) && Number(value) <= most
export const integer =
  (least = -Infinity, most = Infinity): Kind =>
  (value) =>
    Number.isSafeInteger(value) && number(least, most)(value)
export const either =
  (...kinds: readonly Kind[]): Kind =>
  (value) =>
    kinds.some((kind) => kind(value) === true)
// In OpenAI's requests, null means absent.
export const orNull = (kind: Kind): Kind => either(kind, (value) => value === null)
export const maybe = (kind: Kind): Kind => either(kind, (value) => value === undefined)

/** A wrong value for an option is anything else than undefined and what its kind accepts. */
export const reading: Options = { signal: never }
export const hosting: Options = { wasmUrl: any, assets: either(text, object) }
export const writing: Options = { ...reading, onProgress: callback }
export const http: Options = {
  ...reading,
  fetch: fetching,
  headers: any,
  retries: number(0),
  timeout: number(0),
}
export const hubOptions: Options = { ...reading, fetch: fetching, server: text, token: text }

export const sampling: Options = {
  temperature: number(0),
  topK: integer(),
  seed: integer(),
  logitBias: object,
  maxTokens: integer(0),
  stop: either(text, emptyList),
  grammar: text,
  grammarTriggers: emptyList,
  showTokens: emptyList,
  schema: either(object, flag),
  logprobs: never,
  ignoreEnd: flag,
  contextShift: flag,
  keep: never,
  onOverflow: never,
  lookup: never,
  draft: never,
  signal: never,
  onDone: callback,
}
export const rendering: Options = {
  template: text,
  tools: list,
  documents: list,
  addGenerationPrompt: flag,
  continue: flag,
  adapt: flag,
  variables: object,
  templateVariables: object,
  now: never,
  maxLength: never,
}
export const rows = { rows: never, superBlock: never }

export type Call = (...values: never[]) => unknown
/** The function, what each parameter may be, arguments that are right, and options beside those that are tried. */
export interface Row {
  readonly call: Call
  readonly takes: readonly (Kind | Options)[]
  readonly right: readonly unknown[]
}
export const row = (call: Call, takes: Row['takes'], right: readonly unknown[] = []): Row => ({
  call,
  takes,
  right,
})
export const drain =
  (make: (...values: never[]) => AsyncIterable<unknown>) =>
  async (...values: never[]) => {
    for await (const _ of make(...values)) break
  }
export const bind = <T extends object, N extends keyof T>(one: T, member: N): T[N] =>
  (one[member] as unknown as { bind(one: T): T[N] }).bind(one)
