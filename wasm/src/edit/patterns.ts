// Types that the caller chooses for tensors, by a function or by patterns of names.
import { GgufError } from '../api/errors.js'
import type { TensorPlan } from '../api/edit.js'
import type { RequantizeOptions } from '../api/file.js'

interface Pattern {
  readonly text: string
  readonly expression: RegExp
  /** matches the whole name, so it also applies to tensors that a mixture does not quantize */
  readonly whole: boolean
  readonly type: string
}

function patternOf(text: string, type: string, names: readonly { readonly name: string }[]): Pattern {
  const escaped = text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
  const whole = text.includes('*') || names.some(({ name }) => name === text)
  return {
    text,
    expression: new RegExp(whole ? `^${escaped}$` : escaped, 'i'),
    whole,
    type: type.toUpperCase(),
  }
}

/** Returns a type for a tensor, or undefined. weights: whether mixtures quantize the tensor. */
export function patternsOf(
  types: RequantizeOptions['types'],
  tensors: readonly { readonly name: string }[],
  isType: (name: string) => boolean,
): (tensor: TensorPlan, weights: boolean) => string | undefined {
  if (types === undefined) return () => undefined
  if (typeof types === 'function') return (tensor) => types(tensor)?.toUpperCase()
  const given: [string, string][] =
    types instanceof Map
      ? [...(types as ReadonlyMap<string, string>)]
      : Object.entries(types as Readonly<Record<string, string>>)
  const patterns = given.map(([text, type]) => patternOf(text, type, tensors))
  for (const { text, expression, type } of patterns) {
    if (!isType(type))
      throw new GgufError('invalid-argument', `There is no type ${type}, which ${text} is to get.`)
    if (!tensors.some(({ name }) => expression.test(name)))
      throw new GgufError('invalid-argument', `No tensor's name matches "${text}", which is to get ${type}.`)
  }
  return ({ name }, weights) =>
    patterns.find(({ expression, whole }) => (weights || whole) && expression.test(name))?.type
}
