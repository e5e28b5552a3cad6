// A header of 6 MB over a slow link: known parts are shown when they arrive, and the rest is read on demand.
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { expect, opened, rowCount, test } from './site.ts'

const shape = kPreviewShapes[1]!
const model = previewModel(shape)
const { header, size } = writeHeader(model)
const tokens = model.metadata!.find(([key]) => key === 'tokenizer.ggml.tokens')![1].value as string[]

test('overview first, the tensor table next, arrays when they are opened', async ({ page, site }) => {
  const slow = await startServer({ delay: 250, bandwidth: 0.6e6 })
  slow.add('/large.gguf', sparseContent(header, size))
  await site.visit(page, `${slow.url}/large.gguf`)

  // The first keys appear after one round trip, during the search for the tensor table.
  const known = page.getByLabel('Known so far')
  await expect(known).toContainText('synthetic spm-262k')
  await expect(known).toContainText('131,072')
  await opened(page)
  await expect(page.getByText(/gemma|llama model of/i).first()).toBeVisible()
  const read = page.getByText(/^read .* of .*GB|^read .* of .*MB/)
  await expect(read).toBeVisible()
  expect(slow.counts().bytes).toBeLessThan(header.length / 4)

  await page.getByRole('tab', { name: 'Tensors' }).click()
  await page.getByLabel('By block').uncheck()
  expect(await rowCount(page, 'Tensors')).toBe(model.tensors!.length)
  expect(slow.counts().bytes).toBeLessThan(header.length / 4)

  // A model can be run from a preview: its first messages need no more of the header.
  await page.getByRole('tab', { name: 'Run' }).click()
  await expect(page.getByRole('group', { name: 'To begin with' }).getByRole('button').first()).toBeVisible()
  expect(slow.counts().bytes).toBeLessThan(header.length / 4)

  // Only the range of the scores is read.
  const before = slow.counts().bytes
  await page.getByRole('tab', { name: 'Metadata' }).click()
  await page.getByLabel('Search keys and values').fill('ggml.scores')
  await page.getByRole('grid', { name: 'Metadata' }).getByText('scores').click()
  await expect(page.getByRole('grid', { name: /Entries of tokenizer.ggml.scores/ })).toContainText('-3')
  expect(slow.counts().bytes - before).toBeLessThan(4 * shape.tokens + 1000)
  const badge = await read.textContent()

  // The vocabulary is read with the arrays that are shown beside it.
  await page.getByLabel('Search keys and values').fill('ggml.tokens')
  await page.getByRole('grid', { name: 'Metadata' }).getByText('tokens').click()
  const entries = page.getByRole('grid', { name: /Entries of tokenizer.ggml.tokens/ })
  await expect(entries).toContainText(tokens[2]!)
  expect(await read.textContent()).not.toBe(badge)

  // Findings need the complete header, which has been read by now. A slow machine aborts requests later.
  await page.getByRole('tab', { name: 'Findings' }).click()
  await expect(page.getByRole('tab', { name: /Findings \d+/ })).toBeVisible()
  expect(slow.counts().bytes).toBeLessThan(header.length * 1.25)
  await slow.close()
})

test('the tokenizer of a preview reads the rest first; a failure can be tried again', async ({
  page,
  site,
}) => {
  const slow = await startServer({ delay: 250, bandwidth: 1e6 })
  slow.add('/large.gguf', sparseContent(header, size))
  await site.visit(page, `${slow.url}/large.gguf`)
  await opened(page)
  slow.plan('/large.gguf', { status: 404 })
  await page.getByRole('tab', { name: 'Tokenizer' }).click()
  await expect(page.getByRole('alert')).toContainText('404')
  slow.plan('/large.gguf')
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText(/Reading the rest of the header/)).toBeVisible()
  await expect(page.getByText('The model knows 262,144 tokens.')).toBeVisible()
  await slow.close()
})

test('while the page is idle, the rest is read and the file is checked', async ({ page, site }) => {
  await page.clock.install()
  const far = await startServer({ delay: 250, bandwidth: 0.5e6 })
  far.add('/idle.gguf', sparseContent(header, size))
  await site.visit(page, `${far.url}/idle.gguf`)
  await opened(page)
  await expect(page.getByText('the file is not checked')).toBeVisible()
  await expect(page.getByRole('tab', { name: 'Findings …' })).toBeVisible()
  // From here on, only runFor() advances the page's clock, so a slow machine does not matter.
  await page.mouse.move(100, 100)
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 3_000))
  const { requests } = far.counts()
  await page.mouse.move(200, 200)
  await page.clock.runFor(9_000)
  await page.mouse.move(300, 200)
  await page.clock.runFor(9_000)
  expect(far.counts().requests).toBe(requests)
  await page.clock.runFor(2_000)
  await expect(page.getByRole('tab', { name: /Findings \d+/ })).toBeVisible()
  await expect(page.getByText('the file is not checked')).toBeHidden()
  expect(far.counts().requests).toBeGreaterThan(requests)
  expect(far.counts().bytes).toBeLessThan(header.length * 1.25)
  await far.close()
})

test('a tensor on which the pointer rests is read before it is opened', async ({ page, site }) => {
  site.add('/hover.gguf', sparseContent(header, size))
  await site.visit(page, '/hover.gguf', '#tensors')
  await page.getByLabel('By block').uncheck()
  const row = page.getByRole('grid', { name: 'Tensors' }).getByText('blk.0.attn_q.weight')
  await expect(row).toBeVisible()
  const requests = () => site.counts('/hover.gguf').requests
  const before = requests()
  await row.hover()
  await expect.poll(requests).toBe(before + 1)
  await row.click()
  await expect(page.locator('[data-reading]')).toContainText(/columns? 0.*: (largest|-?\d)/)
  await expect(page.getByLabel('First bytes, hexadecimal')).toBeVisible()
  expect(requests()).toBe(before + 1)
})
