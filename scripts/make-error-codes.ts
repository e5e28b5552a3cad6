// node scripts/make-error-codes.ts: writes wasm/src/api/core-errors.ts, the type of the codes in
// core/base/error_codes.inc. The build runs it.
import { rowsOf, writeSource } from './core-tables.ts'

const rows = rowsOf('core/base/error_codes.inc', /^GGUFSCOPE_ERROR\(\w+, "([\w-]+)"\)(?:  \/\/ (.+))?$/gm)

writeSource(
  import.meta.filename,
  'wasm/src/api/core-errors.ts',
  'core/base/error_codes.inc',
  `/** Codes of errors in a file, a model or an argument, as the core finds them. */
export type CoreErrorCode =
${rows.map(([name, comment]) => `${comment ? `  /** ${comment} */\n` : ''}  | '${name}'`).join('\n')}
`,
)
