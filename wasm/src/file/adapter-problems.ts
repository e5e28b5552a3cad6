// What no model takes of a LoRA adapter: its scale, and the types of its matrices.
import type { GgufErrorCode } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import { printable } from './opened.js'

export interface AdapterProblem {
  readonly code: GgufErrorCode
  readonly message: string
  /** offset of the adapter's tensor, if the problem is in one */
  readonly offset?: number
}

export const kMaxRank = 2 ** 16
// The largest factor of an adapter's matrices, as in core/model/adapter.cpp.
const kMaxFactor = 1e6

/** adapter.lora.alpha, or 0. */
export const alphaOf = (adapter: GgufFile): number => Number(adapter.metadata.get('adapter.lora.alpha') ?? 0)

/** Returns the problems of an adapter's scale and types, which no model takes. */
export function adapterProblems(adapter: GgufFile): AdapterProblem[] {
  const alpha = alphaOf(adapter)
  const problems: AdapterProblem[] = []
  if (!Number.isFinite(alpha) || Math.abs(alpha) > kMaxFactor * kMaxRank)
    problems.push({
      code: 'out-of-range',
      message: 'adapter.lora.alpha is not a finite number, or too large.',
    })
  const matrices = adapter.tensors.filter(({ name }) => /\.lora_[ab]$/.test(name))
  for (const { name, shape, offset } of alpha === 0 ? [] : matrices.filter(({ name }) => name.endsWith('b')))
    if (Math.abs(alpha / (shape[0] ?? 1)) > kMaxFactor && problems.length === 0)
      problems.push({
        code: 'out-of-range',
        message: `adapter.lora.alpha over the rank of ${printable(name)} is above ${kMaxFactor}.`,
        offset,
      })
  const integers = matrices.filter(({ type }) => /^I\d/.test(type))
  const [first] = integers
  if (first)
    problems.push({
      code: 'bad-value-type',
      message: `Tensor ${printable(first.name)}${integers.length > 1 ? ` and ${integers.length - 1} more are` : ' is'} of type ${first.type}, which no adapter can have.`,
      offset: first.offset,
    })
  return problems
}
