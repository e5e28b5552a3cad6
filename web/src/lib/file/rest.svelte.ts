// The part of the open file that its preview left out, and whether it has been read since.
import type { GgufFile, LazyArray } from 'ggufscope'

class Rest {
  // The package's objects do not report changes. Values that depend on `version` are recomputed when more was read.
  private version = $state(0)

  isComplete(file: GgufFile): boolean {
    return this.version >= 0 && file.complete
  }

  has(array: LazyArray): boolean {
    return this.version >= 0 && array.loaded
  }

  bytesRead(file: GgufFile): number {
    return this.version >= 0 ? file.bytesRead : 0
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
