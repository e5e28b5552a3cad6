// Writes what is no word in an English text as words: numbers, dates, times, sums of money, units, signs, abbreviations.

const kSmall =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const kTens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const kUnits = [
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
] as const
const kLongest = 12 // digits; longer numbers are read digit by digit
const kOrdinals: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
}
const kMonths = 'january february march april may june july august september october november december'.split(
  ' ',
)
// By a sign: one, several, one hundredth, several of them.
const kMoney: Readonly<Record<string, readonly [string, string, string, string]>> = {
  $: ['dollar', 'dollars', 'cent', 'cents'],
  '£': ['pound', 'pounds', 'penny', 'pence'],
  '€': ['euro', 'euros', 'cent', 'cents'],
  '¥': ['yen', 'yen', 'sen', 'sen'],
}
const kMeasures: Readonly<Record<string, string>> = {
  km: 'kilometer',
  m: 'meter',
  cm: 'centimeter',
  mm: 'millimeter',
  kg: 'kilogram',
  g: 'gram',
  mg: 'milligram',
  lb: 'pound',
  lbs: 'pound',
  ft: 'foot',
  mph: 'mile per hour',
  'km/h': 'kilometer per hour',
  ms: 'millisecond',
  s: 'second',
  min: 'minute',
  h: 'hour',
  kHz: 'kilohertz',
  MHz: 'megahertz',
  GHz: 'gigahertz',
  kB: 'kilobyte',
  KB: 'kilobyte',
  MB: 'megabyte',
  GB: 'gigabyte',
  TB: 'terabyte',
  '°C': 'degree Celsius',
  '°F': 'degree Fahrenheit',
  '°': 'degree',
}
const kFractions: Readonly<Record<string, string>> = {
  '½': 'one half',
  '⅓': 'one third',
  '⅔': 'two thirds',
  '¼': 'one quarter',
  '¾': 'three quarters',
}
// With a full stop that ends no sentence.
const kAbbreviations: Readonly<Record<string, string>> = {
  'Mr.': 'mister',
  'Mrs.': 'missus',
  'Ms.': 'miz',
  'Dr.': 'doctor',
  'Prof.': 'professor',
  'vs.': 'versus',
  'e.g.': 'for example',
  'i.e.': 'that is',
  'approx.': 'about',
}
const kSigns: Readonly<Record<string, string>> = {
  '%': 'percent',
  '&': 'and',
  '+': 'plus',
  '=': 'equals',
  '@': 'at',
  '×': 'times',
  '÷': 'divided by',
  '−': 'minus',
  '<': 'is less than',
  '>': 'is greater than',
  '≤': 'is at most',
  '≥': 'is at least',
  '≈': 'is about',
  '±': 'plus or minus',
  '²': 'squared',
  '³': 'cubed',
}

const digits = (text: string): string[] => Array.from(text, (digit) => kSmall[Number(digit)]!)

function belowThousand(n: number): string[] {
  const words = n >= 100 ? [kSmall[Math.floor(n / 100)]!, 'hundred'] : []
  const rest = n % 100
  if (rest >= 20) words.push(kTens[Math.floor(rest / 10) - 2]!)
  const last = rest >= 20 ? rest % 10 : rest
  if (last !== 0) words.push(kSmall[last]!)
  return words
}

/** A number of digits, with or without commas between them and decimals, in words. Several points: a version. */
function numberInWords(text: string): string[] {
  const [whole = '', ...decimals] = text.replaceAll(',', '').split('.')
  let n = Number(whole)
  let words: string[] = []
  if (n === 0 || whole.length > kLongest || whole.startsWith('0')) {
    words = digits(/^0+$/.test(whole) && whole.length <= kLongest ? '0' : whole)
  } else {
    for (const [unit, name] of kUnits) {
      if (n >= unit) words.push(...belowThousand(Math.floor(n / unit)), name)
      n %= unit
    }
    words.push(...belowThousand(n))
  }
  return [...words, ...decimals.flatMap((part) => ['point', ...digits(part)])]
}

const number = (text: string): string => numberInWords(text).join(' ')

function ordinal(text: string): string {
  const words = numberInWords(text)
  const last = words.pop()!
  return [...words, kOrdinals[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`)].join(
    ' ',
  )
}

/** A year from 1100 to 2099 by its halves. */
function year(text: string): string {
  const [century, rest] = [text.slice(0, 2), text.slice(2)]
  if (century === '20' && rest.startsWith('0')) return number(text)
  if (rest === '00') return `${number(century)} hundred`
  return `${number(century)} ${rest.startsWith('0') ? `oh ${number(rest.slice(1))}` : number(rest)}`
}

const decade = (text: string): string =>
  year(text)
    .replace(/y$/, 'ies')
    .replace(/(hundred|ten|thousand)$/, '$1s')

function money(sign: string, text: string, scale = ''): string {
  const [one, several, cent, cents] = kMoney[sign]!
  if (scale !== '') return `${number(text)} ${scale} ${several}`
  const [whole = '', part = ''] = text.split('.')
  if (part.length !== 2) return `${number(text)} ${text === '1' ? one : several}`
  const small = part === '00' ? '' : `${number(String(Number(part)))} ${part === '01' ? cent : cents}`
  const large = whole === '0' && small !== '' ? '' : `${number(whole)} ${whole === '1' ? one : several}`
  return [large, small].filter(Boolean).join(' and ')
}

function time(hour: string, minute: string, second = '', half = ''): string {
  const minutes =
    minute === '00' ? 'oh oh' : minute.startsWith('0') ? `oh ${number(minute.slice(1))}` : number(minute)
  const ends =
    second === '' ? '' : ` and ${number(String(Number(second)))} ${second === '01' ? 'second' : 'seconds'}`
  const exact = minute === '00' && second === ''
  return `${number(String(Number(hour)))}${exact ? (half === '' ? " o'clock" : '') : ` ${minutes}`}${ends}${half && ` ${half}`}`
}

/** Several of a measure, which is named by its first word. */
function measures(name: string): string {
  const [first = '', ...rest] = name.split(' ')
  return [first === 'foot' ? 'feet' : first.endsWith('hertz') ? first : `${first}s`, ...rest].join(' ')
}

const alternatives = (keys: Iterable<string>): string =>
  Array.from(keys, (key) => key.replace(/[.$/]/g, '\\$&'))
    .toSorted((a, b) => b.length - a.length)
    .join('|')

// From its first digit: a search that also begins at the others would take time in proportion to the square.
const kNumber = String.raw`(?<!\d|\d,)\d+(?:,\d+)*(?:\.\d+)?(?!\d|\.\d)`
const kCapital = kMonths.map((name) => name[0]!.toUpperCase() + name.slice(1))
const kMonthNames = [...kCapital, ...kCapital.map((name) => `${name.slice(0, 3)}\\.?`), 'Sept\\.?'].join('|')
const monthOf = (name: string): string =>
  kMonths.find((month) => month.startsWith(name.toLowerCase().slice(0, 3)))!
const spaced = (words: string): string => ` ${words} `

type Rule = readonly [RegExp, (...parts: string[]) => string]

// Before signs that stand for others are written as those: "2½" would be "21/2".
const kFirst: readonly Rule[] = [
  [
    /(\d)?([½⅓⅔¼¾])/gu,
    (_, whole, part) =>
      whole ? `${whole} and ${kFractions[part]!.replace('one half', 'a half')}` : spaced(kFractions[part]!),
  ],
  [/[²³]/g, (sign) => spaced(kSigns[sign]!)],
]

// In this order: each reads what those before it left.
const kRules: readonly Rule[] = [
  [
    new RegExp(`(?<![\\p{L}.])(?:${alternatives(Object.keys(kAbbreviations))})(?=[\\s,])`, 'gu'),
    (found) => kAbbreviations[found]!,
  ],
  [/\bSt\.(?=\s+\p{Lu})/gu, () => 'saint'],
  [/(?<=\p{Lu}\.\p{Lu})\.(?=\s+\p{Ll})/gu, () => ''],
  [/\betc\./g, () => 'etcetera.'],
  [/\bNo\.\s?(?=\d)/g, () => 'number '],
  // Letters between full stops are read by their names.
  [/(\d)\s?([apAP])\.?[mM]\b(?:\.(?=\s+\p{Ll}))?/gu, (_, digit, half) => `${digit} ${half.toUpperCase()}.M`],
  [
    /(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?![\d:])(?: ([AP]\.M))?/g,
    (_, ...parts) => spaced(time(parts[0]!, parts[1]!, parts[2], parts[3])),
  ],
  [
    /(?<![\d-])(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])/g,
    (_, y, m, d) => `${kMonths[Number(m) - 1]} ${ordinal(String(Number(d)))}, ${year(y)}`,
  ],
  [
    new RegExp(
      `\\b(${kMonthNames}) (0?[1-9]|[12]\\d|3[01])(?:st|nd|rd|th)?\\b(?![.:]\\d)(?:,? (1[1-9]\\d\\d|20\\d\\d)\\b)?`,
      'g',
    ),
    (_, month, day, y) => `${monthOf(month)} ${ordinal(String(Number(day)))}${y ? `, ${year(y)}` : ''}`,
  ],
  [
    new RegExp(`\\b(${kMonthNames}) (1[1-9]\\d\\d|20\\d\\d)\\b`, 'g'),
    (_, month, y) => `${monthOf(month)} ${year(y)}`,
  ],
  [
    /\b(in|since|from|until|before|after|year|during|around) (1[1-9]\d\d|20\d\d)(?![\d,.%:]*\d|s|\s?%)/gi,
    (_, word, y) => `${word} ${year(y)}`,
  ],
  [/\b(1[1-9]\d0|20\d0)s\b/g, (_, y) => decade(y)],
  [/\b(the|The) ([2-9]0)s\b/g, (_, word, y) => `${word} ${number(y).replace(/y$/, 'ies')}`],
  [
    new RegExp(`([$£€¥])\\s?(${kNumber})(?: (thousand|million|billion|trillion)\\b)?`, 'g'),
    (_, sign, n, scale) => spaced(money(sign, n, scale)),
  ],
  [new RegExp(`(${kNumber})\\s?([£€¥])`, 'g'), (_, n, sign) => spaced(money(sign, n))],
  [/(?<!\d|\d,)(\d+(?:,\d+)*)(?:st|nd|rd|th)\b/g, (_, n) => ordinal(n)],
  [
    new RegExp(`(${kNumber})\\s?(${alternatives(Object.keys(kMeasures))})(?![\\p{L}\\p{N}/])`, 'gu'),
    (_, n, unit) => `${n} ${n === '1' ? kMeasures[unit] : measures(kMeasures[unit]!)}`,
  ],
  [/(?<=\d)\s?x\s?(?=\d)/g, () => ' by '],
  [/(?<=\d)\s?\u2013\s?(?=\d)/g, () => ' to '],
  [/(?<![\p{L}\p{N})])[-\u2212](?=\d)/gu, () => 'minus '],
  [/#(?=\d)/g, () => 'number '],
  [/~(?=\d)/g, () => 'about '],
  [/(?<=[\p{L}\p{N}])\.(?=\p{L}{2})/gu, () => ' dot '],
  [/\d+(?:,\d+)*(?:\.\d+)*/g, (found) => spaced(number(found))],
  [new RegExp(`[${Object.keys(kSigns).join('')}]`, 'gu'), (sign) => spaced(kSigns[sign]!)],
]

/**
 * The text with words for numbers, dates, times, sums of money, units, signs and abbreviations of English. Marks between
 * clauses stay. What it does not know stays, too.
 */
export function inEnglishWords(text: string): string {
  const follow = (read: string, [pattern, say]: Rule) => read.replace(pattern, say)
  return kRules.reduce(follow, kFirst.reduce(follow, text).normalize('NFKC'))
}
