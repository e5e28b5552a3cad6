// node scripts/make-standard-keys.ts: writes wasm/src/edit/standard-keys.ts, the types of keys in core/gguf/keys.inc,
// for TypeScript code that writes keys. The build runs it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const catalogue = readFileSync(join(root, 'core/gguf/keys.inc'), 'utf8')
const rows = [...catalogue.matchAll(/^GGUFSCOPE_KEY\("([^"]+)", k(\w+), k(One|List|Either),/gm)]
if (rows.length !== catalogue.split('\nGGUFSCOPE_KEY(').length - 1)
  throw new Error('core/gguf/keys.inc has rows of another form')
const lines = rows.map(
  ([, pattern, type, form]) => `  ['${pattern}', '${type!.toLowerCase()}', '${form!.toLowerCase()}'],\n`,
)
writeFileSync(
  join(root, 'wasm/src/edit/standard-keys.ts'),
  `// Written by scripts/make-standard-keys.ts from core/gguf/keys.inc.
import type { ValueType } from '../api/metadata.js'

export type ScalarType = Exclude<ValueType, 'array'>

/** either: one value for all blocks, or an array with one for each */
export type KeyForm = 'one' | 'list' | 'either'

export const kStandardKeys: readonly (readonly [pattern: string, type: ScalarType, form: KeyForm])[] = [
${lines.join('')}]
`,
)
