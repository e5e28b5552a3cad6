// Decides questions: renders their prompts, computes the options' scores in one pass each, and makes answers of them.
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import { answerOf, kRatings } from './answers.js'
import { decisionModelOf, kMediaTypes, type DecisionModel } from './kinds.js'
import { fixedLabels, maxOptionsOf, questionLabels, type Label } from './labels.js'
import { jointPrompt, questionPrompt, type DecisionMedia, type Prompt } from './prompts.js'
import { checkState, parseQuestions, type Question } from './questions.js'
import type { Decision } from './types.js'

/** What the engine computes for a prompt. */
interface Scorer {
  /** one score for each option of a prompt with parts */
  scores(tokens: readonly number[], parts: readonly number[]): Promise<Float32Array>
  /** the output row of each token */
  rows(tokens: readonly number[]): Promise<Float32Array>
  /** the logits after the last token */
  logits(tokens: readonly number[]): Promise<Float32Array>
}

export interface Decided {
  readonly answers: Readonly<Record<string, Decision>>
  /** that the model read */
  readonly tokens: number
}

// The columns of a typed head's output.
const kColumns = ['choice', 'score', 'noul'] as const

const logitsOf = (logits: Float32Array, labels: readonly Label[]): number[] =>
  labels.map(({ tokens }) => Math.max(...tokens.map((id) => logits[id] ?? -Infinity)))

/** The product of the last row's first half and the second half of each marked row, over the root of their length. */
function pointerScores(rows: Float32Array, { tokens, markers }: Prompt): number[] {
  const length = rows.length / tokens.length
  const half = length / 2
  const query = rows.subarray(rows.length - length, rows.length - half)
  return markers!.map((at) => {
    const key = rows.subarray(at * length + half, (at + 1) * length)
    return query.reduce((sum, value, i) => sum + value * key[i]!, 0) / Math.sqrt(half)
  })
}

async function scoresOf(
  { kind }: DecisionModel,
  question: Question,
  prompt: Prompt,
  labels: readonly Label[] | undefined,
  scorer: Scorer,
): Promise<number[]> {
  const { tokens } = prompt
  switch (kind.reading) {
    case 'labels':
      return logitsOf(await scorer.logits(tokens), labels!)
    case 'typed': {
      const rows = await scorer.rows(tokens)
      const column = kColumns.indexOf(question.type)
      if (rows.length !== kColumns.length * tokens.length)
        throw new GgufError(
          'unsupported',
          'This decision model has no head that scores three types of questions.',
        )
      return prompt.markers!.map((at) => rows[at * kColumns.length + column]!)
    }
    case 'pointer':
      return pointerScores(await scorer.rows(tokens), prompt)
    case 'joint':
    case 'endpoints':
      return [...(await scorer.scores(tokens, prompt.parts!))]
  }
}

/** One question with a prompt of its own, or two that show its options in both orders. */
async function decideOne(
  model: DecisionModel,
  file: GgufFile,
  state: unknown,
  questions: readonly Question[],
  question: Question,
  fixed: readonly Label[] | undefined,
  scorer: Scorer,
  media: DecisionMedia,
): Promise<{ answer: Decision; tokens: number }> {
  const tokenizer = file.tokenizer()
  const { kind } = model
  const labels = kind.labels === 'byQuestion' ? questionLabels(tokenizer, question) : fixed
  const rating = kind.rated === true && question.type === 'noul'
  const twice = kind.rated === true && question.type === 'choice' && question.options.length > 1
  const variants: number[][] = []
  let tokens = 0
  for (const reversed of twice ? [false, true] : [false]) {
    const prompt =
      kind.reading === 'endpoints'
        ? await jointPrompt(model, state, [question], tokenizer)
        : await questionPrompt(model, { state, questions, question, labels, reversed, media }, tokenizer)
    tokens += prompt.tokens.length
    const read = labels?.slice(0, rating ? kRatings : question.options.length)
    variants.push(await scoresOf(model, question, prompt, read, scorer))
  }
  return { answer: answerOf(model, question, variants), tokens }
}

/**
 * Refuses images and audio for a kind of model that cannot read them here. A model with a head of its own would need
 * their states in the head, and llama.cpp's projectors for such models (d1omni_v, d1omni_a) do not run here.
 */
export function checkReadsMedia(file: GgufFile): void {
  const { type, kind } = decisionModelOf(file)
  if (kind.reading === 'labels') return
  throw new GgufError(
    'unsupported',
    `Decision models of the kind ${type} read text alone here. Kinds whose options have labels also read images and audio: ${kMediaTypes.join(', ')}.`,
  )
}

/**
 * Decides all questions. Errors: 'invalid-argument' for questions that are not well-formed, with the messages of
 * llama.cpp's server; 'unsupported' for a file that is no decision model; those of the scorer.
 */
export async function decideQuestions(
  file: GgufFile,
  state: unknown,
  given: unknown,
  scorer: Scorer,
  media: DecisionMedia = [],
): Promise<Decided> {
  const model = decisionModelOf(file)
  if (media.length > 0) checkReadsMedia(file)
  checkState(state, model.kind)
  const tokenizer = file.tokenizer()
  const fixed = fixedLabels(model.kind, tokenizer)
  const questions = parseQuestions(given, model.kind, maxOptionsOf(fixed))
  const answers: [string, Decision][] = []
  let tokens = 0
  if (model.kind.reading === 'joint') {
    const prompt = await jointPrompt(model, state, questions, tokenizer)
    const scores = [...(await scorer.scores(prompt.tokens, prompt.parts!))]
    for (const question of questions)
      answers.push([question.id, answerOf(model, question, [scores.splice(0, question.options.length)])])
    return { answers: Object.fromEntries(answers), tokens: prompt.tokens.length }
  }
  for (const question of questions) {
    const one = await decideOne(model, file, state, questions, question, fixed, scorer, media)
    answers.push([question.id, one.answer])
    tokens += one.tokens
  }
  return { answers: Object.fromEntries(answers), tokens }
}
