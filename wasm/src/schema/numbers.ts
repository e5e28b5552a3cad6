// Grammars of numbers with bounds, multiples and excluded values: decimals without an exponent, which an automaton
// reads digit by digit. The number of digits is limited to what a double distinguishes, so that the parsed double is
// within the bounds too.
import { minimized, dfaToRules, type Dfa } from './automaton.js'
import { characters, choice, kNone, text, type Expression, type Range } from './gbnf.js'
import type { Rules } from './rules.js'

/** Number of digits that every double preserves. */
const kExactDigits = 15
const kIntegerDigits = 20
const kMaxStates = 20_000
const kMaxStep = 512
/** limit for multiples of a step above kSmallStep, because each remainder and number of digits is a state */
const kStepDigits = 10
const kSmallStep = 16
const kMaxListed = 10_000

export interface NumberBounds {
  readonly integer: boolean
  readonly fraction: boolean
  readonly low: number
  readonly lowOpen: boolean
  readonly high: number
  readonly highOpen: boolean
  readonly steps: readonly number[]
  readonly notSteps: readonly number[]
  readonly excluded: readonly number[]
}

interface Decimal {
  readonly negative: boolean
  /** without leading zeros, '0' for 0 */
  readonly whole: string
  /** without trailing zeros */
  readonly part: string
}

function decimalOf(value: number): Decimal {
  if (Number.isInteger(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    return { negative: value < 0, whole: String(BigInt(Math.abs(value))), part: '' }
  const [, sign, first, rest = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(
    String(value),
  )!
  let digits = first! + rest
  let point = first!.length + Number(exponent)
  if (point <= 0) {
    digits = '0'.repeat(1 - point) + digits
    point = 1
  }
  const whole = digits
    .slice(0, point)
    .padEnd(point, '0')
    .replace(/^0+(?=.)/, '')
  return { negative: sign === '-', whole, part: digits.slice(point).replace(/0+$/, '') }
}

/** Whether a value is a multiple, exactly and by division of doubles as validators do. Both must agree. */
export function isMultiple(value: number, step: number): boolean {
  if (!Number.isInteger(value / step)) return false
  const [a, b] = [decimalOf(value), decimalOf(step)]
  const places = Math.max(a.part.length, b.part.length)
  const scaled = ({ whole, part }: Decimal) => BigInt(whole + part.padEnd(places, '0'))
  return scaled(a) % scaled(b) === 0n
}

/** Whether division of doubles tests multiples correctly: the step is a dyadic fraction. */
function isDyadic(step: number): boolean {
  return Number.isInteger(step * 2 ** 20)
}

/** Reads a number digit by digit. A state is undefined if no valid number continues from it. */
interface Reader<S> {
  readonly start: S
  step(state: S, char: string): S | undefined
  accepts(state: S): boolean
}

interface Shape {
  readonly negative: boolean
  /** digits so far */
  readonly digits: number
  readonly pointed: boolean
  /** whether a digit must follow, as after the sign or the point */
  readonly open: boolean
  readonly zeroFirst: boolean
  readonly nonzero: boolean
  readonly fraction: boolean
}

/** Reads decimals with a limited number of digits. signed: excludes -0. */
function shapeReader(b: NumberBounds, maxWhole: number, maxDigits: number, signed: boolean): Reader<Shape> {
  const start = {
    negative: false,
    digits: 0,
    pointed: false,
    zeroFirst: false,
    open: true,
    nonzero: false,
    fraction: false,
  }
  return {
    start,
    step(s, char) {
      if (char === '-') return s === start ? { ...start, negative: signed, open: false } : undefined
      if (char === '.')
        return s.pointed || s.digits === 0 || b.integer || s.digits >= maxDigits
          ? undefined
          : { ...s, pointed: true, zeroFirst: false, open: true }
      const nonzero = signed && (s.nonzero || char !== '0')
      if (s.digits >= (s.pointed ? maxDigits : maxWhole)) return undefined
      const digits = s.digits + 1
      if (s.pointed)
        return { ...s, digits, open: false, nonzero, fraction: s.fraction || (b.fraction && char !== '0') }
      return s.zeroFirst
        ? undefined
        : { ...s, digits, zeroFirst: s.digits === 0 && char === '0', open: false, nonzero }
    },
    accepts: (s) =>
      s.digits > 0 && !(s.pointed && s.open) && (s.nonzero || !s.negative) && (s.fraction || !b.fraction),
  }
}

/** The state of a comparison with a bound. order: -1, 0 or 1, comparing the magnitude so far with the bound's. */
interface Order {
  readonly negative: boolean
  readonly digits: number
  readonly place: number // digits after the point; -1 before the point
  readonly order: number
}
function signOf(value: number): number {
  return value === 0 ? 0 : value < 0 ? -1 : 1
}

/** Reads a number and compares it with a bound. */
function orderReader(bound: number, fits: (order: number) => boolean): Reader<Order> {
  const { negative, whole, part } = decimalOf(bound)
  const wholeOrder = (s: Order) => (s.digits === whole.length ? s.order : s.digits - whole.length)
  return {
    start: { negative: false, digits: 0, place: -1, order: 0 },
    step(s, char) {
      if (char === '-') return { ...s, negative: true }
      if (char === '.') return { ...s, place: 0, digits: 0, order: signOf(wholeOrder(s)) }
      const next = (digit: string | undefined) =>
        s.order !== 0 ? s.order : signOf(Number(char) - Number(digit))
      if (s.place >= 0)
        return { ...s, place: Math.min(s.place + 1, part.length), order: next(part[s.place] ?? '0') }
      const order = s.digits < whole.length ? next(whole[s.digits]) : 1
      return { ...s, digits: Math.min(s.digits + 1, whole.length + 1), order }
    },
    accepts(s) {
      let order = s.place >= 0 ? s.order : signOf(wholeOrder(s))
      if (
        order === 0 &&
        s.place < part.length &&
        part !== '' &&
        /[1-9]/.test(part.slice(Math.max(s.place, 0)))
      )
        order = -1
      const sizes = s.negative ? -order : order
      const zero = bound === 0
      if (s.negative !== negative && !zero) return fits(s.negative ? -1 : 1)
      // 0 and -0 are equal, so the sign does not matter for a bound of zero.
      return fits(zero && order !== 0 ? (s.negative ? -1 : 1) : sizes)
    },
  }
}

interface Remainder {
  readonly value: number
  /** number of trailing zeros, up to a limit */
  readonly zeros: number
  readonly place: number
}

/** Reads multiples of a decimal: value times 10^places must be a multiple of step. */
function multipleReader(step: number, wanted: boolean): Reader<Remainder> | undefined {
  const { whole, part } = decimalOf(step)
  const places = part.length
  const scaled = (whole + part).replace(/^0+/, '')
  const tail = /0*$/.exec(scaled)![0].length
  const modulus = Number(scaled.slice(0, scaled.length - tail))
  if (modulus > kMaxStep || places > 12) return undefined
  const read = ({ value, zeros, place }: Remainder, digit: number): Remainder => {
    if (digit !== 0) return { value: (value * 10 ** (zeros + 1) + digit) % modulus, zeros: 0, place }
    return zeros < tail ? { value, zeros: zeros + 1, place } : { value: (value * 10) % modulus, zeros, place }
  }
  return {
    start: { value: 0, zeros: tail, place: -1 },
    step(s, char) {
      if (char === '-') return s
      if (char === '.') return { ...s, place: 0 }
      if (s.place < 0) return read(s, Number(char))
      if (s.place < places) return { ...read(s, Number(char)), place: s.place + 1 }
      return char === '0' ? s : { value: -1, zeros: 0, place: s.place }
    },
    accepts(given) {
      let s = given
      if (s.value < 0) return !wanted
      for (let place = Math.max(s.place, 0); place < places; place++) s = read(s, 0)
      return (s.value === 0 && s.zeros >= tail) === wanted
    },
  }
}

const kChars = [...'0123456789-.']

/** The DFA of the numbers that all readers accept; undefined if it has too many states. */
function product(readers: readonly Reader<object>[]): Dfa | undefined {
  const tuples: (readonly object[] | undefined)[] = [readers.map(({ start }) => start)]
  const ids = new Map<string, number>([[JSON.stringify(tuples[0]), 0]])
  const next: number[][] = []
  for (let at = 0; at < tuples.length; at++) {
    if (tuples.length > kMaxStates) return undefined
    const tuple = tuples[at]
    next.push(
      kChars.map((char) => {
        const to = tuple?.map((state, i) => readers[i]!.step(state, char))
        const whole = to?.every((state) => state !== undefined) ? to : undefined
        const key = JSON.stringify(whole) ?? ''
        let id = ids.get(key)
        if (id === undefined) {
          ids.set(key, (id = tuples.length))
          tuples.push(whole)
        }
        return id
      }),
    )
  }
  const labels = tuples.map((tuple) =>
    tuple?.every((state, i) => readers[i]!.accepts(state)) ? 'number' : '',
  )
  const classes = kChars.map((char): Range[] => [[char.charCodeAt(0), char.charCodeAt(0)]])
  return minimized({ classes, next, labels })
}

/** The next double below or above. */
function beside(value: number, up: boolean): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 === up ? 1n : -1n))
  return view.getFloat64(0)
}

/** Lists the multiples between bounds; undefined if there are too many. */
function listed(b: NumberBounds): number[] | undefined {
  const step = Math.max(...b.steps)
  if (!Number.isFinite(b.low) || !Number.isFinite(b.high)) return undefined
  const [first, last] = [Math.ceil(b.low / step) - 1, Math.floor(b.high / step) + 1]
  if (last - first > kMaxListed) return undefined
  const { whole, part } = decimalOf(step)
  const out: number[] = []
  for (let n = first; n <= last; n++) {
    // Computes n steps exactly: the step's digits times n, with the step's decimal point.
    const digits = String(BigInt(Math.abs(n)) * BigInt(whole + part)).padStart(part.length + 1, '0')
    const at = digits.length - part.length
    const value = Number(`${n < 0 ? '-' : ''}${digits.slice(0, at)}.${digits.slice(at)}0`)
    if (value !== 0 && String(Math.abs(value)).includes('e')) continue
    if (fits(b, value)) out.push(value === 0 ? 0 : value)
  }
  return out
}

function fits(b: NumberBounds, value: number): boolean {
  if (b.integer && !Number.isInteger(value)) return false
  if (b.fraction && Number.isInteger(value)) return false
  if (value < b.low || value > b.high) return false
  if ((b.lowOpen && value === b.low) || (b.highOpen && value === b.high)) return false
  if (b.excluded.includes(value)) return false
  return (
    b.steps.every((step) => isMultiple(value, step)) && !b.notSteps.some((step) => isMultiple(value, step))
  )
}

/** Whether no number at all is within the bounds. */
export function noNumbers(b: NumberBounds): boolean {
  if (b.low > b.high || (b.low === b.high && (b.lowOpen || b.highOpen))) return true
  if (b.low === b.high) return !fits(b, b.low)
  if (b.integer && b.fraction) return true
  if (!b.integer) return b.steps.length > 0 && listed(b)?.length === 0
  const from = b.lowOpen ? Math.floor(b.low) + 1 : Math.ceil(b.low)
  const to = b.highOpen ? Math.ceil(b.high) - 1 : Math.floor(b.high)
  if (from > to) return true
  if (!(to - from <= 1000)) return false
  for (let n = from; n <= to; n++) if (fits(b, n)) return false
  return true
}

/**
 * The grammar of the accepted numbers. undefined: these steps cannot be enforced. kNone: no number within the digit
 * limit is accepted.
 */
export function numberExpression(given: NumberBounds, rules: Rules): Expression | undefined {
  const b = sharpened(given)
  const free = b.low === -Infinity && b.high === Infinity && !b.fraction
  const plain = b.notSteps.length === 0 && b.excluded.length === 0
  if (free && plain && b.steps.length === 0) return rules.use(b.integer ? 'integer' : 'number')
  if (b.low > b.high) return kNone
  const digits = (value: number) => (Number.isFinite(value) ? decimalOf(value).whole.length : 0)
  const longest = Math.max(digits(b.low), digits(b.high))
  const stepped = b.steps.length > 0 || !plain
  const small = [...b.steps, ...b.notSteps].every((step) => step <= kSmallStep && Number.isInteger(step * 4))
  const limit = !small ? kStepDigits : b.integer && !stepped ? kIntegerDigits : kExactDigits
  const exact =
    !stepped || [b.low, b.high].every((x) => !Number.isFinite(x) || Math.abs(x) <= Number.MAX_SAFE_INTEGER)
  const maxWhole = Math.max(limit, exact ? Math.min(longest, 310) : 0)
  const maxDigits = b.integer ? maxWhole : Math.min(limit, kExactDigits)
  const readers: (Reader<object> | undefined)[] = [
    shapeReader(b, maxWhole, maxDigits, b.low > -Infinity || b.high < Infinity),
  ]
  if (b.low > -Infinity) readers.push(orderReader(b.low, (order) => order > 0 || (order === 0 && !b.lowOpen)))
  if (b.high < Infinity)
    readers.push(orderReader(b.high, (order) => order < 0 || (order === 0 && !b.highOpen)))
  for (const value of b.excluded) readers.push(orderReader(value, (order) => order !== 0))
  for (const step of b.steps) readers.push(isDyadic(step) ? multipleReader(step, true) : undefined)
  for (const step of b.notSteps) readers.push(isDyadic(step) ? multipleReader(step, false) : undefined)
  const dfa = readers.includes(undefined) ? undefined : product(readers as Reader<object>[])
  const expression = dfa && dfaToRules(dfa, 'number', rules, 'number', characters)
  if (expression === kNone) return choice(...numbersBetween(b).map((value) => text(String(value))))
  if (expression) return expression
  const values = b.steps.length > 0 ? listed(b) : undefined
  return values && choice(...values.map((value) => text(String(value))))
}

/** Some numbers within narrow bounds, whose decimals have more digits than the limit. */
function numbersBetween(b: NumberBounds): number[] {
  const candidates = [b.low, beside(b.low, true), b.low / 2 + b.high / 2, beside(b.high, false), b.high]
  return [...new Set(candidates)].filter((value) => Number.isFinite(value) && fits(b, value))
}

/** Converts bounds of integers to closed ones. Beyond 2^53, where texts are rounded, the bound itself is excluded. */
function sharpened(b: NumberBounds): NumberBounds {
  const excluded = b.excluded.filter((value) => value >= b.low && value <= b.high)
  if (!b.integer) return { ...b, excluded }
  const safe = (value: number) => Math.abs(value) < Number.MAX_SAFE_INTEGER
  const low = !Number.isFinite(b.low)
    ? b.low
    : !b.lowOpen
      ? Math.ceil(b.low)
      : safe(b.low)
        ? Math.floor(b.low) + 1
        : beside(b.low, true)
  const high = !Number.isFinite(b.high)
    ? b.high
    : !b.highOpen
      ? Math.floor(b.high)
      : safe(b.high)
        ? Math.ceil(b.high) - 1
        : beside(b.high, false)
  return {
    ...b,
    low: low === 0 ? 0 : low,
    high: high === 0 ? 0 : high,
    lowOpen: false,
    highOpen: false,
    excluded,
  }
}
