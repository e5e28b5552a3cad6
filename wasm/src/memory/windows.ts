// Which layers have a sliding window, as in llama.cpp: by the file's pattern, or by the architecture's own.

interface Rule {
  /** layer i has a window if i % period < period - 1; with fullFirst if i % period != 0 */
  readonly period: number
  readonly fullFirst?: boolean
  /** default if the file has none */
  readonly length?: number
  /** overrides the file, unless the file says 0 */
  readonly fixed?: number
}

// Other architectures have no windows in llama.cpp, even if their files state one (phi3, mistral).
const kRules: Readonly<Record<string, Rule>> = {
  afmoe: { period: 4 },
  cohere2: { period: 4 },
  cohere2moe: { period: 4, fullFirst: true },
  deepseek4: { period: 0 },
  dots3note: { period: 0 },
  exaone4: { period: 4, fixed: 4096 },
  'exaone-moe': { period: 4, length: 128 },
  gemma2: { period: 2, length: 4096 },
  gemma3: { period: 6 },
  gemma3n: { period: 5 },
  gemma4: { period: 6 },
  'gpt-oss': { period: 2 },
  granite_swa: { period: 4 },
  laguna: { period: 4, fullFirst: true },
  lfm2: { period: 0 },
  lfm2moe: { period: 0 },
  llama4: { period: 4, length: 8192, fixed: 8192 },
  mellum: { period: 4 },
  mimo2: { period: 1 },
  'muse-glimmer': { period: 4 },
  olmo2: { period: 4 },
  plamo3: { period: 8 },
  smallthinker: { period: 4, fullFirst: true, fixed: 4096 },
  step35: { period: 1 },
}

export interface Windows {
  /** in tokens */
  readonly length: number
  readonly layers: readonly boolean[]
}

/** undefined: every layer attends to the whole context. */
export function windowsOf(
  architecture: string,
  layerCount: number,
  given: number | undefined,
  pattern: { readonly number: number | undefined; readonly layers: readonly number[] | undefined },
): Windows | undefined {
  const rule = Object.hasOwn(kRules, architecture) ? kRules[architecture] : undefined
  // Only the largest EXAONE 4 model has windows.
  if (!rule || (architecture === 'exaone4' && layerCount !== 64)) return undefined
  const declared = given ?? rule.length ?? 0
  const length = declared > 0 ? (rule.fixed ?? declared) : 0
  if (length === 0) return undefined
  const period = pattern.number ?? rule.period
  const byPeriod = (i: number) =>
    period === 0 || (rule.fullFirst ? i % period !== 0 : i % period < period - 1)
  return {
    length,
    layers: Array.from({ length: layerCount }, (_, i) =>
      pattern.layers ? pattern.layers[i] === 1 : byPeriod(i),
    ),
  }
}
