// How a file loads: progress, cancel, silence and a second try, another file meanwhile.
import { writeGguf, writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel, smallModel } from '../fixtures/models.ts'
import { sparseContent } from '../server/content.ts'
import { violations } from './axe.ts'
import { expect, opened, test } from './site.ts'

const shape = kPreviewShapes[2]
if (!shape) throw new Error('no shape')
const { header, size } = writeHeader(previewModel(shape))

test('progress is shown, and cancel stops the transfer', async ({ page, site }) => {
  site.add('/slow.gguf', sparseContent(header, size))
  // Without ranges, the header must be streamed.
  site.plan('/slow.gguf', { stall: 300_000, ranges: 'off' })
  site.reset()
  await site.visit(page, '/slow.gguf')
  const bar = page.getByRole('progressbar', { name: 'Reading the header' })
  await expect(bar).toHaveAttribute('aria-valuenow', /^[1-9]\d?$/)
  await expect(page.getByText(/of the header read, of a file of .* GB/)).toBeVisible()
  await expect(page.getByText(/^Connecting/)).toHaveCount(0)
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('heading', { name: 'See what is inside a GGUF file.' })).toBeVisible()
  await expect.poll(() => site.log.find((entry) => entry.path === '/slow.gguf')?.aborted).toBe(true)
  // A reload must not start the transfer again.
  expect(new URL(page.url()).search).toBe('')
})

test('a silent connection is named, and tried again by a button', async ({ page, site }) => {
  site.add('/silent.gguf', sparseContent(header, size))
  site.plan('/silent.gguf', { stall: 200_000, ranges: 'off', times: 1 })
  await page.clock.install()
  await site.visit(page, '/silent.gguf')
  await expect(page.getByText(/^200 kB of the header read/)).toBeVisible()
  await expect(page.getByText(/^Nothing has come/)).toHaveCount(0)
  await page.clock.fastForward(12_000)
  await expect(page.getByText(/^Nothing has come for 1\d seconds\./).first()).toBeVisible()
  expect(await violations(page)).toEqual([])
  const retry = page.getByRole('button', { name: 'Try again' })
  await retry.focus()
  await page.keyboard.press('Enter')
  await opened(page)
  await expect.poll(() => site.log.find((entry) => entry.path === '/silent.gguf')?.aborted).toBe(true)
})

test('another file can be opened while one is loading', async ({ page, site }) => {
  site.add('/slow.gguf', sparseContent(header, size))
  site.plan('/slow.gguf', { stall: 300_000, ranges: 'off' })
  site.add('/small.gguf', writeGguf(smallModel()))
  await site.visit(page, '/slow.gguf')
  await expect(page.getByRole('progressbar')).toBeVisible()
  await page.getByLabel('Address of a GGUF file or a repository').fill('/small.gguf')
  await page.keyboard.press('Enter')
  await opened(page)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('small.gguf')
})

// The panel's work is then still under way, such as the estimate of its memory.
test('a file that is left as soon as a panel shows it leaves no error', async ({ page, site }) => {
  await site.visit(page)
  const sample = page.getByRole('button', { name: 'Open the sample', exact: true })
  await sample.click()
  for (const name of ['Run', 'Memory', 'Findings', 'Graph', 'Tokenizer']) {
    await page.getByRole('tab', { name }).click()
    await page.goBack()
    await sample.click()
  }
  await page.getByRole('tab', { name: 'Run' }).click()
  await expect(page.getByText(/To fetch: .*it fits/)).toBeVisible()
})
