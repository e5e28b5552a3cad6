// Parses sizes such as 2G and 500M.
import { UsageError } from './command.js'

const kUnits: Readonly<Record<string, number>> = { '': 1, K: 1e3, M: 1e6, G: 1e9, T: 1e12 }

/**
 * Parses "2G", "500M" and "1.5GB" in powers of 1000, like llama.cpp's gguf-split, and "1MiB" in powers of 1024. option: the
 * one that has this value.
 */
export function sizeOf(text: string, option: string): number {
  const match = /^(\d+(?:\.\d+)?)([KMGT]?)(i?)B?$/i.exec(text)
  if (!match || (match[2] === '' && match[3] !== ''))
    throw new UsageError(`--${option}: "${text}" is not a size: 500M, 2G, 1MiB, ...`)
  const unit = kUnits[match[2]!.toUpperCase()]!
  return Math.floor(Number(match[1]) * (match[3] === '' ? unit : 1024 ** Math.round(Math.log10(unit) / 3)))
}
