// Scores as probabilities, and these as answers. The formulas of confidence are those of TypeSafe's API.
import { GgufError } from '../api/errors.js'
import type { DecisionModel } from './kinds.js'
import { sortKeys, type Question } from './questions.js'
import type { Decision } from './types.js'

/** Ratings of a rated model's noul question: 0 is certainly no, the last certainly yes. */
export const kRatings = 9

function temperatureOf({ kind, temperatures }: DecisionModel, { type, options }: Question): number {
  const n = options.length
  const bucket = kind.rated
    ? n <= 8
      ? 'small'
      : n <= 26
        ? 'mid'
        : 'large'
    : n <= 2
      ? '2'
      : n <= 5
        ? '3_5'
        : n <= 10
          ? '6_10'
          : '11'
  return temperatures.get(`${type}.${bucket}`) ?? temperatures.get(type) ?? 1
}

function softmax(scores: readonly number[], temperature: number): number[] {
  const max = Math.max(...scores)
  const weights = scores.map((score) => Math.exp((score - max) / temperature))
  const sum = weights.reduce((a, b) => a + b, 0)
  return weights.map((weight) => weight / sum)
}

const choiceConfidence = (p: readonly number[]): number =>
  p.length < 2 ? 1 : Math.max(0, (Math.max(...p) - 1 / p.length) / (1 - 1 / p.length))

/** The mean distance to the most probable level, relative to that of a uniform distribution to its center. */
function scoreConfidence(p: readonly number[]): number {
  const n = p.length
  const mode = p.indexOf(Math.max(...p))
  let distance = 0
  let uniform = 0
  p.forEach((value, i) => {
    distance += value * Math.abs(i - mode)
    uniform += Math.abs(i - (n - 1) / 2) / n
  })
  return Math.max(0, 1 - distance / uniform)
}

const entropyConfidence = (p: readonly number[]): number =>
  p.length < 2
    ? 1
    : 1 + p.reduce((sum, value) => sum + (value > 0 ? value * Math.log(value) : 0), 0) / Math.log(p.length)

/** variants: the scores of each prompt of the question; the second one's are in reverse order. */
export function answerOf(
  model: DecisionModel,
  question: Question,
  variants: readonly (readonly number[])[],
): Decision {
  const { type, options } = question
  const bias = type === 'score' ? model.biases.get(options.length) : undefined
  const p = Array<number>(variants[0]!.length).fill(0)
  variants.forEach((scores, v) => {
    if (scores.some(Number.isNaN))
      throw new GgufError('unsupported', 'The model could not evaluate the decision.')
    const biased = bias ? scores.map((score, i) => score + bias[i]!) : scores
    const part = softmax(biased, temperatureOf(model, question))
    part.forEach((value, i) => (p[v === 0 ? i : p.length - 1 - i]! += value / variants.length))
  })
  const expected = p.reduce((sum, value, i) => sum + i * value, 0)
  if (type === 'noul') {
    const noul = model.kind.rated
      ? expected / (kRatings - 1)
      : p[options.findIndex(({ key }) => key === 'true')]!
    return { type, noul }
  }
  const probabilities = Object.fromEntries(options.map(({ key }, i) => [key, p[i]!]))
  const confidence = model.kind.entropy ? entropyConfidence(p) : undefined
  if (type === 'choice') {
    const choice = options[p.indexOf(Math.max(...p))]!.key
    return { type, choice, probabilities, confidence: confidence ?? choiceConfidence(p) }
  }
  const text = (value: unknown): unknown =>
    model.kind.textLegend && typeof value !== 'string' ? JSON.stringify(sortKeys(value)) : value
  const legend = Object.fromEntries(options.map(({ key, description }) => [key, text(description)]))
  return { type, score: expected, legend, probabilities, confidence: confidence ?? scoreConfidence(p) }
}
