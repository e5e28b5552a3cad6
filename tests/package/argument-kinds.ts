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
  ablate: emptyList,
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

const penalty = orNull(number(-2, 2))
const sampledRequest: Options = {
  model: orNull(text),
  temperature: orNull(number(0)),
  top_p: orNull(number(0)),
  n: orNull(never),
  frequency_penalty: penalty,
  presence_penalty: penalty,
  max_tokens: orNull((value) => value === -1),
  seed: orNull(integer()),
  stop: orNull(either(text, emptyList)),
  logit_bias: orNull(object),
  ignore_eos: orNull(flag),
  grammar: orNull(text),
  stream: orNull(flag),
  stream_options: orNull(object),
  user: orNull(text),
}
/** Requests in OpenAI's shape. Fields that are refused whatever their value take none. */
export const chatRequest: Options = {
  ...sampledRequest,
  messages: never,
  max_completion_tokens: orNull((value) => value === -1),
  logprobs: orNull(flag),
  top_logprobs: orNull(never),
  response_format: orNull(never),
  tools: orNull(emptyList),
  tool_choice: orNull(never),
  parallel_tool_calls: orNull(flag),
  reasoning_effort: orNull(text),
  chat_template_kwargs: orNull(object),
  documents: orNull(list),
  add_generation_prompt: orNull(flag),
  continue: orNull(flag),
  metadata: orNull(object),
  store: orNull(flag),
  service_tier: orNull(never),
  verbosity: orNull(never),
  modalities: orNull(emptyList),
  safety_identifier: orNull(text),
  prompt_cache_key: orNull(text),
  prompt_cache_retention: orNull(text),
  prompt_cache_options: orNull(object),
  audio: orNull(never),
  functions: orNull(never),
  function_call: orNull(never),
  moderation: orNull(never),
  prediction: orNull(never),
  web_search_options: orNull(never),
}
export const completionRequest: Options = {
  ...sampledRequest,
  prompt: either(text, emptyList),
  logprobs: orNull(never),
  echo: orNull(flag),
  suffix: orNull(text),
  best_of: orNull(never),
}
export const transcribingStream: Options = {
  language: text,
  task: never,
  words: flag,
  prompt: text,
  carryPrompt: flag,
  conditionOnText: flag,
  singleSegment: flag,
  suppressBlank: flag,
  suppressNonSpeech: flag,
  maxTokens: never,
  maxLength: never,
  splitOnWord: flag,
  temperature: number(0),
  temperatureStep: number(0),
  bestOf: never,
  beamSize: never,
  entropyThreshold: number(),
  logprobThreshold: number(),
  noSpeechThreshold: number(),
  silenceThreshold: number(0, 1),
  audioContext: never,
  maxInitialTimestamp: number(0),
  signal: never,
}
export const transcribing: Options = {
  ...transcribingStream,
  timestamps: flag,
  keepContext: flag,
  offset: number(0, 1e6),
  duration: number(0, 1e6),
  onSegment: callback,
  onProgress: callback,
}

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
