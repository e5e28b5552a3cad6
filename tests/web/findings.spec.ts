// What the checks of the package find, as it is shown: levels, words, byte offsets.
import { writeGguf } from '../fixtures/gguf.ts'
import { hostileKeys } from '../fixtures/models.ts'
import { expect, opened, test } from './site.ts'

test('findings stand with level, code and byte, and levels can be hidden', async ({ page, site }) => {
  // Its last tensor lies beyond the end: any strict loader refuses it.
  const whole = writeGguf(hostileKeys())
  site.add('/odd.gguf', whole.subarray(0, whole.length - 20))
  await site.visit(page, '/odd.gguf')
  await opened(page)
  await expect(page.getByText('A strict loader would refuse this file.')).toBeVisible()
  await page.getByRole('button', { name: /^See the/ }).click()
  const panel = page.getByRole('tabpanel')
  const items = panel.getByRole('listitem')
  await expect(items.first()).toBeVisible()
  const all = await items.count()
  const errors = await items.filter({ has: page.getByText('error', { exact: true }) }).count()
  expect(errors).toBeGreaterThan(0)
  expect(all).toBe(
    Number((await page.getByRole('tab', { name: /^Findings/ }).textContent())?.replace(/\D/g, '')),
  )
  for (const text of await items.allTextContents()) expect(text).toMatch(/at byte\s+[\d,]+ \(0x[\da-f]+\)/)
  await panel.getByRole('checkbox', { name: /^Errors/ }).uncheck()
  await expect(items).toHaveCount(all - errors)
})
