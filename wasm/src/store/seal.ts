// The checksum at the end of a stored part: SHA-256 of the part's own SHA-256, and of a text that names the version of the
// file and the part's number, or the offset of a preview's bytes. So bytes that changed on the disk, and parts of another
// version, are both noticed.

/** The version of a file. */
interface Version {
  readonly size: number
  readonly validator: string | undefined
}

export const kSealBytes = 32

async function checksum(bytes: Uint8Array, { size, validator }: Version, part: number): Promise<Uint8Array> {
  const digest = (data: Uint8Array) => crypto.subtle.digest('SHA-256', data as Uint8Array<ArrayBuffer>)
  const version = new TextEncoder().encode(`${size} ${part} ${validator ?? ''}`)
  const both = new Uint8Array(kSealBytes + version.length)
  both.set(new Uint8Array(await digest(bytes)))
  both.set(version, kSealBytes)
  return new Uint8Array(await digest(both))
}

/** A copy of the bytes, with the checksum behind them. */
export async function sealed(bytes: Uint8Array, info: Version, part: number): Promise<Uint8Array> {
  const all = new Uint8Array(bytes.length + kSealBytes)
  all.set(bytes)
  all.set(await checksum(bytes, info, part), bytes.length)
  return all
}

/** The bytes before the checksum; undefined if they do not match it. */
export async function unsealed(
  all: Uint8Array,
  info: Version,
  part: number,
): Promise<Uint8Array | undefined> {
  const bytes = all.subarray(0, all.length - kSealBytes)
  const expected = await checksum(bytes, info, part)
  return expected.every((byte, i) => byte === all[bytes.length + i]) ? bytes : undefined
}
