// RIFF WAVE: "RIFF", u32 size, "WAVE", then chunks: id, u32 size, data, padded to two bytes. "fmt " contains the
// format (1: PCM; 3: floats; 6: A-law; 7: mu-law; 0xfffe: the format is in the first two bytes of its subformat),
// channels, rate, 6 bytes, and the bits of a sample. "data" contains the samples, interleaved, little-endian. 8-bit PCM
// is unsigned. A writer that streams leaves the size of "data" at 0 or all ones. RF64 (and BW64) has sizes of 64 bits:
// those of the file and of "data" stand in its first chunk, "ds64", and those of 32 bits are all ones. RIFX is RIFF with
// all numbers big-endian. (Browsers and others take its samples for little-endian ones: noise.)
import { bytes as isBytes, checkArgument } from '../api/checks.js'
import type { Floats } from '../api/arrays.js'
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'

export interface Sound {
  /** number of samples of one channel */
  readonly samples: Floats
  readonly sampleRate: number
  /** what the file lacks; its other samples are there */
  readonly warning?: string | undefined
}

/** Samples per second (core/media/resample.hpp). */
export const kMinRate = 2000
export const kMaxRate = 768000

type ReadSample = (view: DataView, at: number, little: boolean) => number

/** A-law: sign, three bits of exponent, four of mantissa; every second bit is inverted. */
function fromALaw(byte: number): number {
  const bits = byte ^ 0x55
  const exponent = (bits >> 4) & 7
  const mantissa = ((bits & 15) << 4) + (exponent === 0 ? 8 : 0x108)
  const magnitude = exponent <= 1 ? mantissa : mantissa << (exponent - 1)
  return (bits & 0x80 ? magnitude : -magnitude) / 2 ** 15
}

/** mu-law: the same fields, all bits inverted. */
function fromMuLaw(byte: number): number {
  const bits = ~byte & 0xff
  const magnitude = ((((bits & 15) << 3) + 0x84) << ((bits >> 4) & 7)) - 0x84
  return (bits & 0x80 ? -magnitude : magnitude) / 2 ** 15
}

const tableOf = (decode: (byte: number) => number): Float32Array =>
  Float32Array.from({ length: 256 }, (_, byte) => decode(byte))
const kALaw = tableOf(fromALaw)
const kMuLaw = tableOf(fromMuLaw)

/** By format and bytes of a sample. PCM of other sizes fills the upper bits. */
const kReaders: Readonly<Record<string, ReadSample>> = {
  '1/1': (view, at) => (view.getUint8(at) - 128) / 128,
  '1/2': (view, at, little) => view.getInt16(at, little) / 2 ** 15,
  '1/3': (view, at, little) =>
    ((view.getInt8(little ? at + 2 : at) << 16) | view.getUint16(little ? at : at + 1, little)) / 2 ** 23,
  '1/4': (view, at, little) => view.getInt32(at, little) / 2 ** 31,
  '3/4': (view, at, little) => view.getFloat32(at, little),
  '3/8': (view, at, little) => view.getFloat64(at, little),
  '6/1': (view, at) => kALaw[view.getUint8(at)]!,
  '7/1': (view, at) => kMuLaw[view.getUint8(at)]!,
}

interface Format {
  readonly channels: number
  readonly sampleRate: number
  readonly bytes: number
  readonly read: ReadSample
  readonly little: boolean
}

function fail(message: string, offset: number): never {
  throw new GgufError('unsupported', `${message} at byte ${offset} in a WAV file`, { offset })
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const idAt = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)))

export const isWav = (bytes: Uint8Array): boolean => {
  const view = viewOf(bytes)
  return (
    bytes.length >= 12 && ['RIFF', 'RIFX', 'RF64', 'BW64'].includes(idAt(view, 0)) && idAt(view, 8) === 'WAVE'
  )
}

function formatOf(view: DataView, at: number, size: number, little: boolean): Format {
  if (size < 16) fail('a format of too few bytes', at)
  const named = view.getUint16(at, little)
  const kind = named === 0xfffe && size >= 26 ? view.getUint16(at + 24, little) : named
  const channels = view.getUint16(at + 2, little)
  const sampleRate = view.getUint32(at + 4, little)
  const bits = view.getUint16(at + 14, little)
  const bytes = Math.ceil(bits / 8)
  const read = kReaders[`${kind}/${bytes}`]
  if (!read) fail(`format ${kind} with samples of ${bits} bits`, at)
  if (channels === 0) fail('no channels', at)
  if (sampleRate < kMinRate || sampleRate > kMaxRate)
    throw new GgufError(
      'invalid-argument',
      `A WAV file of ${sampleRate} Hz at byte ${at}: audio has from ${kMinRate} to ${kMaxRate} samples per second.`,
      { offset: at },
    )
  return { channels, sampleRate, bytes, read, little }
}

const cut = (view: DataView, id: string): GgufError =>
  new GgufError('truncated', `truncated at byte ${view.byteLength} in the ${id.trim()} of a WAV file`, {
    offset: view.byteLength,
  })

interface WavHeader {
  readonly format: Format
  readonly begin: number
  readonly size: number
  readonly warning: string | undefined
}

/** Errors: 'unsupported', 'truncated', 'invalid-argument' for a sampling rate out of range. */
export function readWavHeader(bytes: Uint8Array): WavHeader {
  if (!isWav(bytes)) fail('no WAV file: it does not begin as one', 0)
  const view = viewOf(bytes)
  const little = idAt(view, 0) !== 'RIFX'
  let format: Format | undefined
  let longSize: number | undefined
  for (let at = 12; at + 8 <= view.byteLength;) {
    const id = idAt(view, at)
    let size = view.getUint32(at + 4, little)
    const begin = at + 8
    const rest = view.byteLength - begin
    if (id === 'data') {
      if (!format) fail('samples before their format', at)
      const isOpen = size === 0xffffffff || size === 0
      if (isOpen) size = longSize ?? rest
      const warning =
        size > rest
          ? `The WAV file claims ${counted(size, 'byte')} of samples, but has ${rest}: the audio may be cut.`
          : undefined
      return { format, begin, size: Math.min(size, rest), warning }
    }
    if (size > rest) throw cut(view, id)
    if (id === 'fmt ') format = formatOf(view, begin, size, little)
    if (id === 'ds64' && size >= 16) longSize = Number(view.getBigUint64(begin + 8, true)) || undefined
    at = begin + size + (size % 2)
  }
  fail('no samples', view.byteLength)
}

/**
 * Decodes a WAV file to samples, and averages its channels. If the file ends before its samples do, those that are
 * there are returned with a warning. Errors: 'unsupported', 'truncated' for a file that ends before the samples,
 * 'invalid-argument' for a sampling rate below 2,000 or above 768,000.
 */
export function decodeWav(bytes: Uint8Array): Sound {
  checkArgument('decodeWav()', 'file', bytes, isBytes)
  const { format, begin, size, warning } = readWavHeader(bytes)
  const sound = { samples: samplesOf(viewOf(bytes), begin, size, format), sampleRate: format.sampleRate }
  return warning === undefined ? sound : { ...sound, warning }
}

function samplesOf(
  view: DataView,
  begin: number,
  size: number,
  { channels, bytes, read, little }: Format,
): Float32Array<ArrayBuffer> {
  const samples = new Float32Array(Math.floor(size / (channels * bytes)))
  for (let i = 0, at = begin; i < samples.length; i++) {
    let sum = 0
    for (let c = 0; c < channels; c++, at += bytes) sum += read(view, at, little)
    samples[i] = sum / channels
  }
  return samples
}
