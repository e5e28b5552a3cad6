// The rows of the engine's profile (wasm/bindings_engine.cpp), by name.
import type { EngineModule, WasmLoader } from './module.js'
import type { ProfileRow } from './records.js'
import type { ProfiledOperation } from './types.js'

/** Adds a row to that of the same operation. */
export function addRow(rows: Map<string, ProfileRow>, row: ProfileRow): void {
  const { operation, oneToken, typeA, typeB, typeC, columns, rows: count } = row
  const key = [operation, oneToken, typeA, typeB, typeC, columns, count].join()
  const { calls, ms, bytes, products } = rows.get(key) ?? { calls: 0, ms: 0, bytes: 0, products: 0 }
  rows.set(key, {
    ...row,
    calls: calls + row.calls,
    ms: ms + row.ms,
    bytes: bytes + row.bytes,
    products: products + row.products,
  })
}

/**
 * Takes the rows of an engine, and joins them with those of its device. "other" is the time of a pass that no other
 * operation took. Sorted by time, longest first.
 */
export function profileOf(
  engine: WasmLoader,
  ofDevice: readonly ProfileRow[],
  module: EngineModule,
): readonly ProfiledOperation[] {
  const joined = new Map<string, ProfileRow>()
  const count = engine.takeProfile()
  for (let i = 0; i < count; i++) addRow(joined, engine.profileRow(i))
  for (const row of ofDevice) addRow(joined, row)
  const operations = [...joined.values()].map(
    ({ operation, oneToken, typeA, typeB, typeC, columns, rows: count, calls, ms, bytes, products }) => ({
      operation,
      tokens: oneToken ? ('one' as const) : ('many' as const),
      types: [typeA, typeB, typeC].filter((id) => id >= 0).map((id) => module.typeName(id)),
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
