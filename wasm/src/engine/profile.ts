// The rows of the engine's profile (wasm/bindings_engine.cpp), by name.
import type { OperationName, ProfiledOperation } from './types.js'

// In the order of the engine's Operation, which begins with the pass itself.
const kOperations: readonly OperationName[] = [
  'other',
  'products',
  'activations',
  'attention',
  'norm',
  'positions',
  'cache',
  'gate',
  'add',
  'recurrence',
  'sampling',
]
const kNumbers = 11

/** Of a pass's time, other is what no other operation took. The longest first. */
export function profileOf(
  numbers: Float64Array,
  typeName: (id: number) => string,
): readonly ProfiledOperation[] {
  const operations: ProfiledOperation[] = []
  for (let at = 0; at < numbers.length; at += kNumbers) {
    const [operation, one, ...rest] = numbers.subarray(at, at + kNumbers)
    const [columns, rows, calls, ms, bytes, products] = rest.slice(3)
    operations.push({
      operation: kOperations[operation!]!,
      tokens: one === 1 ? 'one' : 'many',
      types: rest.slice(0, 3).flatMap((id) => (id < 0 ? [] : [typeName(id)])),
      shape: rows === 0 ? [] : [columns!, rows!],
      calls: calls!,
      ms: ms!,
      bytes: bytes!,
      products: products!,
    })
  }
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
