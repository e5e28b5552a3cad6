// The languages of the viewer. Each is one row here, and one folder with its texts.

export type Translations = Readonly<Partial<Record<string, string>>>

export interface Language {
  /** a BCP 47 tag */
  readonly code: string
  /** in the language itself */
  readonly name: string
  /** the direction of its script; absent: left to right */
  readonly dir?: 'rtl'
  /** absent: the texts in the code */
  readonly load?: () => Promise<{ default: Translations }>
  /** what the package says of files: findings, meanings of keys; loaded when it is shown */
  readonly loadSaid?: () => Promise<{ default: Translations }>
  /** all that the package says, its errors included; loaded when an error is shown */
  readonly loadErrors?: () => Promise<{ default: Translations }>
  /** which form of a plural, by its index, stands with a number */
  readonly form: (n: number) => number
  /** what separates groups of three digits */
  readonly group: string
  /** what precedes the decimals */
  readonly decimal: string
  /** quotation marks, and what is between parts of a sentence; absent: those of English */
  readonly marks?: Readonly<Record<'open' | 'close' | 'semicolon', string>>
  /** what stands between a sentence and a link after it; absent: a blank */
  readonly gap?: string
  /** words for powers of ten, descending, each as it follows the number 1 and any other number */
  readonly powers: readonly (readonly [power: number, one: string, other: string])[]
  /** whether these words are short enough for tables, in place of K, M, B and T */
  readonly shortPowers?: boolean
}

const oneOrMore = (n: number) => (n === 1 ? 0 : 1)

export const languages: readonly [Language, ...Language[]] = [
  {
    code: 'en',
    name: 'English',
    form: oneOrMore,
    group: ',',
    decimal: '.',
    powers: [
      [1e12, ' trillion', ' trillion'],
      [1e9, ' billion', ' billion'],
      [1e6, ' million', ' million'],
      [1e3, ' thousand', ' thousand'],
    ],
  },
  {
    code: 'de',
    name: 'Deutsch',
    load: () => import('./de/index.ts'),
    loadSaid: () => import('./package/de.ts'),
    loadErrors: () => import('./package/de-errors.ts'),
    form: oneOrMore,
    group: '.',
    decimal: ',',
    marks: { open: '„', close: '“', semicolon: '; ' },
    powers: [
      [1e12, ' Billion', ' Billionen'],
      [1e9, ' Milliarde', ' Milliarden'],
      [1e6, ' Million', ' Millionen'],
      [1e3, ' Tausend', ' Tausend'],
    ],
  },
  {
    code: 'zh-Hans',
    name: '简体中文',
    load: () => import('./zh/index.ts'),
    loadSaid: () => import('./package/zh.ts'),
    loadErrors: () => import('./package/zh-errors.ts'),
    form: () => 0,
    group: ',',
    decimal: '.',
    marks: { open: '“', close: '”', semicolon: '；' },
    gap: '',
    shortPowers: true,
    powers: [
      [1e12, '万亿', '万亿'],
      [1e8, '亿', '亿'],
      [1e4, '万', '万'],
    ],
  },
]
