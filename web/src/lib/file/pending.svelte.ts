// The number of changes of the open file. The changes themselves are in edits.svelte.ts, which its panel loads.
import { t } from '../language/text'

class Pending {
  /** number of changes, saved or not */
  count = $state(0)
  private unsaved = false

  private readonly ask = (event: Event) => event.preventDefault()

  /** Sets the state. While there are unsaved changes, the browser asks before it leaves the page. */
  set(count: number, unsaved: boolean) {
    this.count = count
    if (unsaved === this.unsaved) return
    this.unsaved = unsaved
    if (unsaved) window.addEventListener('beforeunload', this.ask)
    else window.removeEventListener('beforeunload', this.ask)
  }

  /** Asks the user before another file replaces one with unsaved changes. */
  mayLeave(): boolean {
    return (
      !this.unsaved ||
      window.confirm(
        t('Changes of this file are not saved. This tab keeps them until it is closed. Leave the file?'),
      )
    )
  }
}

export const pending = new Pending()
