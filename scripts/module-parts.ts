// What a part of the core adds to a WebAssembly module: the module's bytes gzipped, without those of the part's functions.
import { gzipSync } from 'node:zlib'

const kImports = 2
const kCode = 10
/** A body without locals and instructions. */
const kEmptyBody = Buffer.from([0, 0x0b])

class Reader {
  readonly #bytes: Buffer
  at: number
  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.at = at
  }
  byte(): number {
    return this.#bytes[this.at++]!
  }
  /** LEB128, unsigned. */
  number(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte()
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }
  skip(n: number): void {
    this.at += n
  }
}

/** Functions of the import section at `at`. */
function importedFunctions(bytes: Buffer, at: number): number {
  const reader = new Reader(bytes, at)
  let functions = 0
  for (let left = reader.number(); left > 0; left--) {
    for (let name = 0; name < 2; name++) reader.skip(reader.number())
    const kind = reader.byte()
    if (kind === 0) {
      functions++
      reader.number()
    } else if (kind === 3) {
      reader.skip(2)
    } else {
      if (kind === 1) reader.byte()
      const limits = reader.byte()
      reader.number()
      if ((limits & 1) !== 0) reader.number()
    }
  }
  return functions
}

/** Where the body of each function is, by the function's index. */
function bodiesOf(bytes: Buffer): Map<number, readonly [from: number, to: number]> {
  const bodies = new Map<number, readonly [number, number]>()
  const reader = new Reader(bytes, 8)
  let imported = 0
  while (reader.at < bytes.length) {
    const section = reader.byte()
    const end = reader.number() + reader.at
    if (section === kImports) imported = importedFunctions(bytes, reader.at)
    if (section === kCode) {
      const n = reader.number()
      for (let i = 0; i < n; i++) {
        const length = reader.number()
        bodies.set(imported + i, [reader.at, reader.at + length])
        reader.skip(length)
      }
    }
    reader.at = end
  }
  return bodies
}

/**
 * Bytes, gzipped, that functions add to a module. symbols: a line for each of its functions, "index:name", as
 * --emit-symbol-map writes them.
 */
export function gzippedPart(module: Buffer, symbols: string, isPart: (name: string) => boolean): number {
  const bodies = bodiesOf(module)
  const names = symbols.split('\n').filter((line) => line !== '')
  const last = Math.max(...bodies.keys())
  if (names.length !== last + 1) throw new Error(`${names.length} names for ${last + 1} functions`)
  const rest: Buffer[] = []
  let kept = 0
  for (const line of names) {
    const colon = line.indexOf(':')
    const body = bodies.get(Number(line.slice(0, colon)))
    if (body === undefined || !isPart(line.slice(colon + 1))) continue
    rest.push(module.subarray(kept, body[0]), kEmptyBody)
    kept = body[1]
  }
  rest.push(module.subarray(kept))
  const size = (bytes: Buffer): number => gzipSync(bytes, { level: 9 }).length
  return size(module) - size(Buffer.concat(rest))
}
