// Images and audio in the formats that optional packages decode in Node: sharp and audio-decode. Without them, the error
// names the package.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import sharp from 'sharp'
import type * as Engine from 'ggufscope/engine'
import { madeProjector } from '../fixtures/made-projectors.ts'
import { engine } from './engine.ts'
import { kRoot, packedFile } from './packed.ts'

const { decodeWav, load } = engine
const fixture = (name: string) => readFileSync(join(kRoot, 'tests/fixtures', name))
const { model: textModel, projector } = madeProjector('dots_ocr')
const seeing = await load(textModel, { projector, contextLength: 2048, maxForks: 0, threads: 1 })
after(() => seeing.close())

const [width, height] = [52, 28]
/** Pixels whose colors depend on their place. */
const data = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * 7 + (i % 3) * 40) % 256)
const pixels = () => sharp(data, { raw: { width, height, channels: 3 } })
const tokensOf = async (image: Engine.ImageInput) =>
  (await seeing.encodeMedia({ type: 'image', image })).tokens

test('sharp decodes images to their pixels, turned as the file says', async () => {
  const upright = await tokensOf({ width, height, data })
  const webp = await pixels().webp({ lossless: true }).toBuffer()
  // Ids of an image's tokens are a hash of its pixels.
  assert.deepEqual(await tokensOf(webp), upright)
  assert.deepEqual(await tokensOf(new Blob([new Uint8Array(webp)])), upright)

  // Orientation 6: to be turned clockwise by a quarter.
  const turned = new Uint8Array(data.length)
  for (let y = 0; y < width; y++)
    for (let x = 0; x < height; x++)
      for (let c = 0; c < 3; c++)
        turned[(y * height + x) * 3 + c] = data[((height - 1 - x) * width + y) * 3 + c]!
  const lying = await pixels().webp({ lossless: true }).withMetadata({ orientation: 6 }).toBuffer()
  assert.deepEqual(await tokensOf(lying), await tokensOf({ width: height, height: width, data: turned }))

  const gray = await pixels().greyscale().jpeg().toBuffer()
  assert.equal((await tokensOf(gray)).length, upright.length)
})

test('images that sharp cannot decode are errors', async () => {
  const large = await sharp({ create: { width: 8193, height: 8193, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer()
  await assert.rejects(tokensOf(large), { code: 'out-of-range', message: /more than 67108864 pixels/ })
  const jpeg = await pixels().jpeg().toBuffer()
  for (const bytes of [new Uint8Array([0xff, 0xd8, 0xff]), jpeg.subarray(0, 100), new Uint8Array(0)])
    await assert.rejects(tokensOf(bytes), { code: 'invalid-argument', message: /cannot be decoded/ })
})

/** An AIFF file of 16-bit samples: big-endian chunks, the sample rate as an 80-bit float. */
function aiffOf(samples: Float32Array, sampleRate: number): Uint8Array {
  const size = samples.length * 2
  const file = Buffer.alloc(54 + size)
  file.write('FORM', 0)
  file.writeUInt32BE(46 + size, 4)
  file.write('AIFFCOMM', 8)
  file.writeUInt32BE(18, 16)
  file.writeUInt16BE(1, 20)
  file.writeUInt32BE(samples.length, 22)
  file.writeUInt16BE(16, 26)
  const exponent = Math.floor(Math.log2(sampleRate))
  file.writeUInt16BE(16383 + exponent, 28)
  file.writeUInt32BE(sampleRate * 2 ** (31 - exponent), 30)
  file.write('SSND', 38)
  file.writeUInt32BE(8 + size, 42)
  samples.forEach((x, i) => file.writeInt16BE(Math.max(-32768, Math.round(x * 32768)), 54 + 2 * i))
  return new Uint8Array(file)
}

test('audio-decode decodes other sound files', async () => {
  const spoken = JSON.parse(fixture('commands.json').toString()) as { text: string }[]
  const { samples, sampleRate } = decodeWav(new Uint8Array(fixture('commands.wav')))
  using hearing = await load<Engine.SpeechModel>(new Uint8Array(fixture('commands.gguf')), { threads: 1 })
  const { segments } = await hearing.transcribe(aiffOf(samples, sampleRate))
  assert.deepEqual(
    segments.map(({ text }) => text.trim()),
    spoken.map(({ text }) => text),
  )
  await assert.rejects(hearing.transcribe(new TextEncoder().encode('This is not a sound.')), {
    code: 'invalid-argument',
  })
})

test('without the packages, the errors name them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-alone-'))
  try {
    cpSync(packedFile('wasm/dist'), join(folder, 'dist'), { recursive: true })
    cpSync(packedFile('package.json'), join(folder, 'package.json'))
    const url = pathToFileURL(join(folder, 'dist/engine/index.js')).href
    const alone = (await import(url)) as typeof Engine
    using model = await alone.load(textModel, { projector, contextLength: 2048, maxForks: 0, threads: 1 })
    const image = await pixels().webp().toBuffer()
    const code = 'unsupported'
    await assert.rejects(model.encodeMedia({ type: 'image', image }), {
      code,
      message: /install the package sharp/,
    })
    using hearing = await alone.load<Engine.SpeechModel>(new Uint8Array(fixture('commands.gguf')), {
      threads: 1,
    })
    const sound = aiffOf(new Float32Array(100), 16000)
    await assert.rejects(hearing.transcribe(sound), { code, message: /install the package audio-decode/ })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
