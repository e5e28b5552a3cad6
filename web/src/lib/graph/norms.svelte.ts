// The magnitudes of the tensors that were read.
import type { TensorStats } from 'ggufscope'
import { SvelteMap } from 'svelte/reactivity'

export interface Norm {
  /** root mean square */
  rms: number
  outliers: number
}

/** norms by file, because different files have tensors of the same name */
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
