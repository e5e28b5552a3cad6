// Takes the documentation's pictures of the viewer, light and dark, and the one that links show in social networks, and
// writes them to web/docs/public. Needs the built viewer.
// node scripts/docs/pictures.ts [TEXT: only pictures whose name contains it]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, expect, type Page } from '@playwright/test'
import sharp from 'sharp'
import { writeHeader } from '../../tests/fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../../tests/fixtures/models.ts'
import { sparseContent } from '../../tests/server/content.ts'
import { startHub } from '../../tests/server/hub.ts'
import { startServer } from '../../tests/server/server.ts'
import { kBrowser } from '../../tests/web/browser.ts'
import { kPictureSize, kPictures, type PictureName } from '../../web/docs/.vitepress/pictures.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'

const root = join(import.meta.dirname, '../..')
const out = join(root, 'web/docs/public')
const [only = ''] = process.argv.slice(2)
mkdirSync(join(out, 'pictures'), { recursive: true })

await using server = await startServer({ isolated: true })
server.mount('/', join(root, 'web/dist'))

/** A hub with a model of 7 billion parameters in eight quantizations: headers only. */
const kTypesOf = {
  Q2_K: 'Q2_K',
  Q3_K_M: 'Q3_K',
  IQ4_XS: 'IQ4_XS',
  Q4_K_M: 'Q4_K',
  Q5_K_M: 'Q5_K',
  Q6_K: 'Q6_K',
  Q8_0: 'Q8_0',
  F16: 'F16',
}
await using storage = await startServer()
const shape = previewModel(kPreviewShapes.find(({ name }) => name === 'spm-32k')!)
shape.metadata!.find(([key]) => key === 'general.name')![1].value = 'Story 7B'
const files = Object.entries(kTypesOf).map(([name, type]) => {
  const tensors = shape.tensors!.map((tensor) => (tensor.shape.length > 1 ? { ...tensor, type } : tensor))
  const { header, size } = writeHeader({ ...shape, tensors })
  const path = `/story-7B-${name}.gguf`
  storage.add(path, sparseContent(header, size))
  return [path.slice(1), { size, at: storage.url + path }] as const
})
const hub = await startHub([
  { id: 'someone/story-7B-GGUF', downloads: 1200, files: Object.fromEntries(files) },
])

/** Opens the viewer and does what the picture shows. */
const kSteps: Record<PictureName, (page: Page) => Promise<void>> = {
  async viewer(page) {
    await page.goto(`${server.url}/?url=${kSample}`)
    await expect(page.getByRole('tablist', { name: 'Panels' })).toBeVisible()
  },
  async lens(page) {
    await page.goto(`${server.url}/?url=${kSample}#tensors/blk.0.attn_q.weight`)
    await expect(page.locator('[data-caption]')).not.toBeEmpty()
  },
  async graph(page) {
    await page.goto(`${server.url}/?url=${kSample}#graph`)
    await expect(page.locator('svg').first()).toBeVisible()
  },
  async hub(page) {
    await page.goto(server.url)
    await page.getByText('Server and access token').click()
    await page.getByLabel('Server', { exact: true }).fill(hub.url)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByLabel(/^Address of a GGUF file/).fill('someone/story-7B-GGUF')
    await page.keyboard.press('Enter')
    const fits = page.getByRole('region', { name: 'Models' }).getByText(/^(it fits|tight|it does not fit)$/)
    await expect(fits).toHaveCount(files.length)
  },
  async run(page) {
    await page.goto(`${server.url}/?url=${kSample}#run`)
    await page
      .getByRole('textbox', { name: 'Message', exact: true })
      .fill('Tell me a story about a fox and a lamp.')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect(
      page
        .getByRole('status')
        .filter({ hasText: /a second/ })
        .first(),
    ).toBeVisible({ timeout: 60_000 })
  },
}

const browser = await chromium.launch(kBrowser)
for (const name of Object.keys(kPictures) as PictureName[]) {
  for (const colorScheme of ['light', 'dark'] as const) {
    if (!`${name}-${colorScheme}`.includes(only)) continue
    const context = await browser.newContext({
      viewport: kPictureSize,
      colorScheme,
      reducedMotion: 'reduce',
      deviceScaleFactor: 1.5,
    })
    const page = await context.newPage()
    await kSteps[name](page)
    await page.evaluate(async () => {
      document.querySelectorAll<HTMLElement>(':focus').forEach((element) => element.blur())
      await document.fonts.ready
    })
    await page.mouse.move(0, 0)
    await page.waitForLoadState('networkidle')
    await sharp(await page.screenshot())
      .webp({ quality: 60, smartSubsample: true })
      .toFile(join(out, 'pictures', `${name}-${colorScheme}.webp`))
    await context.close()
  }
}
if ('social'.includes(only)) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 }, colorScheme: 'light' })
  await kSteps.viewer(page)
  await page.waitForLoadState('networkidle')
  await sharp(await page.screenshot())
    .png({ palette: true, quality: 90 })
    .toFile(join(out, 'social.png'))
}
await browser.close()
await hub.close()
