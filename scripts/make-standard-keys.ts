// node scripts/make-standard-keys.ts: writes wasm/src/edit/standard-keys.ts, the types of keys in core/gguf/keys.inc,
// for TypeScript code that writes keys. The build runs it.
import { rowsOf, writeSource } from './core-tables.ts'

const kTable = 'core/gguf/keys.inc'
const rows = rowsOf(kTable, /^GGUFSCOPE_KEY\("([^"]+)", k(\w+), k(One|List|Either),/gm)
const lines = rows.map(
  ([pattern, type, form]) => `  ['${pattern}', '${type!.toLowerCase()}', '${form!.toLowerCase()}'],\n`,
)
writeSource(
  import.meta.filename,
  'wasm/src/edit/standard-keys.ts',
  kTable,
  `import type { ValueType } from '../api/metadata.js'

export type ScalarType = Exclude<ValueType, 'array'>

/** either: one value for all blocks, or an array with one for each */
export type KeyForm = 'one' | 'list' | 'either'

export const kStandardKeys: readonly (readonly [pattern: string, type: ScalarType, form: KeyForm])[] = [
${lines.join('')}]
`,
)
