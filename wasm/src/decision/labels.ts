// The labels of options: codes whose tokens' logits are the options' scores.
import { GgufError } from '../api/errors.js'
import type { Tokenizer } from '../api/text.js'
import type { DecisionKind } from './kinds.js'
import { invalid, type Question } from './questions.js'

const kMaxOptions = 255
const kUpper = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const kLower = kUpper.map((letter) => letter.toLowerCase())
const kPairs = kUpper.flatMap((a) => kUpper.map((b) => a + b))
const kPool = [
  ...kUpper,
  ...Array.from({ length: 100 }, (_, i) => String(i).padStart(2, '0')),
  ...kLower,
  ...Array.from({ length: 200 }, (_, i) => `#${i}`),
  ...kPairs,
]

/** A label, and the tokens that stand for it; the best of their logits counts. */
export interface Label {
  readonly text: string
  readonly tokens: readonly number[]
}

/** The one token of a text, or undefined. */
function singleToken(tokenizer: Tokenizer, text: string): number | undefined {
  const ids = tokenizer.encode(text)
  return ids.length === 1 ? ids[0] : undefined
}

function codeLabels(tokenizer: Tokenizer): Label[] {
  return [...kUpper, ...kPairs]
    .map((text) => ({ text, token: singleToken(tokenizer, text) }))
    .filter(({ token }) => token !== undefined)
    .slice(0, kMaxOptions)
    .map(({ text, token }) => ({ text, tokens: [token!] }))
}

function letterLabels(tokenizer: Tokenizer): Label[] {
  return [...kUpper, ...kLower].map((text) => {
    const token = singleToken(tokenizer, text)
    if (token === undefined)
      throw new GgufError('unsupported', `The decision label ${text} is not a single token of this model.`)
    return { text, tokens: [token] }
  })
}

/** The labels that a model has for any question; undefined: they depend on the question, or it needs none. */
export function fixedLabels(kind: DecisionKind, tokenizer: Tokenizer): Label[] | undefined {
  if (kind.labels === 'codes') return codeLabels(tokenizer)
  return kind.labels === 'letters' ? letterLabels(tokenizer) : undefined
}

export const maxOptionsOf = (labels: readonly Label[] | undefined): number => labels?.length ?? kMaxOptions

function answerLabels(tokenizer: Tokenizer, question: Question): Label[] {
  return question.options.map(({ key }) => {
    const forms =
      question.type === 'score' ? [key] : key === 'true' ? ['yes', 'Yes', 'YES'] : ['no', 'No', 'NO']
    const tokens = forms.map((form) => singleToken(tokenizer, form)).filter((token) => token !== undefined)
    if (tokens.length === 0)
      throw new GgufError('unsupported', `The decision label of ${key} is not a single token of this model.`)
    return { text: key, tokens: [...new Set(tokens)] }
  })
}

/** LFM2-D1: options named by a letter keep their names, others get letters or numbers. */
export function questionLabels(tokenizer: Tokenizer, question: Question): Label[] {
  if (question.type !== 'choice') return answerLabels(tokenizer, question)
  const { options } = question
  const letters = options.every(({ key }) => /^[A-Za-z]$/.test(key))
  const codes = options.map(({ key }, i) =>
    letters ? key : options.length <= 26 ? kUpper[i]! : String(i).padStart(2, '0'),
  )
  const used = new Set<number>()
  const take = (text: string): Label | undefined => {
    const token = singleToken(tokenizer, text)
    if (token === undefined || used.has(token)) return undefined
    used.add(token)
    const spaced = singleToken(tokenizer, ` ${text}`)
    return { text, tokens: spaced === undefined || spaced === token ? [token] : [token, spaced] }
  }
  return codes.map((code) => {
    let label = take(code)
    for (let i = 0; label === undefined && i < kPool.length; i++) label = take(kPool[i]!)
    if (label === undefined) throw invalid(`no single-token label left for ${options.length} options`)
    return label
  })
}
