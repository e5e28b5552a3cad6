import { UsageError } from './command.js'

const kUnits: Readonly<Record<string, number>> = { '': 1, K: 1e3, M: 1e6, G: 1e9, T: 1e12 }

/** Parses "2G", "500M" and "1.5GB" to bytes, in powers of 1000 like llama.cpp's gguf-split. */
export function sizeOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?)([KMGT]?)B?$/i.exec(text)
  if (!match) throw new UsageError(`"${text}" is not a size: 500M, 2G, ...`)
  return Math.floor(Number(match[1]) * kUnits[match[2]!.toUpperCase()]!)
}
