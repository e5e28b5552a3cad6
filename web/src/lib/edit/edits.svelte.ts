// The user's changes to the open file. They are stored as data (Change) and applied to a new builder when needed.
import { open, type ByteSource, type GgufFile } from 'ggufscope'
import {
  applyChanges,
  formatChanges,
  parseChanges,
  type Change,
  type NewToken,
  type WrittenFile,
} from 'ggufscope/edit'
import type { Opened } from '../file/opened'
import { pending } from '../file/pending.svelte'
import { errorText } from '../language/error-text'
import { t } from '../language/text'
import { tabStorage } from '../page/storage'

const refreshMs = 250
const closeMs = 5000

/** Identifies what a change modifies. A new change replaces an earlier one of the same subject. */
function slotOf(change: Change): string {
  if ('tokens' in change) return change.change
  if ('name' in change) return `tensor ${change.change} ${change.name}`
  const kind = change.change === 'entries' ? 'set' : change.change
  return `key ${kind} ${change.key}`
}

/** A source of the file as it would be written. Its bytes are computed when they are read. */
function sourceOf(written: WrittenFile): ByteSource {
  return {
    size: written.size,
    async read(offset, length, options) {
      const bytes = new Uint8Array(length)
      for (const part of written.parts) {
        const from = Math.max(offset, part.to)
        const to = Math.min(offset + length, part.to + part.length)
        if (from >= to || part.kind === 'zeros') continue
        if (part.kind === 'computed')
          throw new Error(t('Tensor {name} is computed when the file is saved.', { name: part.tensor }))
        const chunk =
          part.kind === 'bytes'
            ? part.bytes.subarray(from - part.to, to - part.to)
            : await part.source.read(part.from + from - part.to, to - from, options)
        bytes.set(chunk, from - offset)
      }
      return bytes
    },
  }
}

export class Edits {
  readonly file: GgufFile
  /** in the order in which they were made */
  changes = $state.raw<readonly Change[]>([])
  /** the file with its changes; undefined without any */
  edited = $state.raw<GgufFile>()
  /** why the changes conflict */
  failure = $state('')
  /** whether the changes are those that this tab kept when the file was left */
  restored = $state(false)
  private saved = $state.raw<readonly Change[]>(this.changes)
  /** the changes after each step, the first before any; those after `at` were taken back */
  private steps = $state.raw<readonly (readonly Change[])[]>([this.changes])
  private at = $state(0)
  /** what the last step changes, while it goes on: a text that is typed is one step */
  private slot = ''
  private timer: ReturnType<typeof setTimeout> | undefined
  private queue: Promise<unknown> = Promise.resolve()

  /** `id`: under which this tab keeps the changes */
  constructor(
    file: GgufFile,
    private readonly id: string,
  ) {
    this.file = file
    void this.restore()
  }

  private async restore() {
    const kept = tabStorage.get(this.id)
    if (kept === undefined) return
    try {
      const failure = await this.put(...parseChanges(kept))
      if (failure) throw new Error(failure)
      this.restored = true
    } catch {
      // Another file has the same name, or the text was edited by hand.
      tabStorage.remove(this.id)
    }
  }

  /** Keeps unsaved changes for a reload, and for when the file is opened again. */
  private keep(isUnsaved: boolean) {
    // An older text must not stay where the new one has no room.
    tabStorage.remove(this.id)
    if (isUnsaved) tabStorage.set(this.id, formatChanges(this.ordered))
  }

  /** Removes the changes that were restored. */
  discard() {
    this.undo(() => true)
  }

  /**
   * Orders changes: removals, values of existing keys, tokens, renames, new keys. Each finds the names and ids that it
   * expects.
   */
  get ordered(): readonly Change[] {
    const { metadata } = this.file
    const rank = (change: Change) => {
      if ('tokens' in change) return change.change === 'remove-tokens' ? 2 : 3
      if (change.change.startsWith('remove')) return 0
      if ('name' in change || change.change === 'rename') return 4
      return metadata.has(change.key) ? 1 : 5
    }
    return this.changes.toSorted((a, b) => rank(a) - rank(b))
  }

  valueOf(key: string): Extract<Change, { change: 'set' | 'entries' }> | undefined {
    return this.changes.find(
      (one): one is Extract<Change, { change: 'set' | 'entries' }> =>
        (one.change === 'set' || one.change === 'entries') && one.key === key,
    )
  }

  nameOf(key: string): string {
    const change = this.changes.find((one) => one.change === 'rename' && one.key === key)
    return change?.change === 'rename' ? change.to : key
  }

  isRemoved(key: string): boolean {
    return !this.valueOf(key) && this.changes.some((one) => one.change === 'remove' && one.key === key)
  }

  tensorNameOf(name: string): string {
    const change = this.changes.find((one) => one.change === 'rename-tensor' && one.name === name)
    return change?.change === 'rename-tensor' ? change.to : name
  }

  isTensorRemoved(name: string): boolean {
    return this.changes.some((one) => one.change === 'remove-tensor' && one.name === name)
  }

  get addedTokens(): readonly NewToken[] {
    return this.changes.flatMap((one) => (one.change === 'add-tokens' ? one.tokens : []))
  }

  /** ids or texts */
  get removedTokens(): readonly (number | string)[] {
    return this.changes.flatMap((one) => (one.change === 'remove-tokens' ? one.tokens : []))
  }

  /** names of added keys */
  get added(): readonly string[] {
    return this.changes.flatMap((one) =>
      one.change === 'set' && !this.file.metadata.has(one.key) ? [one.key] : [],
    )
  }

  /** Adds changes if the builder accepts them; otherwise returns the reason. */
  put(...changes: readonly Change[]): Promise<string> {
    const done = this.queue.then(async () => {
      const before = this.changes
      try {
        let list = before
        for (const change of changes) list = this.with(list, change)
        this.changes = list
        await this.builder()
      } catch (error) {
        this.changes = before
        return errorText(error)
      }
      const [only] = changes
      this.record(changes.length === 1 && only?.change === 'set' ? slotOf(only) : '')
      this.announce()
      return ''
    })
    this.queue = done
    return done
  }

  private with(list: readonly Change[], change: Change): readonly Change[] {
    const slot = slotOf(change)
    let rest = list.filter((one) => slotOf(one) !== slot)
    if (change.change === 'remove') rest = rest.filter((one) => !('key' in one) || one.key !== change.key)
    if (change.change === 'remove-tensor')
      rest = rest.filter((one) => !('name' in one) || one.name !== change.name)
    // Setting a value again cancels a removal. If a key occurs twice, the other entries are removed.
    if (change.change === 'set' && !this.file.metadata.repeated.some(({ key }) => key === change.key))
      rest = rest.filter((one) => one.change !== 'remove' || one.key !== change.key)
    return [...rest, change]
  }

  /** Removes the selected changes. */
  undo(which: (change: Change) => boolean) {
    const left = this.changes.filter((one) => !which(one))
    const [first, ...more] = this.changes.filter((one) => !left.includes(one))
    if (!first) return
    this.changes = left
    this.record(more.length === 0 ? slotOf(first) : '')
    this.announce()
  }

  private record(slot: string) {
    const goesOn = slot !== '' && slot === this.slot
    this.steps = [...this.steps.slice(0, this.at + (goesOn ? 0 : 1)), this.changes]
    this.at = this.steps.length - 1
    this.slot = slot
  }

  /** Ends the step, so that the next change is one of its own. */
  endStep() {
    this.slot = ''
  }

  /** Where a step in this direction leads; undefined: there is none. Steps that changed nothing are passed. */
  private next(by: 1 | -1): number | undefined {
    const { changes } = this
    const differs = (list: readonly Change[]) =>
      list.length !== changes.length || list.some((one, i) => one !== changes[i])
    for (let at = this.at + by; at >= 0 && at < this.steps.length; at += by)
      if (differs(this.steps[at]!)) return at
    return undefined
  }

  get canGoBack(): boolean {
    return this.next(-1) !== undefined
  }

  get canGoForward(): boolean {
    return this.next(1) !== undefined
  }

  /** Takes the last step back (-1), or does it again (1). */
  go(by: 1 | -1) {
    this.queue = this.queue.then(() => {
      const at = this.next(by)
      if (at === undefined) return
      this.at = at
      this.changes = this.steps[at]!
      this.slot = ''
      this.announce()
    })
  }

  /** Whether there are changes, and all are saved. */
  get isSaved(): boolean {
    return this.changes.length > 0 && this.changes === this.saved
  }

  /** Marks the current changes as saved. */
  markSaved() {
    this.saved = this.changes
    pending.set(this.changes.length, false)
    this.keep(false)
    this.restored = false
  }

  private announce() {
    this.restored = false
    const isUnsaved = this.changes.length > 0 && this.changes !== this.saved
    pending.set(this.changes.length, isUnsaved)
    this.keep(isUnsaved)
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.refresh(), refreshMs)
  }

  /** shard: only that file of a split model; undefined: all files merged into one. */
  async builder(shard?: number) {
    const builder = await this.file.edit({ shard, allowDamaged: true })
    applyChanges(this.file, builder, this.ordered)
    return builder
  }

  /** Opens the file with its changes, as it would be written. */
  private async refresh() {
    const { changes } = this
    const before = this.edited
    try {
      const next = changes.length > 0 ? await open(sourceOf(await (await this.builder()).build())) : undefined
      if (this.changes !== changes) return next?.close()
      this.edited = next
      this.failure = ''
    } catch (error) {
      if (this.changes !== changes) return
      this.edited = undefined
      this.failure = errorText(error)
    }
    // Running computations may still use the old file.
    setTimeout(() => before?.close(), closeMs)
  }
}

/** The changes of an array, by index. */
export interface ArrayChanges {
  readonly set: ReadonlyMap<number, string>
  readonly removed: ReadonlySet<number>
  readonly added: readonly string[]
}

const known = new WeakMap<GgufFile, Edits>()

export function editsOf(file: GgufFile, { address, label }: Pick<Opened, 'address' | 'label'>): Edits {
  let edits = known.get(file)
  if (!edits) known.set(file, (edits = new Edits(file, `edits.${address || `${label} ${file.size ?? 0}`}`)))
  return edits
}
