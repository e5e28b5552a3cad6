// The types of decisions: questions with options, and answers with probabilities.
import type { AudioInput } from '../audio/types.js'
import type { ImageInput } from '../media/image-input.js'

/** The kinds of questions; noul: a statement that holds or not. */
export type QuestionType = 'choice' | 'score' | 'noul'

/**
 * Text, or any value that JSON can write: the model reads it as its template says, an object usually as JSON.
 */
export type DecisionText = unknown

/** Which of several options is the best. */
export interface ChoiceQuestion {
  readonly type: 'choice'
  readonly instructions: DecisionText
  /** The options by name, each with a description or null. */
  readonly criteria: Readonly<Record<string, DecisionText>>
}

/** Which of 2 to 10 ordered levels applies, the lowest first. */
export interface ScoreQuestion {
  readonly type: 'score'
  readonly instructions: DecisionText
  /** a description of each level */
  readonly criteria: readonly DecisionText[]
}

/** Whether a statement holds. */
export interface NoulQuestion {
  readonly type: 'noul'
  readonly instructions: DecisionText
  /** when it holds and when not; optional */
  readonly criteria?: { readonly true?: DecisionText; readonly false?: DecisionText } | null | undefined
}

/** What questions are about. */
export interface DecisionState {
  /** Text, chat messages, or any value that JSON can write. */
  readonly state: DecisionText
  /** Images and audio, for a model with a projector whose options have labels, such as lfm2-d1. */
  readonly media?:
    | readonly (
        | { readonly type: 'image'; readonly image: ImageInput }
        | { readonly type: 'audio'; readonly audio: AudioInput }
      )[]
    | undefined
}

export type DecisionQuestion = ChoiceQuestion | ScoreQuestion | NoulQuestion

export interface ChoiceDecision {
  readonly type: 'choice'
  /** the most probable option */
  readonly choice: string
  /** of every option; their sum is 1 */
  readonly probabilities: Readonly<Record<string, number>>
  /** 0: all options are equally probable; 1: one is certain */
  readonly confidence: number
}

export interface ScoreDecision {
  readonly type: 'score'
  /** the expected level: 0 is the lowest */
  readonly score: number
  /** the descriptions of the levels */
  readonly legend: Readonly<Record<string, DecisionText>>
  /** of every level; their sum is 1 */
  readonly probabilities: Readonly<Record<string, number>>
  readonly confidence: number
}

export interface NoulDecision {
  readonly type: 'noul'
  /** the probability that the statement holds */
  readonly noul: number
}

export type Decision = ChoiceDecision | ScoreDecision | NoulDecision

/** The decision for a question. */
export type DecisionOf<Q extends DecisionQuestion> = Extract<Decision, { readonly type: Q['type'] }>

export interface DecideOptions {
  signal?: AbortSignal | undefined
  /** Called when all is decided, with the number of tokens that the model read. */
  onDone?: ((result: { readonly tokens: number }) => void) | undefined
}
