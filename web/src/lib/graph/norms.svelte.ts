// The magnitudes of the tensors that were read.
import type { GgufFile, TensorInfo, TensorStats } from 'ggufscope'
import { SvelteMap } from 'svelte/reactivity'
import { addFlaw } from '../contents/findings.svelte'

export interface Norm {
  /** root mean square */
  rms: number
  outliers: number
  nans: number
  infinities: number
}

/** norms by file, because different files have tensors of the same name */
const files = new WeakMap<object, SvelteMap<string, Norm>>()

export function normsOf(file: object): SvelteMap<string, Norm> {
  const known = files.get(file) ?? new SvelteMap<string, Norm>()
  files.set(file, known)
  return known
}

/** Remembers the norm of a tensor. Values that are not finite become a finding of the file. */
export function addNorm(file: GgufFile, tensor: TensorInfo, stats: TensorStats) {
  const { mean, standardDeviation, outlierColumns, nans, infinities } = stats
  const rms = Math.hypot(mean, standardDeviation)
  normsOf(file).set(tensor.name, { rms, outliers: outlierColumns.length, nans, infinities })
  if (nans + infinities > 0) addFlaw(file, tensor, nans + infinities)
}
