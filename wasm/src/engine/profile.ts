// The rows of the engine's profile (wasm/bindings_engine.cpp), by name.
import type { ProfileRow } from './records.js'
import type { ProfiledOperation } from './types.js'

/** "other" is the time of a pass that no other operation took. Sorted by time, longest first. */
export function profileOf(
  rows: readonly ProfileRow[],
  typeName: (id: number) => string,
): readonly ProfiledOperation[] {
  const operations = rows.map(
    ({ operation, oneToken, typeA, typeB, typeC, columns, rows: count, calls, ms, bytes, products }) => ({
      operation,
      tokens: oneToken ? ('one' as const) : ('many' as const),
      types: [typeA, typeB, typeC].filter((id) => id >= 0).map(typeName),
      shape: count === 0 ? [] : [columns, count],
      calls,
      ms,
      bytes,
      products,
    }),
  )
  const within = (tokens: string) =>
    operations.reduce(
      (sum, { operation, tokens: own, ms }) =>
        own === tokens && operation !== 'other' && operation !== 'sampling' ? sum + ms : sum,
      0,
    )
  return operations
    .map((row) =>
      row.operation === 'other' ? { ...row, ms: Math.max(0, row.ms - within(row.tokens)) } : row,
    )
    .sort((a, b) => (a.tokens === b.tokens ? b.ms - a.ms : a.tokens === 'many' ? -1 : 1))
}
