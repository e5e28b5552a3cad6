// The panel Memory: the user chooses a computer, and the panel shows the package's estimate for it.
import { kSample } from '../../web/src/lib/samples.ts'
import { expect, opened, test } from './site.ts'

test('what fits follows the computer, the context and the cache', async ({ page, site }) => {
  await site.visit(page, `/${kSample}`, '#memory')
  await opened(page)
  const result = page.getByRole('region', { name: 'What it takes' })
  await expect(result.getByRole('heading', { name: /^It fits/ })).toBeVisible()
  await expect(page.getByText('4 of 4 layers on the card')).toBeVisible()
  // Chromium has WebAssembly's 64-bit memory.
  await expect(result.getByText('A page can have 17.2 GB: it fits.')).toBeVisible()
  const before = await result.getByRole('img').nth(1).getAttribute('aria-label')
  await page.getByLabel('Cached keys').selectOption('q4_0')
  await expect(result.getByRole('img').nth(1)).not.toHaveAttribute('aria-label', before!)
  await expect(result.getByText(/-ngl 4 -ctk q4_0$/)).toBeVisible()
  await page.getByLabel('Graphics memory, GB').fill('0')
  await page.getByLabel('Computer memory, GB').fill('0.001')
  await expect(result.getByRole('heading', { name: /^It does not fit/ })).toBeVisible()
  await expect(page.getByText('No context fits.')).toBeVisible()
  // The computer is restored after a reload.
  await page.getByLabel('Computer memory, GB').blur()
  await page.reload()
  await expect(page.getByLabel('Computer memory, GB')).toHaveValue('0.001')
})
