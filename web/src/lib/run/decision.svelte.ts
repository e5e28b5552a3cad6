// A question for a decision model, as it is entered, and the decision as rows of a chart.
import type { Decision, DecisionQuestion, Model } from 'ggufscope/engine'
import type { Plain } from '../../texts/text'
import { fixed } from '../language/format'
import { t } from '../language/text'
import { partsOf, type Attachment } from './attachments'

export type QuestionType = DecisionQuestion['type']

export interface Option {
  name: string
  description: string
}

/** A level of a score has no name but its number. */
const empty = (): Option => ({ name: '', description: '' })
const filled = ({ name, description }: Option) => `${name}${description}`.trim() !== ''

interface Example {
  readonly type: QuestionType
  readonly question: Plain
  readonly options: readonly (readonly [name: Plain | '', description: Plain | ''])[]
}

/** All are about the same message. */
const kMessage = 'I was charged twice for my order, and nobody has replied for a week.'
export const decisionExamples: readonly Example[] = [
  {
    type: 'choice',
    question: 'Which team should handle this?',
    options: [
      ['billing', 'payments and refunds'],
      ['shipping', ''],
      ['technical', ''],
    ],
  },
  { type: 'noul', question: 'Is a refund requested?', options: [] },
  {
    type: 'score',
    question: 'How urgent is this?',
    options: [
      ['', 'can wait'],
      ['', 'this week'],
      ['', 'today##urgency'],
    ],
  },
]

export interface Row {
  readonly name: string
  readonly description: string
  readonly probability: number
}

export interface Outcome {
  readonly question: string
  /** the answer in words */
  readonly answer: string
  readonly rows: readonly Row[]
  /** 0: all options are equally probable; 1: one is certain; absent for yes or no */
  readonly confidence: number | undefined
  readonly tokens: number
  readonly ms: number
}

/** All that is entered. */
interface DecisionEntry {
  type: QuestionType
  state: string
  question: string
  lists: Record<QuestionType, Option[]>
  attached: Attachment[]
}

/** A stored entry; undefined: it is none, such as a text that was edited by hand. */
export function checkedEntry(stored: unknown): DecisionEntry | undefined {
  const { type, state, question, lists, attached = [] } = (stored ?? {}) as Partial<DecisionEntry>
  const isText = (one: unknown) => typeof one === 'string'
  const isOption = (one: Partial<Option> | null) => isText(one?.name) && isText(one?.description)
  const isList = (one: unknown) => Array.isArray(one) && one.length > 0 && one.every(isOption)
  const isEntry =
    isText(state) &&
    isText(question) &&
    decisionExamples.some((one) => one.type === type) &&
    decisionExamples.every((one) => isList(lists?.[one.type])) &&
    Array.isArray(attached)
  return isEntry ? ({ type, state, question, lists, attached } as DecisionEntry) : undefined
}

export class DecisionForm {
  type = $state<QuestionType>('choice')
  state = $state('')
  question = $state('')
  attached = $state<Attachment[]>([])
  outcome = $state.raw<Outcome>()
  private lists = $state<Record<QuestionType, Option[]>>({
    choice: [empty(), empty()],
    score: [empty(), empty()],
    noul: [empty(), empty()],
  })

  constructor() {
    // The first one is shown; each type has its example's options.
    for (const example of decisionExamples.toReversed()) this.take(example)
  }

  /** of the chosen type; those of the others stay */
  get options(): Option[] {
    return this.lists[this.type]
  }

  take({ type, question, options }: Example) {
    const text = (one: Plain | '') => (one === '' ? '' : t(one))
    this.type = type
    this.state = t(kMessage)
    this.question = t(question)
    if (options.length > 0)
      this.lists[type] = options.map(([name, description]) => ({
        name: text(name),
        description: text(description),
      }))
  }

  entry(): DecisionEntry {
    const { type, state, question, lists, attached } = this
    return { type, state, question, lists: $state.snapshot(lists), attached: $state.snapshot(attached) }
  }

  restore({ type, state, question, lists, attached }: DecisionEntry) {
    Object.assign(this, { type, state, question, lists, attached })
  }

  add() {
    this.options.push(empty())
  }

  remove(at: number) {
    this.options.splice(at, 1)
  }

  /** What keeps the question from being asked; undefined: nothing. */
  get fault(): string | undefined {
    if (!this.question.trim()) return t('Enter a question.')
    if (this.type === 'noul') return undefined
    const given = this.options.filter(filled)
    if (given.length < 2) return t('Enter at least two options.')
    if (this.type === 'score') return undefined
    const names = given.map(({ name }) => name.trim())
    if (names.includes('')) return t('Each option needs a name.')
    const twice = names.find((name, i) => names.indexOf(name) !== i)
    return twice === undefined ? undefined : t('Two options have the name {name}.', { name: twice })
  }

  private asked(): DecisionQuestion {
    const { type, options } = this
    const instructions = this.question.trim()
    const given = options.filter(filled)
    const described = ({ description }: Option) => description.trim() || null
    if (type === 'score')
      return { type, instructions, criteria: given.map(({ description }) => description.trim()) }
    if (type === 'choice')
      return {
        type,
        instructions,
        criteria: Object.fromEntries(given.map((one) => [one.name.trim(), described(one)])),
      }
    const [yes, no] = options.map(described)
    const criteria = { ...(yes && { true: yes }), ...(no && { false: no }) }
    return Object.keys(criteria).length > 0 ? { type, instructions, criteria } : { type, instructions }
  }

  /** Asks the model. Errors: those of decide(). */
  async decide(model: Model, signal: AbortSignal): Promise<Outcome> {
    const asked = this.asked()
    const media = partsOf($state.snapshot(this.attached)) as NonNullable<
      Parameters<Model['decide']>[0]['media']
    >
    let tokens = 0
    const start = performance.now()
    const decision = await model.decide(
      { ...asked, state: this.state, ...(media.length > 0 && { media }) },
      { signal, onDone: (done) => void (tokens = done.tokens) },
    )
    const ms = performance.now() - start
    return (this.outcome = { question: String(asked.instructions), ...rowsOf(asked, decision), tokens, ms })
  }
}

const asText = (description: unknown) => (typeof description === 'string' ? description : '')

function rowsOf(
  asked: DecisionQuestion,
  decision: Decision,
): Pick<Outcome, 'answer' | 'rows' | 'confidence'> {
  if (decision.type === 'noul') {
    const rows = [
      {
        name: t('yes'),
        description: asText((asked.criteria as { true?: unknown } | undefined)?.true),
        probability: decision.noul,
      },
      {
        name: t('no'),
        description: asText((asked.criteria as { false?: unknown } | undefined)?.false),
        probability: 1 - decision.noul,
      },
    ]
    return { answer: decision.noul >= 0.5 ? t('yes') : t('no'), rows, confidence: undefined }
  }
  const entries = Object.entries(decision.probabilities)
  if (decision.type === 'choice') {
    const criteria = asked.criteria as Readonly<Record<string, unknown>>
    const rows = entries.map(([name, probability]) => ({
      name,
      description: asText(criteria[name]),
      probability,
    }))
    return {
      answer: decision.choice,
      rows: rows.toSorted((a, b) => b.probability - a.probability),
      confidence: decision.confidence,
    }
  }
  const rows = entries.map(([name, probability]) => ({
    name,
    description: asText(decision.legend[name]),
    probability,
  }))
  const answer = t('level {score} of 0 to {most}', {
    score: fixed(decision.score, 2),
    most: entries.length - 1,
  })
  return { answer, rows, confidence: decision.confidence }
}
