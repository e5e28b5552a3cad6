// RIFF WAVE: "RIFF", u32 size, "WAVE", then chunks: id, u32 size, data, padded to two bytes. "fmt " contains the
// format (1: PCM; 3: floats; 0xfffe: the format is in the first two bytes of its subformat), channels, rate, 6 bytes,
// and the bits of a sample. "data" contains the samples, interleaved, little-endian. 8-bit PCM is unsigned. A writer
// that streams leaves the size of "data" at 0 or all ones.
import { bytes as isBytes, checkArgument } from '../api/checks.js'
import type { Floats } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'

export interface Sound {
  /** number of samples of one channel */
  readonly samples: Floats
  readonly sampleRate: number
}

type ReadSample = (view: DataView, at: number) => number

const kReaders: Readonly<Record<string, ReadSample>> = {
  '1/8': (view, at) => (view.getUint8(at) - 128) / 128,
  '1/16': (view, at) => view.getInt16(at, true) / 2 ** 15,
  '1/24': (view, at) => ((view.getInt8(at + 2) << 16) | view.getUint16(at, true)) / 2 ** 23,
  '1/32': (view, at) => view.getInt32(at, true) / 2 ** 31,
  '3/32': (view, at) => view.getFloat32(at, true),
  '3/64': (view, at) => view.getFloat64(at, true),
}

interface Format {
  readonly channels: number
  readonly sampleRate: number
  readonly bytes: number
  readonly read: ReadSample
}

function fail(message: string, offset: number): never {
  throw new GgufError('unsupported', `${message} at byte ${offset} in a WAV file`, { offset })
}

const idAt = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)))

export const isWav = (bytes: Uint8Array): boolean => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return bytes.length >= 12 && idAt(view, 0) === 'RIFF' && idAt(view, 8) === 'WAVE'
}

function formatOf(view: DataView, at: number, size: number): Format {
  if (size < 16) fail('a format of too few bytes', at)
  const named = view.getUint16(at, true)
  const kind = named === 0xfffe && size >= 26 ? view.getUint16(at + 24, true) : named
  const channels = view.getUint16(at + 2, true)
  const sampleRate = view.getUint32(at + 4, true)
  const bits = view.getUint16(at + 14, true)
  const read = kReaders[`${kind}/${bits}`]
  if (!read) fail(`format ${kind} with samples of ${bits} bits`, at)
  if (channels === 0 || sampleRate === 0) fail(`${channels} channels at ${sampleRate} Hz`, at)
  return { channels, sampleRate, bytes: bits / 8, read }
}

/** Decodes a WAV file to samples, and averages its channels. Errors: 'unsupported', 'truncated'. */
export function decodeWav(bytes: Uint8Array): Sound {
  checkArgument('decodeWav()', 'file', bytes, isBytes)
  if (!isWav(bytes)) fail('no WAV file: it does not begin as one', 0)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let format: Format | undefined
  for (let at = 12; at + 8 <= view.byteLength;) {
    const id = idAt(view, at)
    let size = view.getUint32(at + 4, true)
    const begin = at + 8
    const rest = view.byteLength - begin
    if (id === 'data' && (size === 0xffffffff || size === 0)) size = rest
    if (size > rest)
      throw new GgufError(
        'truncated',
        `truncated at byte ${view.byteLength} in the ${id.trim()} of a WAV file`,
        { offset: view.byteLength },
      )
    if (id === 'fmt ') format = formatOf(view, begin, size)
    if (id === 'data') {
      if (!format) fail('samples before their format', at)
      return { samples: samplesOf(view, begin, size, format), sampleRate: format.sampleRate }
    }
    at = begin + size + (size % 2)
  }
  fail('no samples', view.byteLength)
}

function samplesOf(
  view: DataView,
  begin: number,
  size: number,
  { channels, bytes, read }: Format,
): Float32Array<ArrayBuffer> {
  const samples = new Float32Array(Math.floor(size / (channels * bytes)))
  for (let i = 0, at = begin; i < samples.length; i++) {
    let sum = 0
    for (let c = 0; c < channels; c++, at += bytes) sum += read(view, at)
    samples[i] = sum / channels
  }
  return samples
}
