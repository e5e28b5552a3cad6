// Reads text files in the encodings that users have.
import { GgufError } from '../api/errors.js'
import { readInput } from './inputs.js'

// Byte order marks and their encodings, longer ones first: the mark of UTF-32LE begins with that of UTF-16LE.
const kMarks: readonly (readonly [mark: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe, 0, 0], 'utf-32le'],
  [[0, 0, 0xfe, 0xff], 'utf-32be'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
]

/** The offset of the first byte that is not valid UTF-8. */
function firstWrong(bytes: Uint8Array): number {
  // stream: an incomplete character at the end is not an error.
  const isValid = (length: number, stream: boolean): boolean => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length), { stream })
      return true
    } catch {
      return false
    }
  }
  let [valid, wrong] = [0, bytes.length + 1]
  while (wrong - valid > 1) {
    const middle = (valid + wrong) >> 1
    if (isValid(middle, true)) valid = middle
    else wrong = middle
  }
  while (!isValid(valid, false)) valid--
  return valid
}

/** Decodes bytes: UTF-8, or UTF-16 with a byte order mark, which is removed. name: for error messages. */
function decodeText(bytes: Uint8Array, name: string): string {
  const wrong = (message: string): GgufError => new GgufError('invalid-argument', `${name} ${message}`)
  const marked = kMarks.find(([mark]) => mark.every((byte, i) => bytes[i] === byte))
  const encoding = marked?.[1] ?? 'utf-8'
  if (encoding.startsWith('utf-32')) throw wrong('is UTF-32: save it as UTF-8.')
  const content = bytes.subarray(marked?.[0].length ?? 0)
  const zero = encoding === 'utf-8' ? content.indexOf(0) : -1
  if (zero >= 0)
    throw wrong(
      `has a zero byte at ${zero}: it is no text, or UTF-16 without a byte order mark. Save it as UTF-8.`,
    )
  if (encoding !== 'utf-8' && content.length % 2 !== 0)
    throw wrong('is UTF-16 of an odd number of bytes: it was cut.')
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    const at = encoding === 'utf-8' ? ` at byte ${firstWrong(bytes)}` : ''
    throw wrong(
      `is no valid ${encoding.toUpperCase()}${at}: it may be Latin-1 (ISO 8859-1). Save it as UTF-8.`,
    )
  }
}

/** Reads the text file that an option names. what: the option. */
export async function readText(path: string, what: string): Promise<string> {
  return decodeText(await readInput(path, what), path)
}
