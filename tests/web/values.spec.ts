// A tensor's values as floats: the picture, the numbers below it, and the distribution.
import { writeGguf, writeHeader } from '../fixtures/gguf.ts'
import { floatBytes, hugeModel, smallModel } from '../fixtures/models.ts'
import { sparseContent } from '../server/content.ts'
import { expect, test } from './site.ts'

for (const bigEndian of [false, true]) {
  test(`the values of a tensor, ${bigEndian ? 'big' : 'little'}-endian`, async ({ page, site }) => {
    const model = smallModel({ bigEndian })
    const tensors = model.tensors ?? []
    const at = tensors.findIndex(({ name }) => name === 'blk.1.attn_q.weight')
    const elements = tensors[at]?.shape.reduce((a, b) => a * b, 1) ?? 0
    const floats = [...new Float32Array(floatBytes(elements, at + 1).buffer)]
    site.add('/values.gguf', writeGguf(model))
    await site.visit(page, '/values.gguf', '#tensors/blk.1.attn_q.weight')
    const canvas = page.getByRole('application', { name: /^Values of/ })
    await canvas.focus()
    await page.keyboard.press('Enter')
    const columns = tensors[at]?.shape[0] ?? 1
    for (const [row, column] of [
      [0, 0],
      [3, 5],
      [elements / columns - 1, columns - 1],
    ] as const) {
      await page.getByLabel('Row', { exact: true }).fill(String(row))
      await page.getByLabel('Column', { exact: true }).fill(String(column))
      await page.keyboard.press('Tab')
      await expect(page.locator('[data-reading]')).toHaveText(
        new RegExp(`^row ${row}, column ${column}: -?\\d`),
      )
      const shown = Number((await page.locator('[data-reading]').innerText()).split(': ')[1])
      expect(Math.fround(shown)).toBe(floats[row * columns + column])
    }

    // Blue is below zero, ochre above. The colours of single values are read in the middle of their left edges.
    await page.getByLabel('Row', { exact: true }).fill('0')
    await page.getByLabel('Column', { exact: true }).fill('0')
    await page.keyboard.press('Tab')
    await expect(page.locator('[data-reading]')).toHaveText(/^row 0, column 0: -?\d/)
    const signs = () =>
      canvas.evaluate((element) => {
        const { width, height } = element as HTMLCanvasElement
        const image =
          (element as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data ?? []
        return [1, 2, 3, 4].map((column) => {
          const i = 4 * (13 * width + column * 64 + 4)
          return Math.sign((image[i] ?? 0) - (image[i + 2] ?? 0))
        })
      })
    await expect.poll(signs).toEqual([1, 2, 3, 4].map((column) => Math.sign(floats[column] ?? 0)))

    const mean = floats.reduce((a, b) => a + b, 0) / elements
    await expect(page.locator('dt').getByText('Mean', { exact: true }).locator('..')).toContainText(
      String(Number(mean.toPrecision(4))),
    )
    await expect(page.getByRole('img', { name: /^Histogram from/ })).toBeVisible()
  })
}

test('of a large tensor only a window is read, the whole on demand', async ({ page, site }) => {
  const { header, size } = writeHeader(hugeModel())
  site.add('/huge.gguf', sparseContent(header, size))
  await site.visit(page, '/huge.gguf')
  await page.getByRole('tab', { name: 'Tensors' }).click()
  await page.getByRole('grid', { name: 'Tensors' }).waitFor()
  site.reset()
  await page.getByText('blk.1.ffn_gate.weight', { exact: true }).click()
  await expect(page.locator('[data-caption]')).toHaveText(/^rows 0 to 1\d\d, columns 0 to \d+$/)
  await expect(page.locator('[data-reading]')).toHaveText(/^row 0, column 0: -?\d/)
  await expect(page.getByLabel('First bytes, hexadecimal')).toBeVisible()
  expect(site.counts('/huge.gguf').bytes).toBeLessThan(3e6)
  await expect(page.getByRole('button', { name: /^Read the whole tensor \(\d+ MB\)/ })).toBeVisible()
  await page.getByLabel('Row', { exact: true }).fill('9000')
  await page.keyboard.press('Tab')
  await expect(page.locator('[data-reading]')).toHaveText(/^row 9,000, column 0: -?\d/)
})

test('a tensor against the same one of another file', async ({ page, site }) => {
  const name = 'blk.1.attn_q.weight'
  const model = smallModel()
  const tensors = model.tensors ?? []
  const at = tensors.findIndex((tensor) => tensor.name === name)
  const elements = tensors[at]?.shape.reduce((a, b) => a * b, 1) ?? 0
  const ours = new Float32Array(floatBytes(elements, at + 1).buffer)
  const theirs = ours.map((value, i) => value + (i % 3 === 0 ? 0.02 : -0.01))
  const changed = tensors.map((tensor, i) =>
    i === at
      ? { ...tensor, data: new Uint8Array(theirs.buffer) }
      : i === at - 1
        ? { ...tensor, name: 'renamed' }
        : tensor,
  )
  site.add('/here.gguf', writeGguf(model))
  site.add('/there.gguf', writeGguf({ ...model, tensors: changed }))
  await site.visit(page, '/here.gguf', `#tensors/${name}`)
  const section = page.getByRole('region', { name: 'Against another file' })
  await section.getByRole('textbox').fill('/missing.gguf')
  await section.getByRole('button', { name: 'Compare' }).click()
  await expect(section.getByRole('alert')).toContainText('404')
  await section.getByRole('textbox').fill('/there.gguf')
  await section.getByRole('button', { name: 'Compare' }).click()

  const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0)
  const differences = ours.map((value, i) => value - theirs[i]!)
  const nmse = sum(differences.map((d) => d * d)) / sum(theirs.map((value) => value * value))
  const fact = (label: string) => section.getByText(label, { exact: true }).locator('..').locator('dd')
  await expect(fact('NMSE')).toBeVisible()
  expect(Number(await fact('NMSE').innerText())).toBeCloseTo(nmse, 5)
  expect(Number(await fact('Greatest').innerText())).toBeCloseTo(0.02, 4)
  const dot = sum(ours.map((value, i) => value * theirs[i]!))
  const cosine = dot / Math.sqrt(sum(ours.map((v) => v * v)) * sum(theirs.map((v) => v * v)))
  expect(Number(await fact('Cosine').innerText())).toBeCloseTo(cosine, 6)
  await expect(section).toContainText(
    / in here\.gguf, .+ in there\.gguf\. Errors are measured against there\.gguf\./,
  )

  // The second file stays open when another tensor is selected.
  await page
    .getByRole('grid', { name: 'Tensors' })
    .getByText(tensors[at - 1]!.name, { exact: true })
    .click()
  await expect(section).toContainText('no tensor of this name')
  await section.getByRole('button', { name: 'Close' }).click()
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    section.getByRole('button', { name: 'Choose a file' }).click(),
  ])
  await chooser.setFiles({
    name: 'again.gguf',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(writeGguf(model)),
  })
  await expect(fact('NMSE')).toHaveText('0')
})
