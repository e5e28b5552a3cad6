// The language of the page: the user's choice, or else the browser's. English texts are in the code, and are the keys of
// the tables in texts/. The table of another language is loaded when it is chosen.
import { languages, type Language, type Translations } from '../../texts/languages'
import { storage } from '../page/storage'

const [english] = languages

/** The first of the preferred languages that there is; English if there is none. */
export function firstKnown(codes: readonly string[]): Language {
  const main = (code: string) => code.toLowerCase().split('-')[0]
  for (const wanted of codes) {
    const found = languages.find(({ code }) => main(code) === main(wanted))
    if (found) return found
  }
  return english
}

/** A language and its texts. */
export class LanguageChoice {
  current = $state.raw<Language>(english)
  texts = $state.raw<Translations>({})
  private wanted: Language = english

  /** Loads the language's texts. Resolves to whether it is the language now: another one may have been applied meanwhile. */
  async apply(language: Language): Promise<boolean> {
    this.wanted = language
    const texts = (await language.load?.())?.default ?? {}
    if (this.wanted !== language) return false
    this.texts = texts
    this.current = language
    return true
  }
}

class PageLanguage {
  private readonly choice = new LanguageChoice()
  /** The choice of an element in somebody else's page, for the component that is drawn now. */
  private ofElement: () => LanguageChoice | undefined = () => undefined

  get current(): Language {
    return (this.ofElement() ?? this.choice).current
  }

  get texts(): Translations {
    return (this.ofElement() ?? this.choice).texts
  }

  /** Makes elements of several languages in one page possible: `find` returns the language of the one that is drawn now. */
  followElements(find: () => LanguageChoice | undefined) {
    this.ofElement = find
  }

  /** Applies the language for the first time. Without its table, e.g. if there is no network, the page is English. */
  async start() {
    const preferred = firstKnown([storage.get('language') ?? '', ...navigator.languages])
    await this.apply(preferred).catch(() => this.apply(english))
  }

  /** Changes the language, and stores the choice. */
  async choose(code: string) {
    await this.apply(languages.find((language) => language.code === code) ?? english)
    storage.set('language', code)
  }

  private async apply(language: Language) {
    if (!(await this.choice.apply(language))) return
    document.documentElement.lang = language.code
    document.documentElement.dir = language.dir ?? 'ltr'
  }
}

export const language = new PageLanguage()
