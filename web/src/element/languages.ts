// Elements of one page may have different languages. A text is that of the component that is drawn; outside of drawing, e.g. in an
// error that arrives later, that of the element that was used last.
import { createContext } from 'svelte'
import { language, type LanguageChoice } from '../lib/language/language.svelte'

const [ofComponent, setLanguage] = createContext<LanguageChoice>()
let active: LanguageChoice | undefined

language.followElements(() => {
  try {
    return ofComponent()
  } catch {
    return active
  }
})

export { setLanguage }

/** To be called when the user turns to an element. */
export function isActive(choice: LanguageChoice) {
  active = choice
}
