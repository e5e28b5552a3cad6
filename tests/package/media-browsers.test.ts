// Images in browsers: the engine's worker decodes the formats of the browser, and gives the tokens that Node gives.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import sharp from 'sharp'
import { kBrowserNames, missing, startBrowser, type BrowserName } from '../browsers/drive.ts'
import { madeProjector } from '../fixtures/made-projectors.ts'
import { startServer } from '../server/server.ts'
import { engine } from './engine.ts'
import { packedFile } from './packed.ts'

const { model: textModel, projector } = madeProjector('dots_ocr')
const home = await startServer()
after(() => home.close())
home.mount('/package', packedFile('.'))
home.add('/index.html', '<!doctype html><title>test</title><link rel="icon" href="data:,">')
home.add('/model.gguf', textModel)
home.add('/mmproj.gguf', projector)

const [width, height] = [29, 53]
/** Each pixel is opaque or transparent, so that no browser rounds. */
const rgba = Uint8Array.from({ length: 4 * width * height }, (_, i) =>
  i % 4 === 3 ? 255 * ((i >> 2) & 1) : (i * 7 + (i % 4) * 40) % 256,
)
const picture = () => sharp(rgba, { raw: { width, height, channels: 4 } })
const files: Record<string, Uint8Array> = {
  PNG: await picture().png().toBuffer(),
  WebP: await picture().webp({ lossless: true, exact: true }).toBuffer(),
  // Of one gray, because decoders of JPEG round in different ways. It lies after it was turned.
  'JPEG, turned': await sharp({ create: { width, height, channels: 3, background: '#808080' } })
    .jpeg()
    .withMetadata({ orientation: 6 })
    .toBuffer(),
  'no image': Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
}
// Of two inks without black, which every rule of rounding keeps. Chromium's rule is that of Node.
const kChromiumOnly: Record<string, Uint8Array> = {
  'JPEG, CMYK': await sharp({ create: { width, height, channels: 3, background: '#ff0000' } })
    .toColourspace('cmyk')
    .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
    .toBuffer(),
  AVIF: await picture().avif({ lossless: true }).toBuffer(),
}
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
async function tokensOf(image: Uint8Array): Promise<string> {
  using model = await engine.load(textModel, { projector, contextLength: 256, threads: 1 })
  return (await model.encodeMedia({ type: 'image', image })).tokens.join(' ')
}

test('CMYK is the plain product of its inks, with a color profile or without one', async () => {
  const { decodedBySharp } = (await import(pathToFileURL(packedFile('wasm/dist/media/sharp.js')).href)) as {
    decodedBySharp(bytes: Uint8Array): Promise<{ data: Uint8Array }>
  }
  const inks = () =>
    sharp({ create: { width, height, channels: 3, background: '#ff0000' } }).toColourspace('cmyk')
  const plain = await decodedBySharp(await inks().jpeg({ quality: 100 }).toBuffer())
  assert.deepEqual([...plain.data.subarray(0, 3), plain.data.length], [255, 0, 0, 3 * width * height])
  const profiled = await decodedBySharp(
    await inks().withMetadata({ icc: 'cmyk' }).jpeg({ quality: 100 }).toBuffer(),
  )
  const [red, green, blue] = profiled.data as unknown as readonly [number, number, number]
  assert.ok(red > 235 && green < 20 && blue < 30, `${red} ${green} ${blue}`)
})

function suite(browserName: BrowserName): void {
  test('an image of a format that the browser decodes gives the tokens of Node', async () => {
    const all = { ...files, ...(browserName === 'chromium' && kChromiumOnly) }
    const images = Object.fromEntries(Object.entries(all).map(([name, file]) => [name, base64(file)]))
    const browser = await startBrowser(browserName)
    try {
      const page = await browser.newPage()
      await page.goto(`${home.url}/index.html`)
      const seen = await page.evaluate(async (images) => {
        const at = (path: string) => new URL(path, location.href).href
        const { load } = (await import(
          at('/package/wasm/dist/engine/index.js')
        )) as typeof import('ggufscope/engine')
        const options = { projector: at('/mmproj.gguf'), contextLength: 256, threads: 1 }
        const model = await load(at('/model.gguf'), options)
        const seen: Record<string, string> = {}
        for (const [name, base64] of Object.entries(images)) {
          const blob = await (await fetch(`data:application/octet-stream;base64,${base64}`)).blob()
          for (const [form, image] of Object.entries({ base64: { base64 }, Blob: blob }))
            seen[`${name}, ${form}`] = await model.encodeMedia({ type: 'image', image }).then(
              ({ tokens }) => tokens.join(' '),
              (error: { code?: string }) => `${error.code}`,
            )
        }
        model.close()
        return seen
      }, images)
      const expected: Record<string, string> = {}
      for (const [name, file] of Object.entries(all)) {
        const tokens = name === 'no image' ? 'invalid-argument' : await tokensOf(file)
        for (const form of ['base64', 'Blob']) expected[`${name}, ${form}`] = tokens
      }
      assert.deepEqual(seen, expected)
    } finally {
      await browser.close()
    }
  })
}

for (const name of kBrowserNames) describe(name, { skip: missing(name) }, () => suite(name))
