// The other models of the repository from which the open file comes: what it is usually compared with.
import type { HubVariant } from 'ggufscope/hub'
import { hub } from '../hub/hub.svelte'

class Beside {
  models = $state.raw<readonly HubVariant[]>([])
  private address = ''
  private control: AbortController | undefined

  /** Lists the repository of an address, once. */
  look(address: string) {
    if (address === this.address) return
    this.control?.abort()
    this.address = address
    this.models = []
    const { signal } = (this.control = new AbortController())
    hub.modelsAt(address, signal).then(
      (models) => {
        if (!signal.aborted) this.models = models
      },
      () => {}, // Without a listing, an address can still be written.
    )
  }
}

export const beside = new Beside()
