// The orientation in EXIF data, which is a TIFF file: "II" or "MM" for the order of bytes, 42, the offset of a directory.
// A directory is a count, then entries of 12 bytes: tag, type, count, value.
const kOrientation = 0x112
const kShort = 3

/** From 1 to 8; 1, which changes nothing, if the data has none. */
export function exifOrientation(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.byteLength < 8) return 1
  const little = view.getUint16(0) === 0x4949
  if (!little && view.getUint16(0) !== 0x4d4d) return 1
  const directory = view.getUint32(4, little)
  if (directory > view.byteLength - 2) return 1
  const count = view.getUint16(directory, little)
  for (let i = 0, at = directory + 2; i < count && at + 12 <= view.byteLength; i++, at += 12)
    if (view.getUint16(at, little) === kOrientation && view.getUint16(at + 2, little) === kShort)
      return view.getUint16(at + 8, little)
  return 1
}
