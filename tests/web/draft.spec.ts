// The panel Run with a draft model: found beside the model, of an address, a local file or the model's own heads, and refused.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { bytesContent, sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { violations } from './axe.ts'
import { cutOff } from './layout.ts'
import { expect, test, type Page } from './site.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../fixtures/golden', path))
const answered = (page: Page) => page.getByText(/[\d.]+ % of the tokens were proposed by the draft model\./)

/** Completes a text with a short answer: these models have random weights. */
async function complete(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Text to complete' }).fill('a')
  await page.getByRole('button', { name: 'Complete', exact: true }).click()
}

test('a draft model beside the model is offered, and one of another vocabulary is refused', async ({
  page,
  site,
}) => {
  const id = 'someone/drafted'
  const files = { 'model.gguf': 'arch/llama/model.gguf', 'eagle3-model.gguf': 'draft/eagle3/model.gguf' }
  const list = Object.entries(files).map(([path, from]) => {
    site.add(`/${id}/resolve/main/${path}`, read(from))
    return { type: 'file', path, size: read(from).length }
  })
  site.add(`/api/models/${id}/tree/main`, bytesContent(Buffer.from(JSON.stringify(list)), 'application/json'))
  await page.setViewportSize({ width: 390, height: 844 })
  await site.visit(page, `/${id}/resolve/main/model.gguf`, '#run')
  await page.getByText('Options', { exact: true }).click()
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel(/Longest answer/).fill('24')
  await page.getByText('Settings', { exact: true }).click()
  await page.getByText('Draft model', { exact: true }).click()
  await page.getByRole('button', { name: /Use eagle3-model.gguf/ }).click()
  await expect(page.getByText('Tokens are proposed by eagle3-model.gguf.')).toBeVisible()
  // What it costs is said before anything but its header is fetched.
  await expect(
    page.getByText(/^Its weights, [\d.]+ kB from 127\.0\.0\.1:\d+, are loaded .* it fits\.$/),
  ).toBeVisible()
  await page.getByLabel('Tokens at a time').selectOption('2')
  expect(await cutOff(page)).toEqual([])
  expect(await violations(page)).toEqual([])
  await page.getByText('Options', { exact: true }).click()
  await complete(page)
  await expect(answered(page)).toBeVisible()

  await page.getByText('Options', { exact: true }).click()
  await expect(page.getByText('It is loaded.')).toBeVisible()
  await page.getByRole('button', { name: 'Remove the draft model' }).click()
  await page.getByLabel('Address of the draft model').fill(kSample)
  await page.getByRole('button', { name: 'Open', exact: true }).last().click()
  await expect(page.getByText(`Tokens are proposed by ${kSample}.`)).toBeVisible()
  await page.getByText('Options', { exact: true }).click()
  await complete(page)
  await expect(page.getByText("the draft model's vocabulary has a different size")).toBeVisible()
})

test('keeping the file keeps its draft model, too', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  const id = 'someone/kept'
  const files = { 'model.gguf': 'arch/llama/model.gguf', 'eagle3-model.gguf': 'draft/eagle3/model.gguf' }
  const list = Object.entries(files).map(([path, from]) => {
    site.add(`/${id}/resolve/main/${path}`, read(from))
    return { type: 'file', path, size: read(from).length }
  })
  site.add(`/api/models/${id}/tree/main`, bytesContent(Buffer.from(JSON.stringify(list)), 'application/json'))
  const take = async () => {
    await page.getByText('Draft model', { exact: true }).click()
    await page.getByRole('button', { name: /Use eagle3-model.gguf/ }).click()
  }
  await site.visit(page, `/${id}/resolve/main/model.gguf`, '#run')
  await take()
  await expect(page.getByText('With it: eagle3-model.gguf.')).toBeVisible()
  await page.getByLabel(/Keep the file in this browser/).check()
  await expect(page.getByText('It is kept.')).toBeVisible()
  await expect(page.getByText(/To fetch/)).toHaveCount(0)
  const ofThisComputer = page.getByText(/^Its weights, [\d.]+ kB of this computer,/)
  await expect(ofThisComputer).toBeVisible()

  await page.reload()
  await take()
  await expect(ofThisComputer).toBeVisible()
  const before = site.counts(`/${id}/resolve/main/eagle3-model.gguf`).bytes
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel(/Longest answer/).fill('8')
  await complete(page)
  await expect(answered(page)).toBeVisible()
  expect(site.counts(`/${id}/resolve/main/eagle3-model.gguf`).bytes).toBe(before)

  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await expect(page.getByText(/^Its weights, [\d.]+ kB from /)).toBeVisible()
})

test('a model with heads drafts for itself', async ({ page, site }) => {
  site.add('/heads.gguf', read('draft/mtp-glm4moe/model.gguf'))
  await site.visit(page, '/heads.gguf', '#run')
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel(/Longest answer/).fill('24')
  await page.getByText('Draft model', { exact: true }).click()
  await page.getByRole('button', { name: 'Use the heads of this file (MTP)' }).click()
  await complete(page)
  await expect(answered(page)).toBeVisible()
})

test('a large draft model is asked about, and one that opens slowly can be stopped', async ({
  page,
  site,
}) => {
  test.skip(!kAll, 'takes long')
  const { header, size } = writeHeader(previewModel(kPreviewShapes.find(({ name }) => name === 'spm-32k')!))
  site.add('/large-draft.gguf', sparseContent(header, size))
  await using slow = await startServer({ bandwidth: 20_000 })
  slow.add('/slow.gguf', bytesContent(Buffer.from(header)))
  await site.visit(page, kSample, '#run')
  await page.getByText('Draft model', { exact: true }).click()
  const address = page.getByLabel('Address of the draft model')
  const opens = page.getByRole('button', { name: 'Open', exact: true }).last()
  await address.fill(`${slow.url}/slow.gguf`)
  await opens.click()
  const reading = page.getByText(/^[\d.]+ kB of the header read$/)
  await expect(reading).toBeVisible()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await expect(reading).toHaveCount(0)
  await address.fill('/large-draft.gguf')
  await opens.click()
  await expect(page.getByText(/^Its weights, [\d.]+ GB from .* are loaded/)).toBeVisible()
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Tell me of bees')
  const { bytes } = site.counts('/large-draft.gguf')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  const question = page.getByRole('region', { name: /^Load [\d.]+ GB first\?/ })
  await expect(question).toContainText(/It is loaded with large-draft\.gguf: [\d.]+ GB from /)
  await expect(question.getByLabel('Keep it for the next visit')).toBeVisible()
  await question.getByRole('button', { name: 'Not now' }).click()
  expect(site.counts('/large-draft.gguf').bytes).toBe(bytes)
})
