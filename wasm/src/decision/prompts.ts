// The prompts of decisions: what a model's template "systemone" is given, and where in the prompt the options are.
import { GgufError } from '../api/errors.js'
import type { Tokenizer } from '../api/text.js'
import { renderTemplate } from '../text/render-chat.js'
import type { Label } from './labels.js'
import type { DecisionModel } from './kinds.js'
import { invalid, sortKeys, type Question } from './questions.js'

/** Tokens, and what of them the model reads. */
export interface Prompt {
  readonly tokens: readonly number[]
  /** typed, pointer: the token of each option */
  readonly markers?: readonly number[]
  /** joint, endpoints: the part of each token, a number of core's DecisionPart */
  readonly parts?: readonly number[]
}

const unexpected = (): GgufError =>
  new GgufError(
    'unsupported',
    'The prompt that the model\'s template "systemone" writes has an unexpected layout.',
  )

/** Changes all strings of a JSON value, and the keys of its objects. */
function mapStrings(value: unknown, change: (text: string) => string, keys = false): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change, keys))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [keys ? change(key) : key, mapStrings(item, change, keys)]),
  )
}

const replaceAll = (value: unknown, from: string, to: string): unknown =>
  mapStrings(value, (text) => text.replaceAll(from, to))

/** Names of control tokens, as in <|name|>, become text. */
const escapeControlTokens = (text: string): string =>
  text.replace(/<\|([A-Za-z0-9_]+)\|>/g, '<\u00a6$1\u00a6>')

/** A JSON value as Kev reads it: without braces and quotes, an object as lines "key: value". */
function plainText(value: unknown, indent = 0): string {
  const pad = '  '.repeat(indent)
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value))
    return value.map((item) => `${pad}- ${plainText(item, indent + 1).replace(/^[ \t\n\r]+/, '')}`).join('\n')
  if (typeof value !== 'object') return JSON.stringify(value)
  return Object.entries(value)
    .map(([key, item]) => {
      const nested = typeof item === 'object' && item !== null
      return `${pad}${key}${nested ? ':\n' : ': '}${plainText(item, nested ? indent + 1 : 0)}`
    })
    .join('\n')
}
const kevText = (value: unknown): string => escapeControlTokens(plainText(value))

function optionsOf(
  { kind }: DecisionModel,
  { options }: Question,
  labels: readonly Label[] | undefined,
  reversed: boolean,
): object[] {
  const ordered = reversed ? options.toReversed() : options
  return ordered.map(({ key, description }, i) => ({
    key: kind.reading === 'pointer' ? kevText(key) : key,
    description: kind.reading === 'pointer' && description !== null ? kevText(description) : description,
    ...(labels && { label: labels[i]!.text }),
  }))
}

const render = async (template: string, variables: unknown): Promise<string> =>
  (await renderTemplate(template, variables as Record<string, unknown>)).text

const kOmni = '<<d1omni:'
const kOmniMarks = {
  sep: '<<d1omni:sep>>',
  mark_state: '<<d1omni:state>>',
  mark_question: '<<d1omni:question>>',
  mark_option: '<<d1omni:option>>',
}
const kClef = '<<clef:'
const kClefMarks = { sep: '<<clef:sep>>', mark_question: '<<clef:question>>', mark_option: '<<clef:option>>' }

export interface Asked {
  readonly state: unknown
  /** all questions of the request */
  readonly questions: readonly Question[]
  readonly question: Question
  readonly labels: readonly Label[] | undefined
  readonly reversed: boolean
  readonly media: DecisionMedia
}

/** The tokens of each image and sound. */
export type DecisionMedia = readonly (readonly number[])[]

/** A text of the prompt for each image and sound. Nobody can write it: it is another each time. */
const mediaMark = (): string => `<__media_${crypto.randomUUID()}__>`

/** The tokens of a prompt in which marks stand for images and sounds. */
function tokensWithMedia(text: string, mark: string, media: DecisionMedia, tokenizer: Tokenizer): number[] {
  const texts = text.split(mark)
  if (texts.length !== media.length + 1)
    throw new GgufError(
      'unsupported',
      `The model's template "systemone" leaves out images or audio: it wrote ${texts.length - 1} of ${media.length}.`,
    )
  // llama.cpp adds BOS to prompts with media alone.
  const { addsBos, special } = tokenizer
  const tokens: number[] = addsBos && special.bos !== undefined ? [special.bos] : []
  for (const [i, part] of texts.entries())
    for (const ids of [tokenizer.encode(part, { special: true }), media[i] ?? []])
      for (const id of ids) tokens.push(id)
  return tokens
}

/** The rendered prompt of one question. */
async function renderQuestion(
  model: DecisionModel,
  { state, questions, question, labels, reversed }: Asked,
  marker: string | undefined,
  images: readonly string[] = [],
): Promise<string> {
  const { kind, template } = model
  const { id, type, instructions } = question
  let variables: unknown = {
    id,
    type,
    instructions: kind.reading === 'pointer' ? kevText(instructions) : instructions,
    state: kind.reading === 'pointer' ? kevText(state) : state,
    options: optionsOf(model, question, labels, reversed),
    ...(kind.listsQuestions && {
      questions: questions.map((one) => ({ ...one, options: optionsOf(model, one, labels, false) })),
    }),
  }
  if (kind.sortsKeys) variables = sortKeys(variables)
  if (marker !== undefined) variables = replaceAll(variables, marker, ' ')
  if (model.type !== 'lfm2-d1-omni') return render(template, { ...(variables as object), images })
  const escaped = replaceAll(mapStrings(variables, escapeControlTokens, true), kOmni, '<<d1omni ')
  return render(template, { ...(escaped as object), audio: false, ...kOmniMarks, images: [] })
}

/** [cls] question [sep] ([marker] option)* [sep] state [sep]: question and options are cut as in the model's training. */
function cutTyped(
  { maxHeadTokens }: DecisionModel,
  tokens: readonly number[],
  nOptions: number,
  marker: number,
  sep: number,
): Prompt {
  const found = tokens.flatMap((id, i) => (id === marker ? [i] : []))
  const first = found[0] ?? 0
  if (found.length !== nOptions || first < 2 || tokens[first - 1] !== sep || tokens.at(-1) !== sep)
    throw unexpected()
  const end = tokens.indexOf(sep, found.at(-1))
  if (end < 0 || end + 1 >= tokens.length) throw unexpected()
  const kMaxOption = 48
  let options = found.map((at, i) => tokens.slice(at, found[i + 1] ?? end).slice(0, kMaxOption + 1))
  const count = (): number => options.reduce((sum, option) => sum + option.length, 0)
  if (count() + 16 > maxHeadTokens) {
    const max = Math.max(4, Math.floor(Math.max(0, maxHeadTokens - 16) / nOptions))
    options = options.map((option) => option.slice(0, max))
  }
  const maxQuestion = Math.max(8, maxHeadTokens - Math.min(maxHeadTokens, count()))
  const out = [...tokens.slice(0, Math.min(first - 1, 1 + maxQuestion)), sep]
  const markers = options.map((option) => {
    const at = out.length
    for (const id of option) out.push(id)
    return at
  })
  for (const id of tokens.slice(end)) out.push(id)
  return { tokens: out, markers }
}

/** Each piece is cut to its share, as in the model's training; the state gets what is left. */
function cutOmni(text: string, nOptions: number, tokenizer: Tokenizer, marker: number): Prompt {
  const kMax = 16384
  const [media, ...pieces] = text.split(kOmniMarks.sep)
  if (media !== '') throw unexpected()
  const budget = Math.max(96, Math.min(24 * nOptions + 32, kMax / 2))
  const limits: readonly (readonly [mark: string, max: number])[] = [
    [kOmniMarks.mark_question, Math.max(16, budget)],
    [kOmniMarks.mark_option, Math.max(2, Math.floor((budget - 3 * nOptions) / nOptions))],
  ]
  const head: number[] = []
  const tail: number[] = []
  let state: number[] | undefined
  for (const piece of pieces) {
    if (piece.startsWith(kOmniMarks.mark_state)) {
      if (state) throw unexpected()
      state = tokenizer.encode(piece.slice(kOmniMarks.mark_state.length), { special: true })
      continue
    }
    const [mark = '', max = Infinity] = limits.find(([one]) => piece.startsWith(one)) ?? []
    const tokens = tokenizer.encode(piece.slice(mark.length), { special: true })
    const to = state ? tail : head
    for (const id of tokens.slice(0, max)) to.push(id)
  }
  if (!state) throw unexpected()
  const room = Math.max(0, kMax - head.length - tail.length)
  const tokens = [...head, ...state.slice(0, room), ...tail].slice(0, kMax)
  const markers = tokens.flatMap((id, i) => (id === marker ? [i] : []))
  if (markers.length !== nOptions) throw invalid('the options do not fit in the context')
  return { tokens, markers }
}

/** The pieces of a joint prompt are tokenized one by one; marks at their starts say what they are. */
function partsOf(text: string, questions: readonly Question[], tokenizer: Tokenizer): Prompt {
  const kOption = 4
  const kTypes = { noul: 1, choice: 2, score: 3 }
  const tokens: number[] = []
  const parts: number[] = []
  let nQuestions = 0
  let nOptions = 0
  for (const piece of text.split(kClefMarks.sep)) {
    const { mark_question, mark_option } = kClefMarks
    let part = 0
    let content = piece
    if (piece.startsWith(mark_question)) {
      const question = questions[nQuestions++]
      if (!question) throw unexpected()
      part = kTypes[question.type]
      content = piece.slice(mark_question.length)
    } else if (piece.startsWith(mark_option)) {
      part = kOption
      content = piece.slice(mark_option.length)
      nOptions++
    }
    const ids = tokenizer.encode(content, { special: true })
    if (part !== 0 && ids.length === 0)
      throw invalid('the instructions and the options of a question must not be empty')
    for (const id of ids) {
      tokens.push(id)
      parts.push(part)
    }
  }
  const expected = questions.reduce((sum, { options }) => sum + options.length, 0)
  if (nQuestions !== questions.length || nOptions !== expected) throw unexpected()
  return { tokens, parts }
}

/** The prompt of several questions, for a head that reads their spans. */
export async function jointPrompt(
  { template }: DecisionModel,
  state: unknown,
  questions: readonly Question[],
  tokenizer: Tokenizer,
): Promise<Prompt> {
  const variables = replaceAll(sortKeys({ state, questions }), kClef, '<<clef ')
  const text = await render(template, { ...(variables as object), images: [], ...kClefMarks })
  return partsOf(text, questions, tokenizer)
}

/** A token of the vocabulary that the kind of model needs. */
function needed(id: number | undefined, name: string): number {
  if (id === undefined)
    throw new GgufError('unsupported', `This decision model's vocabulary has no ${name} token.`)
  return id
}

/** The prompt of one question. */
export async function questionPrompt(
  model: DecisionModel,
  asked: Asked,
  tokenizer: Tokenizer,
): Promise<Prompt> {
  const nOptions = asked.question.options.length
  if (model.type === 'laya') {
    const [marker, sep] = [needed(tokenizer.special.mask, 'mask'), needed(tokenizer.special.sep, 'separator')]
    const text = await renderQuestion(model, asked, tokenizer.decode([marker]))
    return cutTyped(model, tokenizer.encode(text, { special: true }), nOptions, marker, sep)
  }
  const { media } = asked
  const mark = mediaMark()
  const images = media.map(() => mark)
  const text = await renderQuestion(model, asked, undefined, images)
  if (media.length > 0) return { tokens: tokensWithMedia(text, mark, media, tokenizer) }
  if (model.type === 'lfm2-d1-omni')
    return cutOmni(text, nOptions, tokenizer, needed(tokenizer.special.mask, 'mask'))
  const tokens = tokenizer.encode(text, { special: true })
  if (model.kind.reading !== 'pointer') return { tokens }
  const marker = needed(tokenizer.find('<|box_end|>'), '<|box_end|>')
  const markers = tokens.flatMap((id, i) => (id === marker ? [i] : []))
  if (markers.length !== nOptions) throw unexpected()
  return { tokens, markers }
}
