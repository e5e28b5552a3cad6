// Real files, and virtual files larger than any disk: the viewer shows the same as an independent reader.
import type { Page } from '@playwright/test'
import { kTypes, writeGguf, writeHeader, type Model } from '../fixtures/gguf.ts'
import { hugeModel, shards, smallModel } from '../fixtures/models.ts'
import { readPlain, type PlainFile } from '../fixtures/reader.ts'
import { everyNth } from '../fixtures/short.ts'
import { sparseContent } from '../server/content.ts'
import { kWithoutShared, sharedBytes, sharedFiles } from './files.ts'
import { expect, opened, rowCount, test } from './site.ts'

// The viewport is high enough to show all rows of a small table.
test.use({ viewport: { width: 1280, height: 2600 } })

const typeNames = new Map(Object.entries(kTypes).map(([name, [id]]) => [id, name]))
const hex = (n: number) => `0x${n.toString(16)}`

/** The text of each cell of each row on the page. */
async function cells(page: Page, label: string): Promise<string[][]> {
  const grid = page.getByRole('grid', { name: label })
  await expect(grid).toBeVisible()
  return grid.evaluate((element) =>
    [...element.querySelectorAll('[role=row]')]
      .filter((row) => row.querySelector('[role=gridcell]'))
      .map((row) => [...row.children].map((cell) => cell.textContent.trim())),
  )
}

async function shows(page: Page, plain: PlainFile) {
  await opened(page)
  await page.getByRole('tab', { name: 'Metadata' }).click()
  const keys = plain.metadata.map(({ key }) => key)
  // A repeated key is shown after the first one, with a number.
  const rows = [...new Set(keys)].flatMap((key) =>
    keys.filter((one) => one === key).map((_, i) => (i === 0 ? key : `${key} (${i + 1})`)),
  )
  expect(await rowCount(page, 'Metadata')).toBe(rows.length)
  expect((await cells(page, 'Metadata')).map(([key]) => key)).toEqual(rows)

  await page.getByRole('tab', { name: 'Tensors' }).click()
  if (plain.tensors.length === 0) {
    await expect(page.getByText('This file has no tensors.')).toBeVisible()
    return
  }
  await page.getByLabel('By block').uncheck()
  expect(await rowCount(page, 'Tensors')).toBe(plain.tensors.length)
  const shown = (await cells(page, 'Tensors')).map(([name, type, shape, , , offset]) => [
    name,
    type,
    shape,
    offset,
  ])
  const wanted = plain.tensors.map((tensor) => [
    tensor.name,
    typeNames.get(tensor.type),
    tensor.shape.join(' × '),
    hex(tensor.offset),
  ])
  expect(shown).toEqual(wanted)
}

for (const folder of ['vocab', 'history', 'misc']) {
  test(`every file of shared ${folder}`, async ({ page, site }) => {
    test.skip(...kWithoutShared)
    for (const path of everyNth(sharedFiles(folder), 6)) {
      await test.step(path, async () => {
        await site.visit(page, `/data/${path}`)
        let plain: PlainFile
        try {
          plain = readPlain(sharedBytes(path))
        } catch {
          // A draft of GGUF, or an invalid value type: the page explains the error.
          await expect(page.getByRole('alert')).toContainText(/This is|A value has a type/)
          return
        }
        await shows(page, plain)
      })
    }
  })
}

const small: [name: string, options: Pick<Model, 'version' | 'bigEndian' | 'alignment'>][] = [
  ['version 1', { version: 1 }],
  ['version 2', { version: 2 }],
  ['big-endian', { bigEndian: true }],
  ['aligned to 4096', { alignment: 4096 }],
]
for (const [name, options] of small) {
  test(`made here, ${name}`, async ({ page, site }) => {
    const bytes = writeGguf(smallModel(options))
    site.add('/small.gguf', bytes)
    await site.visit(page, '/small.gguf')
    await shows(page, readPlain(bytes))
    await page.getByRole('tab', { name: 'Overview' }).click()
    const format = `GGUF ${options.version ?? 3}, ${options.bigEndian ? 'big' : 'little'}-endian, aligned to ${(options.alignment ?? 32).toLocaleString('en-US')} bytes`
    await expect(page.getByText(format)).toBeVisible()
  })
}

test('a file without tensors has a header alone', async ({ page, site }) => {
  site.add('/empty.gguf', writeGguf({ ...smallModel(), tensors: [] }))
  await site.visit(page, '/empty.gguf')
  await expect(page.getByText(/^header [\d.]+ k?B, no tensor data$/)).toBeVisible()
})

test('a vocabulary in an older format is a header alone, and becomes GGUF', async ({ page, site }) => {
  test.skip(...kWithoutShared)
  const path = 'history/20230321-3651f708-ggml-vocab.bin'
  await site.visit(page, `/data/${path}`)
  await expect(page.getByText(/^header 433 kB, no tensor data$/)).toBeVisible()
  await expect(page.getByText('Stored as')).toHaveCount(0)
  await page.getByRole('tab', { name: 'Convert' }).click()
  await expect(page.getByRole('button', { name: /^Save the new file/ })).toBeVisible()
  await page.getByRole('tab', { name: /^Findings/ }).click()
  await expect(page.getByRole('region', { name: /legacy-container/ })).toContainText('panel Convert')
})

test('40 GB, of which only the header is read', async ({ page, site }) => {
  const { header, size, offsets } = writeHeader(hugeModel())
  expect(size).toBeGreaterThan(39e9)
  site.add('/huge.gguf', sparseContent(header, size))
  site.reset()
  await site.visit(page, '/huge.gguf', '#tensors')
  await opened(page)
  await page.getByLabel('By block').uncheck()
  expect(await rowCount(page, 'Tensors')).toBe(offsets.length)
  const grid = page.getByRole('grid', { name: 'Tensors' })
  await grid.focus()
  await page.keyboard.press('End')
  await expect(grid.getByRole('row').last()).toContainText(hex(offsets.at(-1) ?? 0))
  expect(site.counts('/huge.gguf').requests).toBe(1)
  // This count includes bytes that were in socket buffers when the page closed the connection.
  expect(site.counts('/huge.gguf').bytes).toBeLessThan(size / 100)
  await expect(page.getByText(/^read [\d.]+ (kB|MB) of \d\d\.\d GB/)).toBeVisible()
})

test('three parts of one model', async ({ page, site }) => {
  const model = smallModel()
  const parts = shards(model, 3, 'split')
  for (const part of parts) site.add(`/${part.name}`, writeGguf(part.model))
  await site.visit(page, `/${parts[0]?.name}`, '#tensors')
  await opened(page)
  await page.getByLabel('By block').uncheck()
  expect((await cells(page, 'Tensors')).map(([name]) => name)).toEqual(model.tensors?.map(({ name }) => name))
  await page.getByRole('tab', { name: 'Overview' }).click()
  await expect(page.getByText('in 3 parts')).toBeVisible()
})

test('the values of every type are shown', async ({ page, site }) => {
  site.add('/small.gguf', writeGguf(smallModel()))
  await site.visit(page, '/small.gguf', '#metadata')
  const rows = new Map((await cells(page, 'Metadata')).map(([key, type, value]) => [key, [type, value]]))
  expect(rows.get('test.u64.2')).toEqual(['u64', '18446744073709551615'])
  expect(rows.get('test.i64.0')).toEqual(['i64', '-9223372036854775808'])
  expect(rows.get('test.i8.0')).toEqual(['i8', '-128'])
  expect(rows.get('test.f32.2')).toEqual(['f32', '1.5'])
  expect(rows.get('test.bool.1')).toEqual(['bool', 'true'])
  expect(rows.get('test.string.2')).toEqual(['string', 'line\\nbreak\\0nul'])
  expect(rows.get('test.nested')).toEqual(['array × 3', '[[1, 2, 3], ["a", ""], []]'])
  expect(rows.get('test.u8.empty')).toEqual(['u8 × 0', '[]'])
})
