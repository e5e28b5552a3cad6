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
}

export const languages: readonly [Language, ...Language[]] = [
  { code: 'en', name: 'English' },
  { code: 'de', name: 'Deutsch', load: () => import('./de') },
  { code: 'zh-Hans', name: '简体中文', load: () => import('./zh') },
]
