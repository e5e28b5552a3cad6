/** llama.cpp's naming of split files: name-00001-of-00003.gguf. */
const kShardName = /^(.*)-(\d{5})-of-(\d{5})(\.gguf)$/i

export interface ShardName {
  /** from 0 */
  readonly index: number
  readonly count: number
  /** the names of all shards, in order */
  readonly names: readonly string[]
}

/** undefined where the name is not that of a shard. */
export function parseShardName(name: string | undefined): ShardName | undefined {
  const match = kShardName.exec(name ?? '')
  if (!match) return undefined
  const [, base, no, of, ending] = match
  const index = Number(no) - 1
  const count = Number(of)
  if (index < 0 || index >= count) return undefined
  const names = Array.from(
    { length: count },
    (_, i) => `${base}-${String(i + 1).padStart(5, '0')}-of-${of}${ending}`,
  )
  return { index, count, names }
}
