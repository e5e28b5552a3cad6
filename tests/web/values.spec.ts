// What a tensor holds, as floats: the picture, the numbers under it, and the distribution.
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
    const firsts = floats.slice(0, 8).map((value) => value.toPrecision(5))
    await expect(page.getByText(firsts.join('  '), { exact: true })).toBeVisible()

    // One pixel a value: blue below zero, ochre above.
    const signs = await page.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const image = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? []
      return Array.from({ length: image.length / 4 }, (_, i) =>
        Math.sign((image[4 * i] ?? 0) - (image[4 * i + 2] ?? 0)),
      )
    })
    expect(signs.length).toBe(elements)
    const clear = floats.flatMap((value, i) => (Math.abs(value) > 0.2 ? [i] : []))
    expect(clear.map((i) => signs[i])).toEqual(clear.map((i) => Math.sign(floats[i] ?? 0)))

    const mean = floats.reduce((a, b) => a + b, 0) / elements
    await expect(page.getByText('Mean', { exact: true }).locator('..')).toContainText(
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
  await expect(page.getByText(/^rows 0 to \d+, columns 0 to 511/)).toBeVisible()
  await expect(page.getByLabel('First bytes, hexadecimal')).toBeVisible()
  expect(site.counts('/huge.gguf').bytes).toBeLessThan(3e6)
  await expect(page.getByRole('button', { name: /^Read the whole tensor \(\d+ MB\)/ })).toBeVisible()
  await page.getByLabel('From row').fill('9000')
  await expect(page.getByText(/^rows 9,000 to/)).toBeVisible()
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

  // The second file stays while one looks at other tensors.
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
