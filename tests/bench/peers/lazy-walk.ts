// The baseline: a parser of little-endian GGUF v3 headers in plain JavaScript that does not decode strings in arrays.

const kSizes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8]
const kString = 8
const kArray = 9

export interface Walked {
  /** The offset of each key's value and, for arrays of strings, the offset of each element. */
  keys: Map<string, { type: number; offset: number; elements?: Float64Array }>
  tensors: { name: string; shape: number[]; type: number; offset: number }[]
}

export function lazyWalk(bytes: Uint8Array): Walked {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const decoder = new TextDecoder()
  let at = 8
  const u32 = () => view.getUint32((at += 4) - 4, true)
  const u64 = () => u32() + u32() * 4294967296
  const text = () => {
    const length = u64()
    return decoder.decode(bytes.subarray(at, (at += length)))
  }
  const nTensors = u64()
  const nKeys = u64()
  const walked: Walked = { keys: new Map(), tensors: [] }
  for (let i = 0; i < nKeys; i++) {
    const key = text()
    const type = u32()
    const offset = at
    if (type === kString) {
      const length = u64()
      at += length
    } else if (type === kArray) {
      const of = u32()
      const count = u64()
      if (of === kString) {
        const elements = new Float64Array(count)
        for (let k = 0; k < count; k++) {
          elements[k] = at
          at += view.getUint32(at, true) + 8
        }
        walked.keys.set(key, { type, offset, elements })
        continue
      }
      at += kSizes[of]! * count
    } else at += kSizes[type]!
    walked.keys.set(key, { type, offset })
  }
  for (let i = 0; i < nTensors; i++) {
    const name = text()
    const shape = Array.from({ length: u32() }, u64)
    walked.tensors.push({ name, shape, type: u32(), offset: u64() })
  }
  return walked
}
