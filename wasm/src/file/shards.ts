import type { InspectModule } from '../inspect.js'

/** The place of a file in a split model, told by its name: name-00001-of-00003.gguf. */
export interface ShardName {
  /** from 0 */
  readonly index: number
  /** the names of all shards, in order */
  readonly names: readonly string[]
}

/** undefined where the name is not that of a shard. */
export function parseShardName(module: InspectModule, name: string | undefined): ShardName | undefined {
  const names = module
    .shardNames(name ?? '')
    .split('\0')
    .slice(0, -1)
  const index = names.indexOf(name ?? '')
  return index < 0 ? undefined : { index, names }
}
