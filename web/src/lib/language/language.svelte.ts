// The language of the page: the user's choice, or else the browser's. English texts are in the code, and are the keys of
// the tables in texts/. The table of another language is loaded when it is chosen.
import { languages, type Language, type Translations } from '../../texts/languages'
import { storage } from '../page/storage'

const [english] = languages

function preferred(): Language {
  for (const wanted of [storage.get('language') ?? '', ...navigator.languages]) {
    const main = (code: string) => code.toLowerCase().split('-')[0]
    const found = languages.find(({ code }) => main(code) === main(wanted))
    if (found) return found
  }
  return english
}

class LanguageChoice {
  current = $state.raw<Language>(english)
  texts = $state.raw<Translations>({})
  private wanted: Language = english

  /** Applies the language for the first time. Without its table, e.g. if there is no network, the page is English. */
  async start() {
    await this.apply(preferred()).catch(() => this.apply(english))
  }

  /** Changes the language, and stores the choice. */
  async choose(code: string) {
    await this.apply(languages.find((language) => language.code === code) ?? english)
    storage.set('language', code)
  }

  private async apply(language: Language) {
    this.wanted = language
    const texts = (await language.load?.())?.default ?? {}
    if (this.wanted !== language) return
    this.texts = texts
    this.current = language
    document.documentElement.lang = language.code
    document.documentElement.dir = language.dir ?? 'ltr'
  }
}

export const language = new LanguageChoice()
