// The panel Run with a draft model: found beside the model, of an address, a local file or the model's own heads, and refused.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { bytesContent } from '../server/content.ts'
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
  await page.getByLabel('Tokens at a time').selectOption('2')
  expect(await cutOff(page)).toEqual([])
  expect(await violations(page)).toEqual([])
  await page.getByText('Options', { exact: true }).click()
  await complete(page)
  await expect(answered(page)).toBeVisible()

  await page.getByText('Options', { exact: true }).click()
  await page.getByRole('button', { name: 'Remove the draft model' }).click()
  await page.getByLabel('Address of the draft model').fill(kSample)
  await page.getByRole('button', { name: 'Open', exact: true }).last().click()
  await expect(page.getByText(`Tokens are proposed by ${kSample}.`)).toBeVisible()
  await page.getByText('Options', { exact: true }).click()
  await complete(page)
  await expect(page.getByText("the draft model's vocabulary has a different size")).toBeVisible()
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
