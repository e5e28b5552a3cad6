// Ranges of numbers as GBNF, digit by digit.
import { choice, literal, repeat } from './gbnf.js'

const kDigits = 15 // of a number without a bound

/** All texts of digits between two of the same length. */
function between(low: string, high: string): string {
  if (low === high) return literal(low)
  let common = 0
  while (low[common] === high[common]) common++
  const [a, b] = [Number(low[common]), Number(high[common])]
  const [lowRest, highRest] = [low.slice(common + 1), high.slice(common + 1)]
  const n = lowRest.length
  const alternatives: string[] = []
  const all = repeat('[0-9]', n, n)
  const digit = (from: number, to: number) => (from === to ? literal(String(from)) : `[${from}-${to}]`)
  const low0 = /^0*$/.test(lowRest)
  const high9 = /^9*$/.test(highRest)
  if (!low0) alternatives.push(`${literal(String(a))} ${between(lowRest, '9'.repeat(n))}`)
  const [first, last] = [low0 ? a : a + 1, high9 ? b : b - 1]
  if (first <= last) alternatives.push(`${digit(first, last)} ${all}`)
  if (!high9) alternatives.push(`${literal(String(b))} ${between('0'.repeat(n), highRest)}`)
  const body = choice(alternatives)
  return common > 0 ? `${literal(low.slice(0, common))} ${body}` : body
}

/** Integers from low to high, 0 <= low <= high; high may be Infinity. */
function naturals(low: number, high: number): string {
  const alternatives: string[] = []
  const most = high === Infinity ? '9'.repeat(Math.max(kDigits, String(low).length)) : String(high)
  for (let n = String(low).length; n <= most.length; n++) {
    const from = n === String(low).length ? String(low) : `1${'0'.repeat(n - 1)}`
    const to = n === most.length ? most : '9'.repeat(n)
    alternatives.push(between(from, to))
  }
  return choice(alternatives)
}

export function integerRange(low: number, high: number): string {
  const alternatives: string[] = []
  if (high >= 0) alternatives.push(naturals(Math.max(low, 0), high))
  if (low < 0) alternatives.push(`"-" ${naturals(Math.max(-high, 1), -low)}`)
  return choice(alternatives)
}

/** Numbers without a sign between two natural ones, written without an exponent. */
function unsigned(low: number, high: number, openLow: boolean, openHigh: boolean): string[] {
  const fraction = '("." [0-9]{1,16})?'
  const alternatives: string[] = []
  const first = openLow ? low + 1 : low
  const last = high === Infinity ? Infinity : high - 1
  if (first <= last) alternatives.push(`${naturals(first, last)} ${fraction}`)
  if (openLow && low < high) alternatives.push(`${literal(String(low))} "." [0-9]{0,15} [1-9]`)
  if (!openHigh && high < Infinity) alternatives.push(`${literal(String(high))} ("." "0"{1,16})?`)
  return alternatives
}

/** Numbers between two integers or infinities. */
export function numberRange(low: number, high: number, openLow: boolean, openHigh: boolean): string {
  const alternatives: string[] = []
  if (high >= 0) alternatives.push(...unsigned(Math.max(low, 0), high, openLow && low >= 0, openHigh))
  if (low < 0) {
    const negative = unsigned(Math.max(-high, 0), -low, openHigh && high <= 0, openLow)
    alternatives.push(`"-" (${negative.join(' | ')})`)
  }
  return choice(alternatives)
}
