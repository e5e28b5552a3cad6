// Keeps what is entered for a decision model, as a conversation's draft is kept: the text at once for this tab, and a little later
// all of it in this browser's database.
import { tabStorage } from '../page/storage'
import { saveForm, storedForm } from './conversation-store'
import { checkedEntry, type DecisionForm } from './decision.svelte'

const saveAfterMs = 300

export class DecisionDraft {
  private readonly id: string
  /** resolves when what the database has is shown */
  private readonly ready: Promise<void>
  private kept: { text: string; pictures: string }
  private timer: ReturnType<typeof setTimeout> | undefined

  /** `place`: the file, as for conversations. `form`: with its examples. */
  constructor(
    place: string,
    private readonly form: DecisionForm,
  ) {
    this.id = `decision.${place}`
    this.kept = this.shown()
    const tab = checkedEntry(tabStorage.record(this.id))
    if (tab) form.restore(tab)
    // Without a database, the text is kept for this tab alone.
    this.ready = this.read(tab !== undefined).catch(() => {})
  }

  /** To be called in an effect. */
  keep() {
    const now = this.shown()
    const { text, pictures } = this.kept
    if (now.text === text && now.pictures === pictures) return
    this.kept = now
    tabStorage.set(this.id, now.text)
    clearTimeout(this.timer)
    // A picture is not in the tab's own storage, which is small.
    this.timer = setTimeout(() => void this.flush(), now.pictures === pictures ? saveAfterMs : 0)
  }

  close() {
    if (this.timer !== undefined) void this.flush()
  }

  private async flush() {
    clearTimeout(this.timer)
    this.timer = undefined
    await this.ready
    await saveForm({ id: this.id, ...this.form.entry() }).catch(() => {})
  }

  private shown() {
    const { attached, ...rest } = this.form.entry()
    return {
      text: JSON.stringify(rest),
      pictures: attached.map(({ name, data }) => name + data.length).join(),
    }
  }

  /** Shows what the database has, unless the user was faster. */
  private async read(hasText: boolean) {
    const before = this.shown()
    const stored = checkedEntry(await storedForm(this.id))
    if (!stored) return
    const now = this.shown()
    const isSame = now.text === before.text && now.pictures === before.pictures
    if (!hasText && isSame) this.form.restore(stored)
    else if (now.pictures === '') this.form.attached = stored.attached
  }
}
