// The panel Convert: quantized, split, joined, merged and extracted files, their progress, and ways to save them.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeGguf, writeHeader, type Model } from '../fixtures/gguf.ts'
import { shards, text, u32 } from '../fixtures/models.ts'
import { sparseContent } from '../server/content.ts'
import { downloaded, expect, opened, openLocal, test, type Page } from './site.ts'

const dist = join(import.meta.dirname, '../../wasm/dist')
const { open } = (await import(pathToFileURL(join(dist, 'index.js')).href)) as typeof import('ggufscope')

const floats = (count: number) =>
  new Uint8Array(Float32Array.from({ length: count }, (_, i) => Math.sin(i)).buffer)
const weight = (name: string, rows: number) => {
  return { name, shape: [256, rows], type: 'F32', data: floats(256 * rows) } as const
}
const model: Model = {
  metadata: [
    ['general.architecture', text('llama')],
    ['general.name', text('before')],
    ['llama.block_count', u32(1)],
  ],
  tensors: [
    weight('token_embd.weight', 8),
    weight('blk.0.attn_q.weight', 4),
    weight('blk.0.ffn_up.weight', 4),
  ],
}

const type = (page: Page) => page.getByRole('combobox', { name: /^Type/ })

async function convertLocal(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  await openLocal(page, name, bytes)
  await page.getByRole('tab', { name: 'Convert' }).click()
}

test.use({ serviceWorkers: 'allow' })

/** The service worker controls the page, which a download in pieces needs. */
const controlled = (page: Page) => page.waitForFunction(() => navigator.serviceWorker.controller !== null)

test('a model is quantized with the changes of the panel Edit, and twice only if that is allowed', async ({
  page,
  site,
}) => {
  await site.visit(page)
  await convertLocal(page, 'mine-f32.gguf', writeGguf(model))
  await page.getByRole('tab', { name: /^Edit/ }).click()
  await page.getByRole('rowheader', { name: 'general.name', exact: true }).click()
  await page.getByRole('region', { name: 'What is to be changed' }).getByLabel('Value').fill('after')
  await page.getByRole('tab', { name: 'Convert' }).click()
  await expect(page.getByText('The new file has the 1 change of the panel Edit')).toBeVisible()
  await expect(
    page.getByText(/^3 of 3 .* bits per weight; of the weights, .*: (very )?small loss\./),
  ).toBeVisible()
  await type(page).selectOption('Q8_0')
  await expect(page.getByText('3 of 3 tensors get another type: 16.4 kB become 4.35 kB.')).toBeVisible()
  await page.getByText('Types of all tensors').click()
  await expect(page.getByRole('row', { name: 'blk.0.ffn_up.weight F32 Q8_0 1.09 kB' })).toBeVisible()
  const first = await downloaded(page, /^Save the new file/)
  expect(first.name).toBe('mine-Q8_0.gguf')
  using file = await open(first.bytes)
  expect(file.metadata.get('general.name')).toBe('after')
  expect(file.tensors.map(({ type }) => type)).toEqual(['Q8_0', 'Q8_0', 'Q8_0'])
  using original = await open(writeGguf(model))
  const builder = await (await original.edit()).set('general.name', 'after').quantize('Q8_0')
  expect(Buffer.from(await (await builder.build()).bytes()).equals(first.bytes)).toBe(true)

  await page.getByRole('button', { name: 'ggufscope: start page' }).click({ noWaitAfter: true })
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await site.visit(page)
  await convertLocal(page, first.name, first.bytes)
  // It begins with something that can be saved, and is another file.
  await expect(page.getByText('The weights are quantized already (Q8_0).')).toBeVisible()
  await expect(page.getByText('mine-Q8_0.safetensors')).toBeVisible()
  await page.getByRole('radio', { name: 'Write one GGUF file' }).check()
  await expect(page.getByText('The open file has this form already')).toBeVisible()
  await expect(page.getByRole('button', { name: /^Save/ })).toHaveText(/^Save a copy \(/)
  await page.getByRole('radio', { name: 'Quantize' }).check()
  await type(page).selectOption('Q4_0')
  await expect(page.getByRole('alert')).toContainText('3 tensors would be quantized a second time')
  await expect(page.getByRole('button', { name: /^Save/ })).toHaveCount(0)
  await page.getByRole('button', { name: 'Quantize them a second time' }).click()
  await expect(page.getByLabel('Quantize tensors that are quantized already')).toBeChecked()
  await expect(page.getByRole('region', { name: 'What it becomes' })).toBeFocused()
  await expect(page.getByRole('button', { name: /^Save the new file/ })).toBeVisible()
  await expect(
    page.getByText('3 tensors are quantized a second time, with the errors of both types: '),
  ).toBeVisible()
  await expect(page.getByText('small loss, beside what the open file has lost already.')).toBeVisible()
  await expect(page.getByText('mine-Q4_0.gguf')).toBeVisible()
  await type(page).selectOption('IQ2_XXS')
  await expect(page.getByRole('alert').last()).toContainText('without an importance matrix')
})

test('what cannot be of the chosen type is said once, with what it becomes', async ({ page, site }) => {
  await site.visit(page)
  const narrow = { name: 'blk.0.ffn_down.weight', shape: [64, 4], type: 'F32', data: floats(256) } as const
  await convertLocal(page, 'mine.gguf', writeGguf({ ...model, tensors: [...model.tensors!, narrow] }))
  await type(page).selectOption('Q4_K_M')
  const note = page.getByText(
    /^1 tensor cannot be of the chosen type, because its rows are not whole blocks of it/,
  )
  await expect(note).toHaveText(/, and becomes Q[58]_0: blk\.0\.ffn_down\.weight\.$/)
})

test('a quantization that changes no tensor makes no file', async ({ page, site }) => {
  await site.visit(page)
  const narrow = (name: string) => ({ name, shape: [24, 4], type: 'F32', data: floats(96) }) as const
  await convertLocal(page, 'mine.gguf', writeGguf({ ...model, tensors: [narrow('blk.0.ffn_down.weight')] }))
  await type(page).selectOption('F32')
  await expect(page.getByText('No tensor gets another type.')).toBeVisible()
  await expect(page.getByRole('button', { name: /^Save/ })).toHaveCount(0)
})

test('a file is called what most of its weights are where no row is whole blocks of the chosen type', async ({
  page,
  site,
}) => {
  const narrow = (name: string, rows: number) =>
    ({ name, shape: [64, rows], type: 'F32', data: floats(64 * rows) }) as const
  const tensors = [narrow('token_embd.weight', 8), narrow('blk.0.attn_q.weight', 64)]
  const wide = { name: 'blk.0.ffn_up.weight', shape: [72, 32], type: 'F32', data: floats(2304) } as const
  await site.visit(page)
  await convertLocal(page, 'mine.gguf', writeGguf({ ...model, tensors: [...tensors, wide] }))
  await type(page).selectOption('Q4_K_M')
  // The matrix of 16 bits raises the average alone.
  await expect(page.getByText(/9\.\d+ bits per weight; .*%\sQ5_0, .*: very small loss\./)).toBeVisible()
  await expect(page.getByText('The new file is called Q5_0, and its general.file_type says so')).toBeVisible()
  const saved = await downloaded(page, /^Save the new file/)
  expect(saved.name).toBe('mine-Q5_0.gguf')
  using file = await open(saved.bytes)
  expect(file.metadata.get('general.file_type')).toBe(8)
  expect(file.lint().map(({ code }) => code)).not.toContain('file-type-present')
})

test('a model is split into files, and the files become one again', async ({ page, site }) => {
  await site.visit(page)
  // The browser's private file system replaces the chosen folder.
  await page.evaluate(() =>
    Object.assign(window, { showDirectoryPicker: () => navigator.storage.getDirectory() }),
  )
  await convertLocal(page, 'mine.gguf', writeGguf(model))
  await page.getByLabel('Split into several files').check()
  const enough = page.getByText('One file is enough: the model is below this limit.')
  await page.getByLabel('Most tensor data in a file').fill('2')
  await expect(enough).toBeVisible()
  await expect(page.getByRole('button', { name: /^Save/ })).toHaveCount(0)
  await page.getByLabel('By number of tensors').check()
  await page.getByLabel('Most tensors in a file').fill('2')
  await expect(page.getByText('mine-00002-of-00002.gguf')).toBeVisible()
  await expect(enough).toHaveCount(0)
  await page.getByRole('button', { name: /^Save 2 files/ }).click()
  await expect(page.getByText(/^2 files saved in/)).toBeVisible()
  const parts = await page.evaluate(async () => {
    const folder = await navigator.storage.getDirectory()
    const names = ['mine-00001-of-00002.gguf', 'mine-00002-of-00002.gguf']
    return await Promise.all(
      names.map(async (name) => {
        const file = await (await folder.getFileHandle(name)).getFile()
        return { name, bytes: [...new Uint8Array(await file.arrayBuffer())] }
      }),
    )
  })
  using set = await open(parts.map(({ name, bytes }) => new File([new Uint8Array(bytes)], name)))
  expect([set.shards.length, set.tensors.length]).toEqual([2, 3])
  expect(await set.read('blk.0.ffn_up.weight')).toEqual(floats(1024))

  await site.visit(page)
  await page.getByLabel('Choose GGUF files').setInputFiles(
    shards(model, 2, 'whole').map(({ name, model: part }) => {
      return { name, mimeType: 'application/octet-stream', buffer: Buffer.from(writeGguf(part)) }
    }),
  )
  await opened(page)
  await page.getByRole('tab', { name: 'Convert' }).click()
  await expect(page.getByText('The 2 files become one.')).toBeVisible()
  await page.getByLabel('Byte order').selectOption('big')
  const whole = await downloaded(page, /^Save the new file/)
  expect(whole.name).toBe('whole-new.gguf')
  using one = await open(whole.bytes)
  expect([one.endianness, one.tensors.length, one.metadata.has('split.count')]).toEqual(['big', 3, false])
  expect(await one.dequantize('blk.0.ffn_up.weight')).toEqual(new Float32Array(floats(1024).buffer))
})

test('tensors are extracted, and an adapter is merged', async ({ page, site }) => {
  await site.visit(page)
  await convertLocal(page, 'mine.gguf', writeGguf(model))
  await page.getByLabel('Extract tensors').check()
  await page.getByLabel('Tensors whose name contains').fill('FFN')
  await expect(page.getByText(/^1 tensor of 3\./)).toBeVisible()
  const safe = await downloaded(page, /^Save the new file/)
  expect(safe.name).toBe('mine.safetensors')
  const length = Number(safe.bytes.readBigUInt64LE())
  expect(Object.keys(JSON.parse(safe.bytes.toString('utf8', 8, 8 + length)) as object)).toEqual([
    '__metadata__',
    'blk.0.ffn_up.weight',
  ])
  await page.getByRole('combobox', { name: /^Format/ }).selectOption('npy')
  await expect(page.getByText('blk.0.ffn_up.weight.npy')).toBeVisible()
  const npy = await downloaded(page, /^Save the new file/)
  expect(npy.bytes.subarray(-4096)).toEqual(Buffer.from(floats(1024)))

  const adapter: Model = {
    metadata: [
      ['general.type', text('adapter')],
      ['general.architecture', text('llama')],
      ['adapter.type', text('lora')],
      ['adapter.lora.alpha', { type: 'f32', value: 1 }],
    ],
    tensors: [
      { name: 'blk.0.attn_q.weight.lora_a', shape: [256, 1], type: 'F32', data: floats(256) },
      { name: 'blk.0.attn_q.weight.lora_b', shape: [1, 4], type: 'F32', data: floats(4) },
    ],
  }
  await page.getByLabel('Tensors whose name contains').fill('zzz')
  await expect(page.getByText('No tensor has “zzz” in its name.')).toBeVisible()

  await page.getByLabel('Split into several files').check()
  await page.getByLabel('By number of tensors').check()
  await page.getByLabel('Most tensors in a file').fill('0')
  await expect(page.getByText('The tensors of a file are a whole number from 1.')).toBeVisible()

  await page.getByLabel('Merge a LoRA adapter').check()
  await expect(page.getByText('Choose the adapter.')).toBeVisible()
  await page.getByLabel('LoRA adapter, a GGUF file').setInputFiles({
    name: 'lora.gguf',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(writeGguf(adapter)),
  })
  await expect(page.getByText('1 tensor changes.')).toBeVisible()
  const merged = await downloaded(page, /^Save the new file/)
  using file = await open(merged.bytes)
  const values = await file.dequantize('blk.0.attn_q.weight')
  const [a, b, w] = [floats(256), floats(4), floats(1024)].map((bytes) => new Float32Array(bytes.buffer))
  for (const i of [0, 300, 1023])
    expect(values[i]).toBeCloseTo(w![i]! + b![Math.floor(i / 256)]! * a![i % 256]!, 5)
})

test('a large file goes through the service worker to a download, and a cancel ends it', async ({
  page,
  site,
}) => {
  test.slow()
  // 66 MB exceed the limit for files in memory.
  const large = writeHeader({ ...model, tensors: [{ name: 'big', shape: [1024, 16_200], type: 'F32' }] })
  site.add('/stalled.gguf', sparseContent(large.header, large.size))
  await page.addInitScript(() =>
    Object.assign(window, { showSaveFilePicker: undefined, showDirectoryPicker: undefined }),
  )
  await site.visit(page)
  await controlled(page)
  await site.visit(page, '/stalled.gguf', '#convert')
  await opened(page)
  await page.getByLabel('Write one GGUF file').check()
  await page.getByLabel('Byte order').selectOption('big')
  const button = page.getByRole('button', { name: /^Save the new file \(66\.4 MB\)/ })
  const file = await downloaded(page, /^Save the new file/)
  expect(file.name).toBe('stalled-new.gguf')
  await expect(page.getByText('The browser saves it as a download.')).toBeVisible()
  using big = await open(file.bytes)
  expect([big.endianness, big.tensors[0]?.name, await big.damage()]).toEqual(['big', 'big', []])

  site.plan('/stalled.gguf', { stall: 100_000 })
  const download = page.waitForEvent('download')
  await button.click()
  const begun = await download
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('alert')).toHaveText('Saving was cancelled.')
  expect(await begun.failure()).not.toBeNull()
  // The plan is there again.
  await expect(button).toBeVisible()
})
