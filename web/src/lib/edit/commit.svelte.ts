// A commit of the changes to the file on Hugging Face: first a dry run, then the commit, with progress and a cancel.
import {
  applyChanges,
  commitToHub,
  type CommitProgress,
  type HubClient,
  type HubCommit,
} from 'ggufscope/edit'
import { t } from '../language/text'
import { bytes, percent } from '../language/format'
import type { Edits } from './edits.svelte'

export interface CommitPlace {
  /** the address of the file */
  readonly url: string
  readonly server: string
  readonly branch: string
  /** for this commit only; empty: none */
  readonly token: string
  /** empty: the package's own */
  readonly message: string
  readonly pullRequest: boolean
  /** the new header that is shown; another one is not committed */
  readonly header: Uint8Array
}

export class Committer {
  status = $state('')
  failure = $state.raw<unknown>()
  /** what the dry run found, for the changes, place and branch that it was made for */
  planned = $state.raw<HubCommit>()
  made = $state.raw<HubCommit>()
  control = $state.raw<AbortController>()

  cancel() {
    this.control?.abort()
  }

  /** Forgets the dry run, because something that it was made for is another now. */
  clear() {
    this.planned = this.made = this.failure = undefined
    this.status = ''
  }

  async plan(edits: Edits, place: CommitPlace) {
    this.made = undefined
    this.planned = await this.run(edits, place, undefined)
  }

  /** Returns whether the commit was made. */
  async commit(edits: Edits, place: CommitPlace): Promise<boolean> {
    this.made = await this.run(edits, place, () => import('@huggingface/hub'))
    if (this.made) this.planned = undefined
    return this.made !== undefined
  }

  private async run(edits: Edits, place: CommitPlace, client: (() => Promise<HubClient>) | undefined) {
    const { ordered } = edits
    const control = (this.control = new AbortController())
    this.failure = undefined
    this.status = t('Reading the header')
    try {
      return await commitToHub(
        place.url,
        async (file) => {
          const builder = await file.edit({ allowDamaged: true })
          applyChanges(file, builder, ordered)
          return builder
        },
        {
          server: place.server,
          branch: place.branch.trim(),
          token: place.token.trim() || undefined,
          message: place.message.trim() || undefined,
          pullRequest: place.pullRequest,
          header: place.header,
          signal: control.signal,
          client: await client?.(),
          onProgress: (progress) => {
            this.status = statusOf(progress)
          },
        },
      )
    } catch (error) {
      if (!control.signal.aborted) this.failure = error
      return undefined
    } finally {
      this.status = control.signal.aborted ? t('The commit was cancelled.') : ''
      this.control = undefined
    }
  }
}

function statusOf({ phase, done, total = 0, sent }: CommitProgress): string {
  const share = percent(done, total)
  if (phase === 'header') return t('Reading the header')
  if (phase === 'hashing')
    return t('The hub keeps a SHA-256 of the file: {share} of {size} read.', { share, size: bytes(total) })
  if (phase === 'uploading') return t('Sending: {share}, {sent} until now.', { share, sent: bytes(sent) })
  return t('Committing...')
}
