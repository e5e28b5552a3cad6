// How many other tabs of the viewer use the same shared model. Each tab holds a lock of the model's name while it uses it.
const changesName = 'viewer-shared-models'
/** A tab that closes or crashes sends no message: while there are others, they are counted so often. */
const countMs = 2000

export class SharedTabs {
  /** other tabs that use the model of this one */
  others = $state(0)
  private name: string | undefined
  private leaving: (() => void) | undefined
  private channel: BroadcastChannel | undefined
  private timer: ReturnType<typeof setTimeout> | undefined

  /** This tab uses the model with these addresses and options now. */
  async enter(parts: readonly unknown[]) {
    this.leave()
    const name = (this.name = `viewer-shared ${JSON.stringify(parts)}`)
    this.channel = new BroadcastChannel(changesName)
    this.channel.onmessage = () => void this.count()
    await new Promise<void>((held) => {
      void navigator.locks.request(name, { mode: 'shared' }, () => {
        held()
        return new Promise<void>((leave) => (this.leaving = leave))
      })
    })
    this.channel?.postMessage('changed')
    await this.count()
  }

  private async count() {
    const { name } = this
    clearTimeout(this.timer)
    const { held = [] } = await navigator.locks.query()
    if (name === undefined || name !== this.name) return
    this.others = Math.max(0, held.filter((lock) => lock.name === name).length - 1)
    clearTimeout(this.timer)
    if (this.others > 0) this.timer = setTimeout(() => void this.count(), countMs)
  }

  leave() {
    const { channel } = this
    clearTimeout(this.timer)
    this.leaving?.()
    this.leaving = this.name = this.channel = undefined
    this.others = 0
    // The lock is free in a later task.
    setTimeout(() => {
      channel?.postMessage('changed')
      channel?.close()
    })
  }
}
