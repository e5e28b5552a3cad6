// How large the values of tensors are, of those that were read.
import type { TensorStats } from 'ggufscope'
import { SvelteMap } from 'svelte/reactivity'

export interface Norm {
  /** root mean square */
  rms: number
  outliers: number
}

/** By file, because names repeat. */
const files = new WeakMap<object, SvelteMap<string, Norm>>()

export function normsOf(file: object): SvelteMap<string, Norm> {
  const known = files.get(file) ?? new SvelteMap<string, Norm>()
  files.set(file, known)
  return known
}

export function addNorm(
  file: object,
  name: string,
  { mean, standardDeviation, outlierColumns }: TensorStats,
) {
  normsOf(file).set(name, { rms: Math.hypot(mean, standardDeviation), outliers: outlierColumns.length })
}
