// node scripts/make-memory-rules.ts: writes wasm/src/memory/rules.ts, what the estimate of memory needs of the
// architectures' rows in core/model. The build runs it.
import { architectureRows, runnableArchitectures } from './compare-architectures.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeSource } from './core-tables.ts'

const rows = architectureRows()
const names = (part: string): string =>
  JSON.stringify(rows.filter(({ text }) => text.includes(part)).map(({ name }) => name))

/** The fields of WindowRule that matter for sizes, as in C++: ".period = 4, .full_first = true". */
const kFields: Readonly<Record<string, string>> = {
  period: 'period',
  full_first: 'fullFirst',
  all: 'all',
  length: 'length',
  fixed: 'fixed',
  n_layer: 'layerCount',
}
const windows = rows.flatMap(({ name, text }) => {
  const [, rule] = /\.window = \{([^}]*)\}/.exec(text) ?? []
  if (rule === undefined) return []
  const fields = [...rule.matchAll(/\.(\w+) = (\w+)/g)].flatMap(([, key, value]) => {
    const field = kFields[key!]
    return field === undefined ? [] : [`${field}: ${value}`]
  })
  return [`  '${name}': { ${fields.join(', ')} },`]
})

// llama.cpp also has a cache for this body of a decision model, which never reads it again.
const cached = [...(JSON.parse(names('.cached = true')) as string[]), 'vllm-decision2']
const [, defaultContext] =
  /\bkDefaultContext = (\d+);/.exec(
    readFileSync(join(import.meta.dirname, '../core/model/state.hpp'), 'utf8'),
  ) ?? []
const { runs, refused } = runnableArchitectures()
const known = [...runs, ...refused.keys(), 'whisper'].toSorted()

writeSource(
  import.meta.filename,
  'wasm/src/memory/rules.ts',
  'core/model/architectures and core/model/state.hpp',
  `
export interface WindowRule {
  /** layer i has a window if i % period < period - 1; with fullFirst if i % period != 0 */
  readonly period?: number
  readonly fullFirst?: boolean
  /** every layer has one */
  readonly all?: boolean
  /** default if the file has none */
  readonly length?: number
  /** overrides the file's, unless that is 0 */
  readonly fixed?: number
  /** only models with this number of layers have windows */
  readonly layerCount?: number
}

/** Other architectures have no windows in llama.cpp, even if their files state one (phi3, mistral). */
export const kWindows: Readonly<Record<string, WindowRule>> = {
${windows.join('\n')}
}

/** The context of a model that does not say for which one it was trained. */
export const kDefaultContext = ${defaultContext}

/** All architectures of language models that are known, those that cannot run here among them. */
export const kArchitectures: ReadonlySet<string> = new Set(${JSON.stringify(known)})

/** Architectures whose output is an embedding for each token. */
export const kEncoders: ReadonlySet<string> = new Set(${names('.encoder = true')})

/** Encoders for which llama.cpp allocates a cache all the same. */
export const kCachedEncoders: ReadonlySet<string> = new Set(${JSON.stringify(cached)})

/** Architectures that predict every token of a text from the whole text, without a cache. */
export const kDiffusion: ReadonlySet<string> = new Set(${names('.causal = false')})
`,
)
