// A second file that is compared with the open file.
import type { GgufFile, Source } from 'ggufscope'
import { absolute, isOtherScheme, nameOf } from './address'
import { hub } from '../hub/hub.svelte'
import { currentName } from './samples'
import { errorText } from '../language/error-text'
import { t } from '../language/text'

/** Stores the second file's address in the page's address as "with", so that a link restores the comparison. */
function keepInLink(address: string | undefined) {
  const query = new URLSearchParams(location.search)
  if ((query.get('with') ?? undefined) === address) return
  if (address === undefined) query.delete('with')
  else query.set('with', address)
  const text = query.size > 0 ? `?${query}` : ''
  history.replaceState(history.state, '', location.pathname + text + location.hash)
}

class OtherFile {
  file = $state.raw<GgufFile>()
  label = $state('')
  failure = $state('')
  opening = $state(false)

  private control: AbortController | undefined

  openAddress(given: string) {
    const address = currentName(given)
    try {
      if (isOtherScheme(address)) throw new Error(t('A page can read only http and https addresses.'))
      const url = absolute(address)
      void this.start(url, nameOf(address), hub.headersFor(url))
      keepInLink(address)
    } catch (error) {
      this.failure = errorText(error)
    }
  }

  openFiles(files: readonly File[]) {
    if (!files[0]) return
    keepInLink(undefined)
    void this.start(files, files[0].name)
  }

  /** Opens the second file if the page's address contains one. */
  followLink() {
    const address = new URLSearchParams(location.search).get('with')
    if (address) this.openAddress(address)
  }

  close() {
    keepInLink(undefined)
    this.drop()
  }

  /** Closes the second file together with the first. */
  drop() {
    this.control?.abort()
    this.control = undefined
    this.file?.close()
    this.file = undefined
    this.opening = false
    this.failure = ''
  }

  private async start(source: Source | readonly Source[], label: string, headers?: Record<string, string>) {
    this.drop()
    const control = (this.control = new AbortController())
    this.opening = true
    this.label = label
    try {
      const { open } = await import('ggufscope')
      const file = await open(source, { preview: 'auto', headers, signal: control.signal })
      if (this.control === control) this.file = file
      else file.close()
    } catch (error) {
      if (this.control === control) this.failure = errorText(error)
    } finally {
      if (this.control === control) this.opening = false
    }
  }
}

export const other = new OtherFile()
