// Makes the header of a GGUF file that contains only one matrix, so that the worker can read it with the package.
import type { Subject } from './protocol'

/** The header's bytes with padding. The tensor's data follows directly. */
export function oneTensorHeader({ columns, rows, typeId, bigEndian }: Subject): Uint8Array {
  const little = !bigEndian
  const view = new DataView(new ArrayBuffer(96))
  let at = 0
  const u32 = (value: number) => {
    view.setUint32(at, value, little)
    at += 4
  }
  const u64 = (value: number) => {
    view.setBigUint64(at, BigInt(value), little)
    at += 8
  }
  view.setUint32(0, 0x47475546) // "GGUF"
  at = 4
  u32(3) // version
  u64(1) // tensors
  u64(0) // keys
  u64(1) // length of the name
  view.setUint8(at++, 116) // "t"
  u32(2) // dimensions
  u64(columns)
  u64(rows)
  u32(typeId)
  u64(0) // offset
  return new Uint8Array(view.buffer)
}
