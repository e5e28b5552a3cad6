// The part of the open file that its preview left out, and whether it has been read since.
import type { GgufFile, LazyArray } from 'ggufscope'

class Rest {
  // The package's objects do not report changes. Values that depend on `version` are recomputed when more was read.
  private version = $state(0)
  /** bytes of the open file that other readers than its own have read, e.g. the engine */
  private others = $state.raw<{ file: GgufFile; bytes: number }>()
  private reads = $state(0)

  isComplete(file: GgufFile): boolean {
    return this.version >= 0 && file.complete
  }

  has(array: LazyArray): boolean {
    return this.version >= 0 && array.loaded
  }

  bytesRead(file: GgufFile): number {
    const more = this.others?.file === file ? this.others.bytes : 0
    return this.version + this.reads >= 0 ? Math.max(file.bytesRead, more) : 0
  }

  /** To be called now and then while a file is shown. */
  refresh(file: GgufFile) {
    if (file.bytesRead !== this.seen) this.reads++
    this.seen = file.bytesRead
  }
  private seen = 0

  /** Notes what the engine has read of the file. */
  note(file: GgufFile, bytes: number) {
    if (bytes > this.bytesRead(file)) this.others = { file, bytes }
  }

  async complete(file: GgufFile, signal?: AbortSignal): Promise<void> {
    await file.completeHeader({ signal })
    this.version++
  }

  async load(arrays: readonly LazyArray[], signal?: AbortSignal): Promise<void> {
    await Promise.all(arrays.map((array) => array.load({ signal })))
    this.version++
  }
}

export const rest = new Rest()
