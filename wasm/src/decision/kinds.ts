// How decision models answer, by the names of llama.cpp 0.7.0 ({arch}.decision.type).
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'

/**
 * What of the model's output is the score of an option. typed: a head's score at the token that marks the option.
 * joint, endpoints: a head's score of the option's span; joint reads all questions at once. labels: the logit of the
 * option's label after the prompt. pointer: the product of the states at the option's end and at the prompt's end.
 */
export type Reading = 'typed' | 'joint' | 'endpoints' | 'labels' | 'pointer'

export interface DecisionKind {
  readonly reading: Reading
  /** codes: A to Z, then pairs of letters, as far as they are single tokens; letters: A to Z, a to z; byQuestion: yes, no, digits or codes */
  readonly labels?: 'codes' | 'letters' | 'byQuestion'
  /** the option true comes before false */
  readonly trueFirst?: boolean
  /** options of a choice are in the order of their names */
  readonly sorted?: boolean
  /** the state may be null */
  readonly nullState?: boolean
  /** the instructions may be absent */
  readonly nullInstructions?: boolean
  /** questions are checked as Decision 2.0 does */
  readonly strict?: boolean
  /** confidence is relative to the entropy */
  readonly entropy?: boolean
  /** a level's description in the answer is text: of other values, JSON with sorted keys */
  readonly textLegend?: boolean
  /** the descriptions of noul may be named yes and no */
  readonly yesNo?: boolean
  /** choices are asked a second time with the options in reverse order; noul is read from ratings 0 to 8 */
  readonly rated?: boolean
  /** the prompt lists all questions of a request */
  readonly listsQuestions?: boolean
  /** the template's values have sorted keys */
  readonly sortsKeys?: boolean
}

const kKinds: Readonly<Record<string, DecisionKind>> = {
  clef: { reading: 'joint', trueFirst: true, sorted: true, sortsKeys: true },
  kev: { reading: 'pointer' },
  laya: { reading: 'typed' },
  lev: { reading: 'labels', labels: 'codes', rated: true, sortsKeys: true },
  'lfm2-d1': { reading: 'labels', labels: 'byQuestion', trueFirst: true, nullState: true },
  'lfm2-d1-omni': { reading: 'typed', nullState: true, yesNo: true },
  nimble: { reading: 'labels', labels: 'codes', listsQuestions: true },
  openjev: { reading: 'labels', labels: 'letters', trueFirst: true },
  'pplx-decider': { reading: 'labels', labels: 'codes' },
  'vllm-d3': {
    reading: 'labels',
    labels: 'codes',
    nullState: true,
    nullInstructions: true,
    entropy: true,
    textLegend: true,
  },
  'vllm-decision2': { reading: 'endpoints', strict: true, entropy: true, textLegend: true, sortsKeys: true },
}

/** The names of all kinds. */
const kDecisionTypes: readonly string[] = Object.keys(kKinds)
/** Of them, those that read images and audio, with a projector. */
export const kMediaTypes: readonly string[] = kDecisionTypes.filter(
  (name) => kKinds[name]!.reading === 'labels',
)

/** What a file says of its decisions. */
export interface DecisionModel {
  readonly type: string
  readonly kind: DecisionKind
  readonly template: string
  /** of the options' scores, by the type of the question, or by that and a number of options */
  readonly temperatures: ReadonlyMap<string, number>
  /** added to the scores of the levels of a score question, by their number */
  readonly biases: ReadonlyMap<number, readonly number[]>
  /** laya: most tokens of a question and its options */
  readonly maxHeadTokens: number
}

/** What of a file says how it decides. */
type DecisionFile = Pick<GgufFile, 'metadata' | 'chatTemplates'>

function decisionKeys(file: DecisionFile): [name: string, value: unknown][] {
  const prefix = `${String(file.metadata.get('general.architecture'))}.decision.`
  return [...file.metadata.keys()]
    .filter((key) => key.startsWith(prefix))
    .map((key) => [key.slice(prefix.length), file.metadata.get(key)])
}

function temperaturesOf(keys: readonly [string, unknown][]): Map<string, number> {
  const temperatures = new Map<string, number>()
  for (const [name, value] of keys) {
    if (!name.startsWith('temperature.')) continue
    if (!(Number(value) > 0))
      throw new GgufError(
        'unsupported',
        `This file's key decision.${name} is ${String(value)}: it must be above 0.`,
      )
    temperatures.set(name.slice('temperature.'.length), Number(value))
  }
  return temperatures
}

function biasesOf(keys: readonly [string, unknown][]): Map<number, number[]> {
  const biases = new Map<number, number[]>()
  for (const [name, value] of keys) {
    const [, levels, level] = /^score_bias\.(\d+)\.(\d+)$/.exec(name) ?? []
    if (levels === undefined) continue
    const n = Number(levels)
    if (!Number.isFinite(value) || Number(level) >= n)
      throw new GgufError(
        'unsupported',
        `This file's key decision.${name} is ${String(value)}, which cannot be used.`,
      )
    const list = biases.get(n) ?? Array<number>(n).fill(NaN)
    list[Number(level)] = Number(value)
    biases.set(n, list)
  }
  for (const [n, list] of biases)
    if (list.some(Number.isNaN))
      throw new GgufError('unsupported', `This file's keys decision.score_bias.${n}.* lack a level.`)
  return biases
}

/** Whether a file is a decision model that decide() can use. */
export function isDecisionModel(file: GgufFile): boolean {
  const type = file.metadata.get(`${String(file.metadata.get('general.architecture'))}.decision.type`)
  return typeof type === 'string' && Object.hasOwn(kKinds, type) && file.chatTemplates.has('systemone')
}

/** Error: 'unsupported' for a file that is no decision model, or of a kind that is unknown, or without its template. */
export function decisionModelOf(file: DecisionFile): DecisionModel {
  const keys = decisionKeys(file)
  const type = keys.find(([name]) => name === 'type')?.[1]
  if (typeof type !== 'string') {
    const { metadata } = file
    throw new GgufError(
      'unsupported',
      `This model is not a decision model: it has no key ${String(metadata.get('general.architecture'))}.decision.type.`,
    )
  }
  const kind = Object.hasOwn(kKinds, type) ? kKinds[type] : undefined
  if (!kind)
    throw new GgufError(
      'unsupported',
      `The decision type ${JSON.stringify(type)} is unknown; known: ${kDecisionTypes.join(', ')}.`,
    )
  const template = file.chatTemplates.get('systemone')?.text
  if (template === undefined)
    throw new GgufError('unsupported', 'This decision model has no chat template named "systemone".')
  const maxHeadTokens = Number(keys.find(([name]) => name === 'max_head_tokens')?.[1] ?? 0)
  if (type === 'laya' && !(maxHeadTokens > 0))
    throw new GgufError('unsupported', 'This decision model has no valid key decision.max_head_tokens.')
  return { type, kind, template, temperatures: temperaturesOf(keys), biases: biasesOf(keys), maxHeadTokens }
}
