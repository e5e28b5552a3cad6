// Files of images and sounds: every form of PNG, BMP and WAV gives the pixels and samples that were written. What is
// transparent shows white, and color profiles are not applied, in the package's decoders and in sharp alike.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import sharp from 'sharp'
import type * as Engine from 'ggufscope/engine'
import { madeProjector } from '../fixtures/made-projectors.ts'
import { withTemplate } from '../fixtures/templated.ts'
import { engine, textOf } from './engine.ts'
import { kRoot, loadNodePackage, packedFile } from './packed.ts'
import { mediaVectors } from './vectors.ts'

const { decodeWav, load } = engine
const { model: textModel, projector } = madeProjector('dots_ocr')
const seeing = await load(textModel, { projector, contextLength: 2048, maxForks: 0, threads: 1 })
after(() => seeing.close())

const [width, height] = [29, 53]
const n = width * height
/** Colors that depend on their place, and alphas from 0 to 255. */
const rgba = Uint8Array.from({ length: 4 * n }, (_, i) =>
  i % 4 === 3 ? (Math.floor(i / 4) * 5) % 256 : (i * 7 + (i % 4) * 40) % 256,
)
const rgb = rgba.filter((_, i) => i % 4 !== 3)
const onWhite = Uint8Array.from(rgb, (value, i) => {
  const alpha = rgba[4 * Math.floor(i / 3) + 3]!
  return Math.floor((value * alpha + 255 * (255 - alpha) + 127) / 255)
})
const opaque = () => sharp(rgb, { raw: { width, height, channels: 3 } })
const transparent = () => sharp(rgba, { raw: { width, height, channels: 4 } })

/** Ids of an image's tokens are a hash of its pixels. */
const tokensOf = async (image: Engine.ImageInput) =>
  (await seeing.encodeMedia({ type: 'image', image })).tokens
const pixels = (data: ArrayLike<number>) => ({ width, height, data })

/** A BMP file: a header of `size` bytes, masks, a palette, and rows from the bottom up. */
function bmpOf(
  bits: number,
  row: (y: number) => readonly number[],
  { size = 40, masks = [] as number[], palette = [] as number[], fromTop = false, compression = 0 } = {},
): Uint8Array {
  const rows = Array.from({ length: height }, (_, i) => {
    const bytes = row(fromTop ? i : height - 1 - i)
    return compression === 1 ? bytes : [...bytes, ...Array<number>((4 - (bytes.length % 4)) % 4).fill(0)]
  }).flat()
  const inHeader = size > 40 ? 0 : 4 * masks.length
  const at = 14 + size + inHeader + palette.length
  const bytes = new Uint8Array(at + rows.length)
  const view = new DataView(bytes.buffer)
  bytes.set([0x42, 0x4d])
  view.setUint32(10, at, true)
  view.setUint32(14, size, true)
  if (size === 12) [width, height, 1, bits].forEach((value, i) => view.setUint16(18 + 2 * i, value, true))
  else {
    view.setInt32(18, width, true)
    view.setInt32(22, fromTop ? -height : height, true)
    view.setUint16(28, bits, true)
    view.setUint32(30, compression, true)
    view.setUint32(46, palette.length / 4, true)
  }
  masks.forEach((mask, i) => view.setUint32(54 + 4 * i, mask, true))
  bytes.set(palette, 14 + size + inHeader)
  bytes.set(rows, at)
  return bytes
}

const places = Array.from({ length: width }, (_, x) => x)
const bgr = (y: number): number[] =>
  places.flatMap((x) => [2, 1, 0].map((c) => rgb[(y * width + x) * 3 + c]!))
const bgra = (y: number): number[] =>
  places.flatMap((x) => [2, 1, 0, 3].map((c) => rgba[(y * width + x) * 4 + c]!))
/** The gray of a place, as one of `count` colors. */
const colorAt = (x: number, y: number, count: number): number => (x * 3 + y) % count
const grays = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.floor((i * 255) / (count - 1))).flatMap((v) => [v, v, v, 0])
const grayPixels = (count: number) =>
  Uint8Array.from({ length: 3 * n }, (_, i) => {
    const place = Math.floor(i / 3)
    const color = colorAt(place % width, Math.floor(place / width), count)
    return Math.floor((color * 255) / (count - 1))
  })
const packed = (y: number, bits: number): number[] =>
  Array.from({ length: Math.ceil((width * bits) / 8) }, (_, i) => {
    let byte = 0
    for (let k = 0; k < 8 / bits; k++) {
      const x = (i * 8) / bits + k
      byte = (byte << bits) | (x < width ? colorAt(x, y, 2 ** bits) : 0)
    }
    return byte
  })
const runs = (y: number): number[] => [
  ...[0, 5, ...places.slice(0, 5).map((x) => colorAt(x, y, 256)), 0], // five pixels as they are, padded
  ...places.slice(5).flatMap((x) => [1, colorAt(x, y, 256)]),
  ...[0, 0],
]

test('every form of PNG and BMP gives its pixels, laid on white', async () => {
  const upright = await tokensOf(pixels(rgb))
  const white = await tokensOf(pixels(onWhite))
  assert.notDeepEqual(white, upright)
  const deep = Uint16Array.from(rgba, (value) => value * 257)
  const cases: Record<string, [Engine.ImageInput, readonly number[]]> = {
    'raw RGBA': [pixels(rgba), white],
    'raw RGBA in a Buffer': [pixels(Buffer.from(rgba)), white],
    'raw RGBA in an array': [pixels([...rgba]), white],
    'raw RGB in floats': [pixels(Float32Array.from(rgb)), upright],
    ImageData: [pixels(new Uint8ClampedArray(rgba)), white],
    PNG: [await opaque().png().toBuffer(), upright],
    'PNG, interlaced': [await opaque().png({ progressive: true }).toBuffer(), upright],
    'PNG with alpha': [await transparent().png().toBuffer(), white],
    'PNG with alpha, interlaced': [await transparent().png({ progressive: true }).toBuffer(), white],
    'PNG of 16 bits': [
      await sharp(deep, { raw: { width, height, channels: 4 } })
        .toColourspace('rgb16')
        .png()
        .toBuffer(),
      white,
    ],
    'WebP with alpha': [await transparent().webp({ lossless: true, exact: true }).toBuffer(), white],
    'BMP of 24 bits': [bmpOf(24, bgr), upright],
    'BMP of OS/2': [bmpOf(24, bgr, { size: 12 }), upright],
    'BMP from the top': [bmpOf(24, bgr, { fromTop: true }), upright],
    'BMP of 32 bits': [bmpOf(32, bgra), upright],
    'BMP with alpha': [
      bmpOf(32, bgra, { size: 108, compression: 3, masks: [0xff0000, 0xff00, 0xff, 0xff000000] }),
      white,
    ],
    'BMP with runs': [
      bmpOf(8, runs, { compression: 1, palette: grays(256) }),
      await tokensOf(pixels(grayPixels(256))),
    ],
  }
  for (const bits of [1, 4, 8])
    cases[`BMP of ${bits} bits`] = [
      bmpOf(bits, (y) => packed(y, bits), { palette: grays(2 ** bits) }),
      await tokensOf(pixels(grayPixels(2 ** bits))),
    ]
  for (const colors of [2, 4, 16])
    for (const progressive of [false, true])
      cases[`PNG of ${colors} grays${progressive ? ', interlaced' : ''}`] = [
        await sharp(grayPixels(colors), { raw: { width, height, channels: 3 } })
          .png({ palette: true, colors, dither: 0, progressive })
          .toBuffer(),
        await tokensOf(pixels(grayPixels(colors))),
      ]
  for (const [name, [image, tokens]] of Object.entries(cases))
    assert.deepEqual(await tokensOf(image), tokens, name)
  const url = Buffer.from(cases['PNG with alpha']![0] as Uint8Array).toString('base64')
  assert.deepEqual(await tokensOf(`data:image/png;base64,${url}`), white)
  assert.deepEqual(await tokensOf({ base64: url }), white)
  // Some writers escape what addresses reserve, and files need no base64.
  assert.deepEqual(await tokensOf(`data:image/png;base64,${encodeURIComponent(url)}`), white)
  const escaped = Array.from(Buffer.from(url, 'base64'), (byte) => `%${byte.toString(16).padStart(2, '0')}`)
  assert.deepEqual(await tokensOf(`data:image/png,${escaped.join('')}`), white)
  assert.deepEqual(await tokensOf(new Blob([cases['BMP with alpha']![0] as Uint8Array<ArrayBuffer>])), white)
})

/** Inserts a chunk of EXIF data before the pixels. Its checksum is not read. */
function withOrientation(png: Uint8Array, orientation: number, little: boolean): Uint8Array {
  const chunk = new DataView(new ArrayBuffer(12 + 26))
  const set16 = (at: number, value: number) => chunk.setUint16(8 + at, value, little)
  const set32 = (at: number, value: number) => chunk.setUint32(8 + at, value, little)
  chunk.setUint32(0, 26)
  ;[...'eXIf'].forEach((letter, i) => chunk.setUint8(4 + i, letter.charCodeAt(0)))
  chunk.setUint16(8, little ? 0x4949 : 0x4d4d)
  set16(2, 42)
  set32(4, 8)
  set16(8, 1)
  set16(10, 0x112)
  set16(12, 3)
  set32(14, 1)
  set16(18, orientation)
  const end = 8 + 25 // the signature and the header
  return new Uint8Array([...png.subarray(0, end), ...new Uint8Array(chunk.buffer), ...png.subarray(end)])
}

test('EXIF turns PNG files as sharp turns others, and profiles change nothing', async () => {
  const png = await opaque().png().toBuffer()
  const seen = new Set<string>()
  for (let orientation = 1; orientation <= 8; orientation++) {
    const other = await opaque().webp({ lossless: true }).withMetadata({ orientation }).toBuffer()
    const tokens = await tokensOf(other)
    for (const little of [false, true])
      assert.deepEqual(
        await tokensOf(withOrientation(png, orientation, little)),
        tokens,
        `orientation ${orientation}`,
      )
    seen.add(tokens.join(' '))
  }
  assert.equal(seen.size, 8)
  const profiled = () => opaque().withIccProfile('p3')
  const [one, other] = [
    await profiled().png().toBuffer(),
    await profiled().webp({ lossless: true }).toBuffer(),
  ]
  const stored = await sharp(one, { ignoreIcc: true }).raw().toBuffer()
  assert.notDeepEqual(new Uint8Array(stored), rgb)
  for (const file of [one, other]) assert.deepEqual(await tokensOf(file), await tokensOf(pixels(stored)))
})

test('broken images are refused', async () => {
  const png = await opaque().png({ progressive: true }).toBuffer()
  const bmp = bmpOf(24, bgr)
  const huge = bmp.slice()
  new DataView(huge.buffer).setInt32(18, 2 ** 30, true)
  // A small file that claims a large image: nothing of that size is allocated.
  const bomb = png.slice()
  new DataView(bomb.buffer, bomb.byteOffset).setUint32(16, 8192)
  new DataView(bomb.buffer, bomb.byteOffset).setUint32(20, 8192)
  for (const [image, code] of [
    [png.subarray(0, png.length - 40), 'invalid-argument'],
    [bomb, 'invalid-argument'],
    [bmp.subarray(0, bmp.length - 10), 'invalid-argument'],
    [bmp.subarray(0, 30), 'invalid-argument'],
    [huge, 'out-of-range'],
    ['data:image/png;base64,%', 'invalid-argument'],
    ['data:image/png;base64,*', 'invalid-argument'],
    ['data:image/png,%zz', 'invalid-argument'],
    ['https://example.org/x.png', 'invalid-argument'],
    [{ base64: '*' }, 'invalid-argument'],
  ] as const)
    await assert.rejects(tokensOf(image), { code })
})

test('long images are taken', async () => {
  const long = { width: 3000, height: 2, data: new Uint8Array(18_000) }
  assert.ok((await tokensOf(long)).length > 0)
})

const references = mediaVectors('vision')

/** Projectors whose keys give an image more tokens than the context has: by its size, by a grid, and by tiles. */
const kMany: Record<string, [name: string, keys: Record<string, number | number[]>, tokens: number]> = {
  'an image that is not shrunk': ['dots_ocr', { 'clip.vision.image_max_pixels': 2_000_000 }, 125 ** 2],
  'a grid': ['janus_pro', { 'clip.vision.image_grid_pinpoints': [1600, 1600] }, 16 * (100 ** 2 + 1)],
  'the largest grid': [
    'janus_pro',
    { 'clip.vision.image_grid_pinpoints': [8192, 8192] },
    16 * (512 ** 2 + 1),
  ],
  ...(!references.skip && {
    tiles: ['idefics3', { 'clip.vision.preproc_image_size': 4096 }, 16 * (64 ** 2 + 1)],
  }),
}

test('an image with more tokens than the context is refused before it is encoded', async () => {
  const { open } = await loadNodePackage()
  const square: Engine.MediaPart = {
    type: 'image',
    image: { width: 1000, height: 1000, data: new Uint8Array(3_000_000) },
  }
  for (const [name, [from, keys, count]] of Object.entries(kMany)) {
    const ofReference = from === 'idefics3'
    const original = ofReference ? references.bytesOf(from, 'mmproj.gguf') : madeProjector(from).projector
    using file = await open(original)
    const builder = await file.edit()
    for (const [key, value] of Object.entries(keys)) builder.set(key, value)
    const edited = await (await builder.build()).bytes()
    const bytes = ofReference ? references.bytesOf(from, 'model.gguf') : textModel
    const options = { projector: edited, contextLength: 64, threads: 1 }
    using model = await load(await withTemplate(open, bytes), options)
    let steps = 0
    const onProgress = () => void steps++
    const message = new RegExp(`needs ${count} tokens, and the context has 64`)
    const refused = { code: 'out-of-range', message }
    await assert.rejects(model.encodeMedia(square, { onProgress }), refused, name)
    assert.equal(steps, 0, name)
    const messages = [{ role: 'user', content: [square, { type: 'text', text: 'What?' } as const] }]
    await assert.rejects(textOf(model.chat(messages, { maxTokens: 1 })), refused, name)
    // The model can still be used.
    let done: Engine.GenerateResult | undefined
    await textOf(model.generate([1, 2, 3], { maxTokens: 1, ignoreEnd: true, onDone: (r) => void (done = r) }))
    assert.equal(done?.tokens, 1, name)
  }
  // The same image fits where the projector shrinks it: to 1,500 pixels, 64 for each token.
  using model = await load(textModel, { projector, contextLength: 64, threads: 1 })
  const { tokens } = await model.encodeMedia(square)
  const n = tokens.filter((id) => id < -1).length
  assert.ok(n > 0 && n <= 24, `${n} tokens`)
})

interface WavParts {
  kind?: number
  channels?: number
  rate?: number
  bits?: number
  id?: string
  claimed?: number
  extra?: Uint8Array
}

function wavOf(data: Uint8Array, parts: WavParts = {}): Uint8Array {
  const { kind = 1, channels = 1, rate = 8000, bits = 16, id = 'RIFF', extra = new Uint8Array(0) } = parts
  const head = Buffer.alloc(12 + extra.length + 24 + 8)
  head.write(id, 0)
  head.writeUInt32LE(id === 'RIFF' ? head.length + data.length - 8 : 0xffffffff, 4)
  head.write('WAVE', 8)
  head.set(extra, 12)
  const at = 12 + extra.length
  head.write('fmt ', at)
  head.writeUInt32LE(16, at + 4)
  head.writeUInt16LE(kind, at + 8)
  head.writeUInt16LE(channels, at + 10)
  head.writeUInt32LE(rate, at + 12)
  head.writeUInt16LE(bits, at + 22)
  head.write('data', at + 24)
  head.writeUInt32LE(parts.claimed ?? data.length, at + 28)
  return new Uint8Array([...head, ...data])
}

/** A WAV file with all numbers, and samples of so many bytes, in big-endian order. */
function rifx(wav: Uint8Array, sampleBytes: number): Uint8Array {
  const out = wav.slice()
  out.set(Buffer.from('RIFX'))
  const turn = (from: number, size: number) => out.subarray(from, from + size).reverse()
  for (const at of [4, 16, 24, 28, 40]) turn(at, 4)
  for (const at of [20, 22, 32, 34]) turn(at, 2)
  for (let at = 44; at < out.length; at += sampleBytes) turn(at, sampleBytes)
  return out
}

/** The first chunk of RF64: sizes of 64 bits. */
function ds64(size: number): Uint8Array {
  const chunk = Buffer.alloc(36)
  chunk.write('ds64', 0)
  chunk.writeUInt32LE(28, 4)
  chunk.writeBigUInt64LE(BigInt(size), 16)
  return chunk
}

test('WAV files of telephones, long ones and cut ones are read', () => {
  const short = new Uint8Array(Int16Array.of(0, 16384, -32768).buffer)
  const samples = [0, 0.5, -1]
  const claims = (claimed: number) => new RegExp(`claims ${claimed} bytes of samples, but has 6`)
  const cases: Record<string, [Uint8Array, number[], RegExp?]> = {
    // From the tables of ITU-T G.711.
    'mu-law': [
      wavOf(Uint8Array.of(0xff, 0x7f, 0x80, 0x00, 0xef, 0x6f), { kind: 7, bits: 8 }),
      [0, 0, 32124, -32124, 132, -132].map((x) => x / 32768),
    ],
    'A-law': [
      wavOf(Uint8Array.of(0xd5, 0x55, 0xaa, 0x2a, 0xc5, 0x45), { kind: 6, bits: 8 }),
      [8, -8, 32256, -32256, 264, -264].map((x) => x / 32768),
    ],
    '12 bits': [wavOf(short, { bits: 12 }), samples],
    RF64: [wavOf(short, { id: 'RF64', claimed: 0xffffffff, extra: ds64(6) }), samples],
    RIFX: [rifx(wavOf(short), 2), samples],
    'RIFX, 24 bits': [
      rifx(wavOf(Uint8Array.of(0, 0, 0x40, 0, 0, 0x80, 1, 2, 3), { bits: 24 }), 3),
      [0.5, -1, 0x030201 / 2 ** 23],
    ],
    'RIFX, floats': [
      rifx(wavOf(new Uint8Array(Float32Array.of(0.5, -1).buffer), { kind: 3, bits: 32 }), 4),
      [0.5, -1],
    ],
    'RF64, more behind': [wavOf(short, { id: 'BW64', claimed: 0xffffffff, extra: ds64(4) }), [0, 0.5]],
    'RF64, cut': [
      wavOf(short, { id: 'RF64', claimed: 0xffffffff, extra: ds64(1e10) }),
      samples,
      claims(1e10),
    ],
    'of a pipe': [wavOf(short, { claimed: 0xffffffff }), samples],
    'of another pipe': [wavOf(short, { claimed: 0x7ffff000 }), samples, claims(0x7ffff000)],
    cut: [wavOf(short, { claimed: 1000 }), samples, claims(1000)],
  }
  for (const [name, [bytes, expected, warning]] of Object.entries(cases)) {
    const sound = decodeWav(bytes)
    assert.deepEqual([...sound.samples], expected, name)
    if (warning) assert.match(sound.warning!, warning, name)
    else assert.equal(sound.warning, undefined, name)
  }
  for (const rate of [1, 100, 768_001])
    assert.throws(() => decodeWav(wavOf(short, { rate })), { code: 'invalid-argument', offset: 20 })
})

const commands = join(kRoot, 'tests/fixtures/commands.gguf')
const spoken = new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/commands.wav')))

test('audio comes as base64, as a data: address, cut, and from standard input', async () => {
  using model = await load<Engine.SpeechModel>(new Uint8Array(readFileSync(commands)), { threads: 1 })
  const { text, warnings } = await model.transcribe(spoken)
  assert.deepEqual(warnings, [])
  const base64 = Buffer.from(spoken).toString('base64')
  assert.equal((await model.transcribe(`data:audio/wav;base64,${base64}`)).text, text)
  assert.equal((await model.transcribe({ base64 })).text, text)
  const cut = await model.transcribe(spoken.slice(0, spoken.length >> 1))
  assert.equal(cut.warnings.length, 1)
  assert.ok(cut.text.length > 0 && text.startsWith(cut.text.slice(0, 10)))
  await assert.rejects(model.transcribe({ samples: new Float32Array(10), sampleRate: 100 }), {
    code: 'invalid-argument',
  })
  const out = execFileSync(
    process.execPath,
    [packedFile('wasm/dist/cli.js'), 'transcribe', '-', '-m', commands, '--threads', '1'],
    { input: spoken, encoding: 'utf8' },
  )
  assert.equal(out.trim().replaceAll(/\s+/g, ' '), text.replaceAll(/\s+/g, ' '))
})
