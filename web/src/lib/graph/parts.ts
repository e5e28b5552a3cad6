// Groups tensors by the parts of their names, for a list where their connections are not known.
import type { TensorInfo } from 'ggufscope'

export interface Part {
  key: string
  /** the name's next part; several where each has only one after it */
  name: string
  tensors: readonly TensorInfo[]
  isGroup: boolean
  /** characters of the names before those of the group's parts */
  from: number
}

/** The next part of a name and the dot after it. */
const nextOf = (name: string, from: number) => {
  const dot = name.indexOf('.', from)
  return dot < 0 ? name.slice(from) : name.slice(from, dot + 1)
}

/** The characters that these names begin with, up to a dot. */
function commonTo(tensors: readonly TensorInfo[], from: number): number {
  const first = tensors[0]!.name
  for (let to = from; ;) {
    const next = nextOf(first, to)
    if (!next.endsWith('.') || !tensors.every(({ name }) => name.startsWith(next, to))) return to
    to += next.length
  }
}

/** The parts of the names after their first `from` characters, in the file's order. */
export function partsOf(tensors: readonly TensorInfo[], from: number): Part[] {
  const groups = Map.groupBy(tensors, ({ name }) => nextOf(name, from))
  return [...groups].flatMap(([key, own]): Part | Part[] => {
    const [first] = own
    if (own.length === 1) return { key, name: first!.name.slice(from), tensors: own, isGroup: false, from }
    // The same name repeats in a damaged file.
    if (!key.endsWith('.'))
      return own.map((one, i) => ({ key: `${key} ${i}`, name: key, tensors: [one], isGroup: false, from }))
    const to = commonTo(own, from)
    return { key, name: first!.name.slice(from, to - 1), tensors: own, isGroup: true, from: to }
  })
}
