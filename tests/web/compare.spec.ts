// The page Compare: opens another file beside the first, and shows how their headers and values differ.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, opened, test } from './site.ts'

test('keys, types and values that differ from another file, and the table saved', async ({ page, site }) => {
  const other = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  other[other.length - 40]! ^= 0x11
  other.write('Little Anvmal', other.indexOf('Little Animal'))
  site.add('/other.gguf', other)
  await site.visit(page, '/sample.gguf', '#compare')
  await opened(page)
  const form = page.getByRole('form', { name: 'Compare with another file' }).filter({ visible: true })
  await form.getByLabel('Address of the other file').fill(`${site.url}/other.gguf`)
  await form.getByRole('button', { name: 'Compare' }).click()
  await expect(page.getByText('1 key and 0 tensors differ.')).toBeVisible()
  await expect(page.getByRole('row', { name: /general\.name.*Little Anvmal/ })).toBeVisible()
  await page.getByRole('radio', { name: /^All values/ }).check()
  await expect(page.getByText('1 key and 1 tensor differ.')).toBeVisible()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save CSV' }).click()
  const saved = readFileSync(await (await download).path(), 'utf8').split('\r\n')
  expect(saved).toHaveLength(30)
  expect(saved[1]).toMatch(/,"false",/)
})
