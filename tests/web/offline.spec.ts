// After the first visit, the viewer works without a network: pages, panels, local files, and running the sample.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { expect, opened, test } from './site.ts'

test.use({ serviceWorkers: 'allow' })

test('everything works without a network after the first visit', async ({ page, site, context }) => {
  await site.visit(page)
  const kept = () =>
    page.evaluate(async () => {
      const names = (await caches.keys()).filter((name) => name.startsWith('viewer-'))
      const files = await Promise.all(
        names.map(async (name) => (await (await caches.open(name)).keys()).length),
      )
      return files.reduce((sum, count) => sum + count, 0)
    })
  const wanted = await page.evaluate(async () => {
    const text = await (await fetch('service-worker.js')).text()
    return (JSON.parse(/const files = (\[.*\])/.exec(text)?.[1] ?? '[]') as string[]).length
  })
  expect(wanted).toBeGreaterThan(30)
  // The cache contains the listed files and the page itself.
  await expect.poll(kept).toBe(wanted + 1)

  await context.setOffline(true)
  await page.reload()
  await expect(page.getByRole('heading', { name: 'See what is inside a GGUF file.' })).toBeVisible()
  await page.getByLabel('Choose GGUF files').setInputFiles({
    name: 'mine.gguf',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(writeGguf(smallModel())),
  })
  await opened(page)
  for (const name of ['Metadata', 'Tensors', 'Findings']) {
    await page.getByRole('tab', { name }).click()
    await expect(page.getByRole('tabpanel')).not.toBeEmpty()
  }
  await page.getByRole('button', { name: 'ggufscope: start page' }).click()
  await page.getByRole('button', { name: 'Open the sample' }).click()
  await opened(page)
  await page.getByRole('tab', { name: 'Run' }).click()
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Hello')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByTestId('answer')).toContainText(/\w/)

  // The weights of a file on a server are waited for.
  await context.setOffline(false)
  site.add('/elsewhere.gguf', readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf')))
  await site.visit(page, '/elsewhere.gguf', '#run')
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Hello')
  await context.setOffline(true)
  await page.getByRole('button', { name: 'Send' }).click()
  const status = page.getByRole('status')
  await expect(status.filter({ hasText: 'This device is offline. It goes on' })).toBeVisible()
  await context.setOffline(false)
  await expect(page.getByTestId('answer')).toContainText(/\w/)
})

test('it can be installed', async ({ page, site }) => {
  await site.visit(page)
  const address = await page.locator('link[rel=manifest]').getAttribute('href')
  const manifest = (await (await page.request.get(`${site.url}/${address}`)).json()) as {
    start_url: string
    icons: { src: string }[]
  }
  expect(manifest.start_url).toBe('./')
  for (const { src } of manifest.icons)
    expect((await page.request.get(new URL(src, `${site.url}/`).href)).ok()).toBe(true)
})
