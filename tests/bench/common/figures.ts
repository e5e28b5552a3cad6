// Statistics and the description of the machine that all benchmarks print.
import { availableParallelism, cpus, loadavg } from 'node:os'

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The processor's name, number of cores and load average. */
export const machine = (): string =>
  `${cpus()[0]?.model.trim() ?? 'processor'}, ${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}`
