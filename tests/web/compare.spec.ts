// The panel Compare: opens a second file, and shows how the headers and values differ.
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

test('a second file is dropped on the lower half of the page, and a link restores a comparison', async ({
  page,
  site,
}) => {
  const other = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  other.write('Little Anvmal', other.indexOf('Little Animal'))
  site.add('/other.gguf', other)
  await page.goto(`${site.url}/?${new URLSearchParams({ url: '/sample.gguf', with: '/other.gguf' })}#compare`)
  await opened(page)
  await expect(page.getByText('1 key and 0 tensors differ.')).toBeVisible()
  await page.getByRole('button', { name: 'Close it' }).click()
  expect(new URL(page.url()).searchParams.get('with')).toBeNull()

  await page.getByRole('tab', { name: 'Overview' }).click()
  const transfer = await page.evaluateHandle(async () => {
    const data = new DataTransfer()
    data.items.add(new File([await (await fetch('/other.gguf')).blob()], 'dropped.gguf'))
    return data
  })
  const at = { dataTransfer: transfer, clientX: 300, clientY: 700 }
  await page.dispatchEvent('body', 'dragenter', at)
  await expect(page.getByText('Drop it here to compare with it')).toBeVisible()
  await page.dispatchEvent('body', 'drop', at)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('sample.gguf')
  await expect(page.getByText('1 key and 0 tensors differ.')).toBeVisible()
})
