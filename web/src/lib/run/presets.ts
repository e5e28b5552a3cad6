// The sampling parameters with their meaning, and presets.
import { t } from '../language/text'
import type { Plain } from '../../texts/text'

export interface Sampling {
  temperature: number
  topK: number
  topP: number
  minP: number
  repeatPenalty: number
  maxTokens: number
}

export interface Preset {
  id: string
  title: Plain
  what: Plain
  values: Partial<Sampling>
}

export const presets: readonly Preset[] = [
  {
    id: 'balanced',
    title: 'Balanced',
    what: 'some variety, seldom off the subject',
    values: { temperature: 0.7, topK: 40, topP: 0.95, minP: 0.05, repeatPenalty: 1 },
  },
  {
    id: 'precise',
    title: 'Precise',
    what: 'always the likeliest token: the same answer every time',
    values: { temperature: 0, topK: 40, topP: 1, minP: 0, repeatPenalty: 1 },
  },
  {
    id: 'creative',
    title: 'Creative',
    what: 'more variety, more surprises',
    values: { temperature: 1.1, topK: 100, topP: 0.98, minP: 0.02, repeatPenalty: 1.05 },
  },
]

export interface Parameter {
  id: keyof Sampling
  title: Plain
  what: Plain
  min: number
  max: number
  step: number
}

export const parameters: readonly Parameter[] = [
  {
    id: 'temperature',
    title: 'Temperature',
    what: '0: always the likeliest token',
    min: 0,
    max: 5,
    step: 0.1,
  },
  { id: 'topK', title: 'Top k', what: 'only the k likeliest; 0: all', min: 0, max: 1_000_000, step: 1 },
  {
    id: 'topP',
    title: 'Top p',
    what: 'only the likeliest that make up this share',
    min: 0,
    max: 1,
    step: 0.01,
  },
  {
    id: 'minP',
    title: 'Min p',
    what: 'only those with at least this fraction of the first one’s probability',
    min: 0,
    max: 1,
    step: 0.01,
  },
  {
    id: 'repeatPenalty',
    title: 'Repeat penalty',
    what: 'above 1: fewer repetitions',
    min: 0.1,
    max: 5,
    step: 0.05,
  },
  { id: 'maxTokens', title: 'Longest answer', what: 'in tokens', min: 1, max: 1_000_000, step: 1 },
]

export const standard: Sampling = {
  temperature: 0.7,
  topK: 40,
  topP: 0.95,
  minP: 0.05,
  repeatPenalty: 1,
  maxTokens: 400,
}

/** An error message for invalid values; empty if they are valid. */
export function faultOf(values: Sampling): string {
  const bad = parameters.find(({ id, min, max }) => !(values[id] >= min && values[id] <= max))
  return bad ? t('{title} must be from {min} to {max}.', { ...bad, title: t(bad.title) }) : ''
}
