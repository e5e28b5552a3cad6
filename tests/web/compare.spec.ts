// The panel Compare: opens a second file, and shows how the headers and values differ.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeGguf, writeHeader, type Model } from '../fixtures/gguf.ts'
import { hugeModel, kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { downloaded, expect, opened, test } from './site.ts'

test('keys, types and values that differ from another file, and the table saved', async ({ page, site }) => {
  const other = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  // A row's 40 bytes have a scale of Q8_0 among them, which becomes NaN.
  other.fill(0xff, other.length - 100, other.length - 60)
  other.write('Little Anvmal', other.indexOf('Little Animal'))
  site.add('/other.gguf', other)
  await site.visit(page, `/${kSample}`, '#compare')
  await opened(page)
  const form = page.getByRole('form', { name: 'Compare with another file' }).filter({ visible: true })
  await form.getByLabel('Address of the other file').fill(`${site.url}/other.gguf`)
  await form.getByRole('button', { name: 'Compare' }).click()
  await expect(page.getByText('Different: 1 of 34 keys, 0 of 29 tensors')).toBeVisible()
  await expect(page.getByRole('row', { name: /general\.name.*Little Anvmal/ })).toBeVisible()
  await expect(page.locator('#panel-compare mark')).toHaveText(['i', 'v'])
  await page.getByRole('radio', { name: /^All values/ }).check()
  await expect(page.getByText('Different: 1 of 34 keys, 1 of 29 tensors')).toBeVisible()
  await expect(page.getByText('28 tensors have the same bytes.')).toBeVisible()
  await expect(page.locator('#panel-compare .scope dd').nth(1)).toHaveText('nothing')
  const row = page.getByRole('row', { name: /other values, \d+ are not finite/ })
  await expect(row).toHaveCount(1)
  expect(await violations(page)).toEqual([])
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save CSV' }).click()
  const saved = readFileSync(await (await download).path(), 'utf8').split('\r\n')
  expect(saved).toHaveLength(30)
  expect(saved[1]).toMatch(/,"false",/)
})

test('the summary of a cut file says what was compared and what could not be', async ({ page, site }) => {
  const whole = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  site.add('/cut.gguf', whole.subarray(0, 900_000))
  await page.goto(`${site.url}/?${new URLSearchParams({ url: `/${kSample}`, with: '/cut.gguf' })}#compare`)
  await opened(page)
  const summary = page.getByRole('heading', { name: 'The headers are the same. cut.gguf is cut off.' })
  await expect(summary).toBeVisible()
  const scope = page.locator('#panel-compare .scope dd')
  await expect(scope).toHaveCount(2)
  await expect(scope.nth(0)).toHaveText('34 keys, and the names, shapes and types of 29 tensors.')
  const missing = 'cut.gguf: 564 kB of 1.46 MB are missing, with 8 tensors or parts of them.'
  await expect(scope.nth(1)).toHaveText(`the values of the tensors ${missing}`)
  // The values of the whole tensors are compared.
  await page.getByRole('radio', { name: /^All values/ }).check()
  const read = 'The headers and the rows that were read are the same. cut.gguf is cut off.'
  await expect(page.getByRole('heading', { name: read })).toBeVisible()
  await expect(scope.nth(0)).toContainText('21 tensors have the same bytes.')
  const rows = page.getByRole('table', { name: 'Tensors', exact: true }).getByRole('rowheader')
  await expect(rows).toHaveCount(8)
  await expect(rows.first()).toContainText('cut off')
})

test('errors are measured against the file with more bits per weight', async ({ page, site }) => {
  const data = new Uint8Array(Float32Array.from({ length: 512 }, (_, i) => Math.sin(i)).buffer)
  const model: Model = {
    metadata: [['general.architecture', { type: 'string', value: 'llama' }]],
    tensors: [{ name: 'token_embd.weight', shape: [256, 2], type: 'F32', data }],
  }
  const { open } = (await import('../../wasm/dist/index.js')) as typeof import('ggufscope')
  using original = await open(writeGguf(model))
  const made = await (await (await original.edit()).quantize('Q8_0')).build()
  site.add('/many.gguf', writeGguf(model))
  site.add('/few.gguf', await made.bytes())
  const errors: string[] = []
  for (const [url, other] of [
    ['/many.gguf', '/few.gguf'],
    ['/few.gguf', '/many.gguf'],
  ] as const) {
    await page.goto(`${site.url}/?${new URLSearchParams({ url, with: other })}#compare`)
    await page.getByRole('radio', { name: /^All values/ }).check()
    const text = 'Errors are measured against many.gguf, which has more bits per weight.'
    await expect(page.getByText(text)).toBeVisible()
    // Its name stands above its types.
    const table = page.getByRole('table', { name: 'Tensors, the greatest error first' })
    const types = { '/many.gguf': 'F32', '/few.gguf': 'Q8_0' }
    const cells = table.getByRole('row').last().getByRole('cell')
    await expect(cells.nth(0)).toContainText(types[url])
    await expect(cells.nth(1)).toContainText(types[other])
    await expect(cells.nth(2)).toHaveText(/\d/)
    errors.push((await cells.nth(2).textContent()) ?? '')
    const { bytes } = await downloaded(page, 'Save JSON')
    const names = { here: url.slice(1), there: other.slice(1), reference: 'many.gguf' }
    expect(JSON.parse(bytes.toString())).toMatchObject(names)
  }
  expect(errors[1]).toBe(errors[0])
})

test('a long text is shown around the difference, and whole on demand', async ({ page, site }) => {
  const long = 'A text of many words. '.repeat(20)
  for (const end of ['one', 'two'])
    site.add(
      `/${end}.gguf`,
      writeGguf({
        metadata: [
          ['general.architecture', { type: 'string', value: 'llama' }],
          ['general.description', { type: 'string', value: long + end }],
          ['general.sampling.temp', { type: 'f32', value: end === 'one' ? 0.7 : 0.5 }],
        ],
      }),
    )
  await page.goto(`${site.url}/?${new URLSearchParams({ url: '/one.gguf', with: '/two.gguf' })}#compare`)
  const row = page.getByRole('row', { name: /^general\.description/ })
  const cell = row.getByRole('cell').first()
  await expect(cell).toHaveText(/^…[^…]{30}one\s+Show all$/)
  await cell.getByRole('button', { name: 'Show all' }).press('Enter')
  await expect(cell).toContainText(`${long}one`)
  await expect(page.getByRole('row', { name: /^general\.sampling\.temp/ }).getByRole('cell')).toHaveText([
    '0.7',
    '0.5',
  ])
})

test('a second file is dropped on the lower half of the page, and a link restores a comparison', async ({
  page,
  site,
}) => {
  const other = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  other.write('Little Anvmal', other.indexOf('Little Animal'))
  other.write('general.fileNtype', other.indexOf('general.file_type'))
  other.write('blk.0.attn_w.weight', other.indexOf('blk.0.attn_q.weight'))
  site.add('/other.gguf', other)
  await page.goto(`${site.url}/?${new URLSearchParams({ url: `/${kSample}`, with: '/other.gguf' })}#compare`)
  await opened(page)
  await expect(page.getByText('Different: 1 of 33 keys, 0 of 28 tensors, 4 in one file alone')).toBeVisible()
  await expect(page.locator('#panel-compare .scope dd').first()).toHaveText(
    '33 keys, and the names, shapes and types of 28 tensors. In one file alone: 2 keys, 2 tensors.',
  )
  // The own file's order: keys of the other file alone come last.
  await expect(page.getByRole('table', { name: 'Keys' }).getByRole('rowheader')).toHaveText([
    /^general\.name$/,
    /^general\.file_type$/,
    /^general\.fileNtype$/,
  ])
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
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(kSample)
  await expect(page.getByText('Different: 1 of 33 keys, 0 of 28 tensors, 4 in one file alone')).toBeVisible()
})

test('two files of 40 GB on a server are compared by their headers alone, and saved as JSON', async ({
  page,
  site,
}) => {
  test.skip(!kAll, 'takes long')
  // A vocabulary of 6 MB in each header, which a preview may leave out.
  const keys = (previewModel(kPreviewShapes[1]!).metadata ?? []).filter(([key]) =>
    String(key).startsWith('tokenizer.'),
  )
  const huge = hugeModel(40e9)
  const tensors = huge.tensors ?? []
  const named = (name: string, type: string): Model => ({
    metadata: [
      ...(huge.metadata ?? []).filter(([key]) => !/^tokenizer|general\.name/.test(String(key))),
      ['general.name', { type: 'string', value: name }],
      ...keys,
    ],
    tensors: tensors.map((tensor, i) => (i === 5 ? { ...tensor, type } : tensor)),
  })
  let headers = 0
  await using far = await startServer({ delay: 150, bandwidth: 1e6 })
  for (const [path, model] of [
    ['/one.gguf', named('one', 'Q4_K')],
    ['/two.gguf', named('two', 'Q6_K')],
  ] as const) {
    const { header, size } = writeHeader(model)
    expect(size).toBeGreaterThan(35e9)
    headers += header.length
    far.add(path, sparseContent(header, size))
  }
  // Otherwise the rest of the header would be read for the findings once the page is idle.
  await page.addInitScript(() =>
    Object.defineProperty(navigator, 'connection', { value: { saveData: true } }),
  )
  const query = new URLSearchParams({ url: `${far.url}/one.gguf`, with: `${far.url}/two.gguf` })
  await page.goto(`${site.url}/?${query}#compare`)
  await opened(page)
  await expect(page.getByText(/^Different: 1 of \d+ keys, 1 of \d+ tensors$/)).toBeVisible()
  // What a preview left out is not different: it is listed apart.
  await expect(page.getByText(/^\d+ lists were left out by the preview/)).toBeVisible()
  await expect(page.getByRole('columnheader').nth(6)).toHaveText('one.gguf')
  await expect(page.getByRole('columnheader').nth(7)).toHaveText('two.gguf')
  await expect(page.getByRole('row', { name: 'general.name one two' })).toBeVisible()
  await expect(page.getByRole('row', { name: new RegExp(tensors[5]!.name) })).toContainText('Q6_K')
  const { bytes } = far.counts()
  // The browser receives some more of the first request while the search begins, on a busy machine for seconds.
  expect(headers).toBeGreaterThan(11e6)
  expect(bytes).toBeLessThan(headers / 3)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save JSON' }).click()
  const saved = JSON.parse(readFileSync(await (await download).path(), 'utf8')) as { tensors: unknown[] }
  expect(saved.tensors).toHaveLength(tensors.length)
  expect(far.counts().bytes).toBe(bytes)
  far.setBandwidth(Infinity)
  await page.getByRole('button', { name: 'Read and compare them' }).click()
  await expect(page.getByRole('heading', { name: 'Not compared' })).toHaveCount(0)
  await expect(page.getByText(/^Different: 1 of \d+ keys, 1 of \d+ tensors$/)).toBeVisible()
})

test('a file that was open before is offered', async ({ page, site }) => {
  const other = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  other.write('Little Anvmal', other.indexOf('Little Animal'))
  site.add('/before.gguf', other)
  await site.visit(page, '/before.gguf')
  await opened(page)
  await site.visit(page, `/${kSample}`, '#compare')
  await opened(page)
  // The sample is open by another form of its address.
  await expect(page.locator('#panel-compare').getByRole('button', { name: kSample })).toHaveCount(0)
  await page.getByRole('button', { name: 'before.gguf' }).click()
  await expect(page.getByText('Different: 1 of 34 keys, 0 of 29 tensors')).toBeVisible()
})
