// The panel Run in two tabs with one file: with the setting, one engine answers both, and either tab may close.
import { kSample } from '../../web/src/lib/file/samples.ts'
import { expect, test, type Page, type Site } from './site.ts'

async function start(page: Page, site: Site): Promise<void> {
  await site.visit(page, kSample, '#run')
  await page.getByLabel('Complete a text').check()
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel('Seed').fill('7')
  await page.getByLabel('Share one loaded model among the tabs with this file').check()
  await page.getByRole('textbox', { name: 'Text to complete' }).fill('Once upon a time')
}
async function complete(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Complete' }).click()
  const done = page.getByRole('status').filter({ hasText: /tokens?, .*ms\.|ended its answer/ })
  await expect(done).toBeVisible()
  return (await page.getByTestId('answer').textContent()) ?? ''
}
/** Whether a tab runs an engine: its workers, threads included. */
const isRunning = (page: Page) => page.workers().some((worker) => /engine-worker/.test(worker.url()))

test('two tabs with one file have one model, and closing either leaves the other', async ({
  page,
  site,
  context,
}) => {
  await start(page, site)
  const text = await complete(page)
  expect(isRunning(page)).toBe(true)
  await expect(page.getByTestId('shared')).toHaveCount(0)
  const other = await context.newPage()
  await start(other, site)
  expect(await complete(other)).toBe(text)
  await expect(page.getByTestId('shared')).toHaveText('Shared with 1 other tab.')
  await expect(other.getByTestId('shared')).toHaveText('Shared with 1 other tab.')
  expect([isRunning(page), isRunning(other)]).toEqual([true, false])
  // The first tab runs the engine.
  await page.close()
  await expect(other.getByTestId('shared')).toHaveCount(0)
  expect(await complete(other)).toBe(text)
  expect(isRunning(other)).toBe(true)
})
