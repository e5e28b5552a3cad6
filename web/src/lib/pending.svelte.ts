// The number of unsaved changes of the open file. The changes themselves are in a module that is loaded with its panel.
const question = 'Changes of this file are not saved. Leave it without them?'

class Pending {
  /** changes, saved or not */
  count = $state(0)
  private unsaved = false

  private readonly ask = (event: Event) => event.preventDefault()

  /** Lets browsers ask before they leave the page, only while there are unsaved changes. */
  set(count: number, unsaved: boolean) {
    this.count = count
    if (unsaved === this.unsaved) return
    this.unsaved = unsaved
    if (unsaved) window.addEventListener('beforeunload', this.ask)
    else window.removeEventListener('beforeunload', this.ask)
  }

  /** Asks before another file replaces one with unsaved changes. */
  mayLeave(): boolean {
    return !this.unsaved || window.confirm(question)
  }
}

export const pending = new Pending()
