// Which layers have a sliding window, as in llama.cpp: by the file's pattern, or by the architecture's own.
import type { ModelKeys } from './keys.js'
import { kWindows } from './rules.js'

export interface Windows {
  /** in tokens */
  readonly length: number
  readonly layers: readonly boolean[]
}

/** undefined: every layer attends to the whole context. */
export function windowsOf(keys: ModelKeys, layerCount: number): Windows | undefined {
  const rule = Object.hasOwn(kWindows, keys.architecture) ? kWindows[keys.architecture] : undefined
  if (!rule || (rule.layerCount !== undefined && rule.layerCount !== layerCount)) return undefined
  const declared = keys.number('attention.sliding_window') ?? rule.length ?? 0
  const length = declared > 0 ? (rule.fixed ?? declared) : 0
  if (length === 0) return undefined
  // A single number is a period; an array has a flag for each layer.
  const kPattern = 'attention.sliding_window_pattern'
  const flags = keys.isArray(kPattern) ? keys.layers(kPattern, layerCount) : undefined
  const period = keys.number(kPattern) ?? rule.period ?? 0
  const byPeriod = (i: number) =>
    period === 0 || (rule.fullFirst ? i % period !== 0 : i % period < period - 1)
  const windowed = (i: number) => rule.all === true || (flags ? flags[i] === 1 : byPeriod(i))
  return { length, layers: Array.from({ length: layerCount }, (_, i) => windowed(i)) }
}
