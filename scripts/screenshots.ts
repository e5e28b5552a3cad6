// Takes screenshots of the viewer: every panel, phone and desktop, light and dark, with a large vocabulary open.
// node scripts/screenshots.ts [OUT, default build/screenshots] [TEXT: only pictures whose name contains it]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from '@playwright/test'
import { writeHeader } from '../tests/fixtures/gguf.ts'
import { hostileKeys, kPreviewShapes, previewModel } from '../tests/fixtures/models.ts'
import { sparseContent } from '../tests/server/content.ts'
import { startServer } from '../tests/server/server.ts'
import { kBrowser } from '../tests/web/browser.ts'
import { kSample, kSpeechSample } from '../web/src/lib/file/samples.ts'

const root = join(import.meta.dirname, '..')
const [out = join(root, 'build/screenshots'), only = ''] = process.argv.slice(2)
mkdirSync(out, { recursive: true })

await using server = await startServer({ isolated: true })
server.mount('/', join(root, 'web/dist'))
// Delay high enough that previews read headers in parts.
await using far = await startServer({ delay: 150, bandwidth: 3e6 })
for (const shape of kPreviewShapes) {
  const { header, size } = writeHeader(previewModel(shape))
  for (const one of [server, far]) one.add(`/${shape.name}.gguf`, sparseContent(header, size))
}
const hostile = writeHeader(hostileKeys())
server.add('/hostile.gguf', sparseContent(hostile.header, hostile.size))
server.plan('/slow.gguf', { replace: '/bpe-128k.gguf', stall: 2_000_000 })

const big = '?url=/spm-262k.gguf'
const pages: [name: string, address: string][] = [
  ['start', ''],
  ['loading', '?url=/slow.gguf'],
  ['failure', '?url=/missing.gguf'],
  ['overview', big],
  ['overview-moe', '?url=/bpe-129k.gguf'],
  ['overview-sparse', `?url=${far.url}/spm-262k.gguf`],
  ['metadata-sparse', `?url=${far.url}/spm-262k.gguf#metadata`],
  ['overview-sample', `?url=${kSample}`],
  ['metadata', `${big}#metadata`],
  ['metadata-array', `${big}#metadata/tokenizer.ggml.tokens`],
  ['metadata-text', `?url=${kSample}#metadata/tokenizer.chat_template`],
  ['metadata-hostile', '?url=/hostile.gguf#metadata'],
  ['tensors', `${big}#tensors`],
  ['tensors-detail', `?url=${kSample}#tensors/token_embd.weight`],
  ['graph', `?url=${kSample}#graph`],
  ['graph-moe', '?url=/bpe-129k.gguf#graph'],
  ['graph-bytes', `${big}#graph/bytes`],
  ['graph-layers', '?url=/bpe-129k.gguf#graph/layers'],
  ['tokenizer', `?url=${kSample}#tokenizer`],
  ['transcribe', `?url=${kSpeechSample}#transcribe`],
  ['edit', `?url=${kSample}#edit`],
  ['edit-template', `?url=${kSample}#edit/keys%2Ftokenizer.chat_template`],
  ['edit-array', `${big}#edit/keys%2Ftokenizer.ggml.tokens`],
  ['edit-tokens', `?url=${kSample}#edit/tokens`],
  ['convert', `?url=${kSample}#convert`],
  ['convert-quantize', `${big}#convert`],
  ['template', `?url=${kSample}#template`],
  ['run', `?url=${kSample}#run`],
  ['findings', '?url=/hostile.gguf#findings'],
]
const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1440, height: 900 } }

const browser = await chromium.launch(kBrowser)
for (const [sizeName, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
    for (const [name, address] of pages) {
      const file = `${name}-${sizeName}-${colorScheme}.png`
      if (!file.includes(only)) continue
      const page = await context.newPage()
      page.on('pageerror', (error) => console.error(`${file}: ${error}`))
      page.on('console', (message) => {
        if (message.type() === 'error' && name !== 'failure') console.error(`${file}: ${message.text()}`)
      })
      await page.goto(`${server.url}/${address}`)
      await page.waitForTimeout(name === 'loading' || name.endsWith('sparse') ? 2500 : 900)
      await page.screenshot({ path: join(out, file) })
      // A page must not be wider than its window.
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      if (width > viewport.width) console.error(`${file}: ${width} px wide`)
      await page.close()
    }
    await context.close()
  }
}
// The picture of the README.
if ('readme'.includes(only)) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 860 }, colorScheme: 'light' })
  await page.goto(`${server.url}/?url=${kSample}`)
  await page.waitForTimeout(900)
  await page.screenshot({ path: join(root, 'web/screenshot.png') })
}
await browser.close()
