// Divides a file into several, as llama.cpp's gguf-split does.
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import type { KeyEntry, Layout, TensorEntry } from './entries.js'
import { tensorLengths } from './layout.js'
import type { SplitOptions } from '../api/edit.js'
import { encodeValue } from './values.js'

// The default of llama.cpp's gguf-split.
const kMaxTensors = 128
// split.no and split.count have 16 bits.
const kMaxFiles = 65_535

function entry(key: string, value: number, type: 'u16' | 'i32'): KeyEntry {
  return { key, from: encodeValue(value, type, key) }
}

/** Returns one layout for each file. */
export async function splitLayout(
  layout: Layout,
  name: string,
  { maxTensors, maxBytes }: SplitOptions,
): Promise<(Layout & { readonly name: string })[]> {
  for (const limit of [maxTensors, maxBytes])
    if (limit !== undefined && !(limit >= 1))
      throw new GgufError('invalid-argument', `${limit} is no limit for a file: at least 1.`)
  const tensorLimit = maxTensors ?? (maxBytes === undefined ? kMaxTensors : Infinity)
  const lengths = await tensorLengths(layout)
  const groups: TensorEntry[][] = [[]]
  let bytes = 0
  for (const [i, tensor] of layout.tensors.entries()) {
    const group = groups.at(-1)!
    const full = group.length >= tensorLimit || bytes + lengths[i]! > (maxBytes ?? Infinity)
    if (full && group.length > 0) {
      groups.push([tensor])
      bytes = 0
    } else {
      group.push(tensor)
    }
    bytes += lengths[i]!
  }
  if (groups.length > kMaxFiles)
    throw new GgufError(
      'invalid-argument',
      `${counted(groups.length, 'file')} are more than a model can have: ${kMaxFiles}.`,
    )
  const keys = layout.keys.filter(({ key }) => !key.startsWith('split.'))
  const five = (n: number): string => String(n).padStart(5, '0')
  return groups.map((tensors, i) => ({
    ...layout,
    base: undefined,
    untouched: false,
    name: `${name}-${five(i + 1)}-of-${five(groups.length)}.gguf`,
    tensors,
    keys: [
      ...keys.filter(({ key }) => i === 0 || key === 'general.alignment'),
      entry('split.no', i, 'u16'),
      entry('split.count', groups.length, 'u16'),
      entry('split.tensors.count', layout.tensors.length, 'i32'),
    ],
  }))
}
