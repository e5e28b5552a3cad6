// The summary of a file. Several panels ask for it before the first of them is shown, so it is computed once.
import type { GgufFile, Summary } from 'ggufscope'

const known = new WeakMap<GgufFile, { readonly bytesRead: number; readonly summary: Summary }>()

/** file.summary(), computed again when more of the header was read. */
export function summaryOf(file: GgufFile): Summary {
  const { bytesRead } = file
  const last = known.get(file)
  if (last?.bytesRead === bytesRead) return last.summary
  const summary = file.summary()
  known.set(file, { bytesRead, summary })
  return summary
}
