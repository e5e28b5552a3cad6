// The tables of run --profile.
import type { Peaks, ProfiledOperation, Variant } from '../engine/index.js'
import { grouped, table, wrap, type Style } from './format.js'

const kFloats = new Set(['F32', 'F64'])
const kInt16 = new Set(['F16', 'BF16'])

const percent = (share: number) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`

/**
 * Prints two tables, for passes over several tokens (prefill) and over one (decode): time, its share, and bytes and
 * multiplications a second compared with the machine's limits. Memory bandwidth limits decode, arithmetic limits
 * prefill. columns: of the terminal, if they are known.
 */
export function profileLines(
  operations: readonly ProfiledOperation[],
  peaks: Peaks,
  variant: Variant,
  style: Pick<Style, 'bold' | 'dim'>,
  columns = Infinity,
): string[] {
  const { dram, float32, int16, int8 } = peaks
  const lines: string[] = []
  for (const tokens of ['many', 'one'] as const) {
    const own = operations.filter((row) => row.tokens === tokens)
    const all = own.reduce((sum, { ms }) => sum + ms, 0)
    if (all === 0) continue
    const rows = own.map((row) => {
      const rate = (amount: number) => amount / (row.ms / 1e3)
      const product = row.types.every((type) => kFloats.has(type))
        ? float32
        : variant === 'simd' || row.types.every((type) => kInt16.has(type))
          ? int16
          : int8
      const limit = tokens === 'one' ? rate(row.bytes) / dram : rate(row.products) / product
      const shown = (amount: number) => (amount > 0 ? (rate(amount) / 1e9).toFixed(1) : '')
      return [
        row.operation,
        row.types.join(' + '),
        row.shape.map(String).join(' x '),
        grouped(row.calls),
        row.ms.toFixed(1),
        percent(row.ms / all),
        shown(row.bytes),
        shown(row.products),
        row.operation === 'products' ? percent(limit) : '',
      ]
    })
    const head = ['operation', 'types', 'shape', 'calls', 'ms', 'share', 'GB/s', 'GMAC/s', 'of limit']
    const [title, ...rest] = table([head, ...rows], ['<', '<', '<', '>', '>', '>', '>', '>', '>'], columns)
    lines.push(
      '',
      ...wrap(tokens === 'many' ? 'Passes over several tokens:' : 'Passes over one token:', columns),
      style.bold(title!),
      ...rest,
    )
  }
  const giga = (amount: number) => (amount / 1e9).toFixed(0)
  const machine = `This machine: ${giga(dram)} GB/s from memory; GMAC/s of int8 ${giga(int8)}, int16 ${giga(int16)}, float32 ${giga(float32)}`
  return [...lines, '', ...wrap(machine, columns).map(style.dim)]
}
