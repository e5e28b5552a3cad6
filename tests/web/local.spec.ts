// Local files: chosen, dropped, and much larger than memory.
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeGguf, writeHeader } from '../fixtures/gguf.ts'
import { hugeModel, shards, smallModel } from '../fixtures/models.ts'
import { expect, opened, rowCount, test } from './site.ts'

const good = writeGguf(smallModel())
const upload = (name: string, bytes: Uint8Array) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(bytes),
})

test('chosen with the button', async ({ page, site }) => {
  await site.visit(page)
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose a file' }).click()
  await (await chooser).setFiles(upload('mine.gguf', good))
  await opened(page)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('mine.gguf')
  // None of its bytes went over a network: its size is said alone.
  await expect(page.locator('.read')).toHaveText(/^[\d.]+ k?B$/)
  // Only the file's name is stored.
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }))
  expect(kept).toContain('mine.gguf')
  expect(kept.length).toBeLessThan(200)
})

test('dropped anywhere on the page', async ({ page, site }) => {
  await site.visit(page)
  const transfer = await page.evaluateHandle((bytes) => {
    const data = new DataTransfer()
    data.items.add(new File([new Uint8Array(bytes)], 'dropped.gguf'))
    return data
  }, Array.from(good))
  await page.dispatchEvent('body', 'dragenter', { dataTransfer: transfer })
  await expect(page.getByText('Drop it to open it')).toBeVisible()
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
  await expect(page.getByText('Drop it to open it')).toBeHidden()
  await opened(page)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('dropped.gguf')
})

for (const [name, text, title, code] of [
  [
    'model.gguf',
    '<!DOCTYPE html><html><head><title>Sign in</title></head></html>',
    'This file is a web page, not a model',
    'html',
  ],
  ['empty.gguf', '', 'The file is empty', 'truncated'],
] as const) {
  test(`a chosen file that is none: ${code}`, async ({ page, site }) => {
    await site.visit(page)
    await page.getByLabel('Choose GGUF files').setInputFiles(upload(name, new TextEncoder().encode(text)))
    const alert = page.getByRole('alert')
    await expect(alert.getByRole('heading')).toHaveText(title)
    await expect(alert.getByText(code, { exact: true })).toBeVisible()
    // The same file does not become another one.
    await expect(alert.getByRole('button', { name: 'Choose a file' })).toHaveClass(/primary/)
    await expect(alert.getByRole('button', { name: 'Try again' })).toHaveCount(0)
  })
}

test('the parts of a split model chosen together', async ({ page, site }) => {
  const model = smallModel()
  await site.visit(page)
  const files = shards(model, 3, 'split').map((part) => upload(part.name, writeGguf(part.model)))
  await page.getByLabel('Choose GGUF files').setInputFiles(files)
  await opened(page)
  await page.getByRole('tab', { name: 'Tensors' }).click()
  await page.getByLabel('By block').uncheck()
  expect(await rowCount(page, 'Tensors')).toBe(model.tensors?.length)
})

test('a folder is dropped: the GGUF files in it', async ({ page, site }) => {
  const folder = await mkdtemp(join(tmpdir(), 'ggufscope-'))
  try {
    await mkdir(join(folder, 'models'))
    await writeFile(join(folder, 'notes.txt'), 'no model')
    for (const part of shards(smallModel(), 3, 'split'))
      await writeFile(join(folder, 'models', part.name), writeGguf(part.model))
    await site.visit(page)
    // The browser creates the drag event itself, as for files from another program.
    const browser = await page.context().newCDPSession(page)
    const data = { items: [], files: [folder], dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await browser.send('Input.dispatchDragEvent', { type, x: 200, y: 200, data })
    await opened(page)
    await expect(page.getByText('in 3 parts')).toBeVisible()
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('what is typed in the address field is understood', async ({ page, site }) => {
  const requests: [typed: string, url: string][] = [
    ['owner/name/x.gguf', 'https://huggingface.co/owner/name/resolve/main/x.gguf'],
    ['./owner/name/x.gguf', `${site.url}/owner/name/x.gguf`],
    ['/owner/name/x.gguf', `${site.url}/owner/name/x.gguf`],
  ]
  await page.route('https://huggingface.co/**', async (route) => await route.fulfill({ status: 404 }))
  await site.visit(page)
  const field = page.getByLabel(/^Address of a GGUF file/)
  for (const [typed, url] of requests) {
    const request = page.waitForRequest(url)
    await field.fill(typed)
    await page.keyboard.press('Enter')
    await request
    await expect(page.getByRole('alert')).toContainText('404')
  }
  for (const typed of ['ftp://x/y.gguf', 'htp:/foo bar']) {
    await field.fill(typed)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('alert')).toContainText('A page can read only http and https addresses.')
  }
})

test('a path of this computer, and a drop without files, say what to do', async ({ page, site }) => {
  await site.visit(page)
  for (const path of ['C:\\models\\x.gguf', '~/x.gguf', 'file:///tmp/x.gguf']) {
    await page.getByLabel(/^Address of a GGUF file/).fill(path)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('alert')).toContainText('Choose the file, or drop it here.')
  }
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['x'], 'x.gguf'))
    data.items.clear()
    Object.defineProperty(data, 'types', { value: ['Files'] })
    return data
  })
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
  await expect(page.getByRole('alert')).toContainText('What was dropped holds no GGUF file.')
})

test('a split model with missing parts reports them', async ({ page, site }) => {
  await site.visit(page)
  const files = shards(smallModel(), 3, 'split').map((part) => upload(part.name, writeGguf(part.model)))
  await page.getByLabel('Choose GGUF files').setInputFiles(files[0]!)
  await page.getByRole('button', { name: /what is there/ }).click()
  await opened(page)
  await expect(page.getByRole('note')).toContainText('2 files of the 3 of this split model are missing')
})

test('40 GB on disk, read by slices', async ({ page, site }) => {
  const { header, size, offsets } = writeHeader(hugeModel())
  const folder = await mkdtemp(join(tmpdir(), 'ggufscope-'))
  const path = join(folder, 'huge.gguf')
  try {
    const file = await open(path, 'w')
    await file.write(header)
    await file.truncate(size)
    await file.close()
    await site.visit(page)
    await page.getByLabel('Choose GGUF files').setInputFiles(path)
    await opened(page)
    await page.getByRole('tab', { name: 'Tensors' }).click()
    await page.getByLabel('By block').uncheck()
    expect(await rowCount(page, 'Tensors')).toBe(offsets.length)
    // The last tensor's bytes are after offset 2^32.
    const grid = page.getByRole('grid', { name: 'Tensors' })
    await grid.focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await expect(page.getByLabel('First bytes, hexadecimal')).toContainText(
      (offsets.at(-1) ?? 0).toString(16),
    )
  } finally {
    await rm(folder, { recursive: true })
  }
})
