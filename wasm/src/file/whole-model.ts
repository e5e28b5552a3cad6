// Lint of a split model as one: which tensors its files have together.
import { GgufError } from '../api/errors.js'
import type { Finding } from '../api/findings.js'
import { Header, type LintScope } from '../header/header.js'
import { editModule } from '../runtime/module.js'
import type { OpenedFile } from './opened.js'

/** The header of the file that merging a set makes. Undefined if the set cannot be merged. Errors: 'wasm', of the network. */
async function mergedHeader(file: OpenedFile): Promise<Header | undefined> {
  // Before the try: an error in fetching code says nothing about the set.
  const [builder] = await Promise.all([file.edit({ allowDamaged: true }), editModule(file.hosting)])
  try {
    const { header: bytes } = await builder.removeSplit().build()
    const header = new Header(file.header.module)
    header.append(bytes, undefined)
    return header
  } catch (error) {
    if (error instanceof GgufError && error.code !== 'out-of-memory') return undefined
    throw error
  }
}

/**
 * The findings on a file, or on the files of a split model as if they were one. Rules on a model's tensors need all of
 * them, and one file of a set has only some. None if a file of the set is missing.
 */
export async function findingsOfWhole(file: OpenedFile, scope: LintScope): Promise<Finding[]> {
  if (file.shardParts.some(({ part }) => !part)) return []
  if (file.shardParts.length === 1)
    return file.header.findings({}, scope).map((finding) => ({ ...finding, shard: 0 }))
  const merged = await mergedHeader(file)
  try {
    const found = merged?.findings({}, scope) ?? []
    // Offsets would be those of a file that is not there.
    return found.map(({ level, code, message }) => ({ level, code, message, shard: 0 }))
  } finally {
    merged?.close()
  }
}
