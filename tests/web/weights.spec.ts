// The weights of a model in the panel Run: what is fetched is announced, large transfers are asked about, and shown while they run.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { bytesContent, sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { violations } from './axe.ts'
import { expect, opened, test } from './site.ts'

const model = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))

test('a large download is asked about with its size and whether it fits, and the message stays', async ({
  page,
  site,
}) => {
  const { header, size } = writeHeader(previewModel(kPreviewShapes.find(({ name }) => name === 'spm-32k')!))
  site.add('/large.gguf', sparseContent(header, size))
  // A phone, which has less memory than WebAssembly can address.
  await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'deviceMemory', { value: 2 }))
  await site.visit(page, '/large.gguf', '#run')
  await opened(page)
  await expect(
    page.getByText(/^To fetch: [\d.]+ GB\. The model takes about [\d.]+ GiB of memory\./),
  ).toBeVisible()
  const message = page.getByRole('textbox', { name: 'Message', exact: true })
  await message.fill('Tell me of bees')
  await page.getByRole('button', { name: 'Send' }).click()
  const question = page.getByRole('region', { name: /^Load [\d.]+ GB first\?/ })
  await expect(question).toContainText(/A page can have 2 GiB here: it does not fit\./)
  await expect(question).toContainText('Otherwise a reload fetches it again.')
  expect(await violations(page)).toEqual([])
  await page.reload()
  await expect(message).toHaveValue('Tell me of bees')
  site.reset()
  await page.getByRole('button', { name: 'Send' }).click()
  await question.getByRole('button', { name: 'Not now' }).click()
  await expect(question).toHaveCount(0)
  await expect(message).toHaveValue('Tell me of bees')
  await expect(page.getByRole('article')).toHaveCount(0)
  // The user knows better: the engine says why it cannot.
  await page.getByRole('button', { name: 'Send' }).click()
  await question.getByRole('button', { name: 'Load it' }).click()
  await expect(page.getByRole('article', { name: 'Model' }).getByRole('alert')).toContainText('needs')
  expect(site.counts('/large.gguf').bytes).toBeLessThan(size / 4)
})

test('a bar shows the rate and the time left, and a reload keeps the message', async ({ page, site }) => {
  await using slow = await startServer({ bandwidth: 200_000 })
  slow.add('/slow.gguf', bytesContent(model))
  await site.visit(page, `${slow.url}/slow.gguf`, '#run')
  await opened(page)
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Tell me of bees')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('progressbar', { name: 'Loading the weights' })).toBeVisible()
  await expect(page.getByText(/ of 1\.\d+ MB, [\d.]+ kB a second, \d+ s left/)).toBeVisible()
  await page.reload()
  await expect(page.getByRole('article', { name: 'You' })).toContainText('Tell me of bees')
  await expect(page.getByText('The page was closed before the end.')).toBeVisible()
  slow.setBandwidth(Infinity)
  await page.getByRole('button', { name: 'Answer again' }).click()
  await expect(page.getByRole('status').filter({ hasText: /tokens?, .*ms\./ })).toBeVisible()
  await expect(page.getByRole('progressbar')).toHaveCount(0)
})

test('keeping the file begins at once, and can be stopped and continued', async ({ page, site }) => {
  site.add('/at-once.gguf', bytesContent(model))
  await site.visit(page, '/at-once.gguf', '#run')
  await opened(page)
  const keep = page.getByLabel(/Keep the file in this browser/)
  site.setBandwidth(400_000)
  try {
    await keep.check()
    await expect(page.getByRole('progressbar', { name: 'Download' })).toBeVisible()
    await expect.poll(() => site.counts('/at-once.gguf').bytes).toBeGreaterThan(600_000)
    await keep.uncheck()
    await expect(page.getByText(/of it are kept, and loading continues from there/)).toBeVisible()
  } finally {
    site.setBandwidth(Infinity)
  }
  await page.getByRole('button', { name: 'Continue now' }).click()
  await expect(page.getByText('It is kept.')).toBeVisible()
  await expect(page.getByText(/To fetch/)).toHaveCount(0)
})
