// The tensor lens: it shows dequantize()'s values at every zoom, by mouse, keys and touch, and reads only the needed
// bytes.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Locator, Page } from '@playwright/test'
import { scalesOf } from '../../web/src/lib/lens/blocks.ts'
import { colourOf, ends } from '../../web/src/lib/lens/colours.ts'
import { kTypes, tensorBytes, writeGguf, writeHeader, type Tensor } from '../fixtures/gguf.ts'
import { floatBytes, hugeModel } from '../fixtures/models.ts'
import { everyNth, kAll } from '../fixtures/short.ts'
import { sparseContent } from '../server/content.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { expect, test } from './site.ts'

const kIndex = join(import.meta.dirname, '../../wasm/dist/index.js')
const { open, quantize } = (await import(pathToFileURL(kIndex).href)) as typeof import('ggufscope')

const reading = (page: Page) => page.locator('[data-reading]')
const caption = (page: Page) => page.locator('[data-caption]')
const picture = (page: Page) => page.getByRole('application', { name: /^Values of/ })

function gaussian(count: number, seed: number): Float32Array {
  let state = seed
  const uniform = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) + 1) / 2 ** 32
  return Float32Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
  )
}

const bytesOf = (floats: Float32Array) => new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength)

/** Points at the middle of an element. Either the whole tensor or single values are visible. */
async function pointAt(canvas: Locator, x: number, y: number) {
  const box = (await canvas.boundingBox())!
  await canvas.page().mouse.move(box.x + x, box.y + y)
}

test('the value under the cursor is that of dequantize, for each type', async ({ page, site }) => {
  const tensors: Tensor[] = Object.keys(kTypes).map((type, i) => {
    const tensor = { name: type, shape: [kTypes[type]![1] * 3, 5], type }
    const count = tensorBytes(tensor)
    return { ...tensor, data: bytesOf(gaussian(Math.ceil(count / 4), i + 1)).slice(0, count) }
  })
  site.add('/types.gguf', writeGguf({ tensors }))
  await site.visit(page, '/types.gguf', '#tensors')
  // The expected values come from the package's public interface in the same page.
  for (const { name, shape } of everyNth(tensors, 9)) {
    await page.evaluate((hash) => (location.hash = hash), `#tensors/${name}`)
    await expect(page.getByRole('heading', { name, exact: true })).toBeVisible()
    const column = shape[0]! - 2
    await page.getByLabel('Column', { exact: true }).fill(String(column))
    await page.getByLabel('Row', { exact: true }).fill('3')
    await page.getByRole('button', { name: 'Single values' }).click()
    await expect(reading(page)).toHaveText(new RegExp(`^row 3, column ${column}: [-\\dNI]`))
    const shown = (await reading(page).innerText()).split(': ').at(-1)!
    await page.getByText('Values as a table').click()
    const cells = page.getByRole('region', { name: 'Values as a table' }).locator('tbody tr')
    // The table has at most 8 rows and columns, and shows file.dequantize()'s values.
    const first = Math.max(0, Math.min(column, shape[0]! - 8))
    await expect(
      cells
        .nth(3)
        .locator('td')
        .nth(column - first),
    ).toHaveText(shown)
    if (kTypes[name]![1] > 1) {
      await page.getByText('The selected block').click()
      const bytes = page.getByRole('region', { name: "The block's bytes, hexadecimal" })
      const data = tensors.find((tensor) => tensor.name === name)!.data!
      const size = kTypes[name]![2]
      const block = data.subarray((3 * 3 + 2) * size, (3 * 3 + 3) * size)
      const hex = [...block].map((byte) => byte.toString(16).padStart(2, '0'))
      await expect
        .poll(async () =>
          (await bytes.innerText())
            .replaceAll(/^\S+ {2}/gm, '')
            .split(/\s+/)
            .join(' '),
        )
        .toBe(hex.join(' '))
    }
  }
})

test('cells of a whole matrix hold mean, RMS and largest value of their elements', async ({ page, site }) => {
  const [columns, rows] = [1500, 900]
  const floats = gaussian(columns * rows, 7)
  floats[700 * columns + 123] = 40
  await page.goto(`${site.url}/`)
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page
      .getByRole('button', { name: /Choose (a )?files?/ })
      .first()
      .click(),
  ])
  await chooser.setFiles({
    name: 'big.gguf',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(
      writeGguf({ tensors: [{ name: 'w', shape: [columns, rows], type: 'F32', data: bytesOf(floats) }] }),
    ),
  })
  await page.getByRole('tab', { name: 'Tensors' }).click()
  await page.getByRole('grid', { name: 'Tensors' }).getByText('w', { exact: true }).click()
  await expect(caption(page)).toContainText('rows 0 to 899, columns 0 to 1,499, a pixel is an area of')
  const [, wide, high] = /an area of (\d+) × (\d+)/.exec(await caption(page).innerText())!.map(Number)
  await page.getByLabel('Row', { exact: true }).fill('700')
  await page.getByLabel('Column', { exact: true }).fill('123')
  await page.keyboard.press('Tab')
  const [left, top] = [Math.floor(123 / wide!) * wide!, Math.floor(700 / high!) * high!]
  const cell = Array.from({ length: high! }, (_, y) => [
    ...floats.subarray((top + y) * columns + left, (top + y) * columns + left + wide!),
  ]).flat()
  const short = (value: number) => String(Number(value.toPrecision(4)))
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
  await expect(reading(page)).toContainText(`largest 40, mean ${short(sum(cell) / cell.length)}`)
  await expect(reading(page)).toContainText(
    `RMS ${short(Math.sqrt(sum(cell.map((v) => v * v)) / cell.length))}`,
  )
})

test('on a phone the controls of the picture are two rows, and unfold', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await page.setViewportSize({ width: 390, height: 844 })
  await site.visit(page, kSample, '#tensors/token_embd.weight')
  const section = page.getByRole('region', { name: 'Values', exact: true })
  await expect(section.getByRole('application')).toBeVisible()
  const rows = () =>
    section.locator('.tools :is(button, input, select):visible').evaluateAll((all) => {
      const middles = all.map((one) => one.getBoundingClientRect()).map(({ top, height }) => top + height / 2)
      return middles.toSorted((a, b) => a - b).filter((one, i, list) => i === 0 || one - list[i - 1]! > 12)
        .length
    })
  expect(await rows()).toBe(2)
  await section.getByRole('button', { name: 'Picture', exact: true }).click()
  await section.getByLabel('A pixel shows').selectOption('Mean')
  await section.getByRole('button', { name: 'Picture (1)' }).click()
  expect(await rows()).toBe(2)
})

test('the picture stands above the facts, and is in view at once', async ({ page, site }) => {
  await site.visit(page, kSample, '#tensors/token_embd.weight')
  const picture = page.getByRole('application')
  await expect(picture).toBeVisible()
  const box = (await picture.boundingBox())!
  expect(box.y + box.height).toBeLessThanOrEqual(800)
  const facts = page.locator('#panel-tensors .facts').first()
  expect((await facts.boundingBox())!.y).toBeGreaterThan(box.y + box.height)
  // On a phone, one row of buttons is above it.
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(async () => (await picture.boundingBox())!.y).toBeLessThan(190)
})

test('a matrix is drawn to scale, or the caption says that it is not', async ({ page, site }) => {
  await site.visit(page, kSample, '#tensors/blk.0.attn_q.weight')
  const picture = page.getByRole('application')
  await expect(picture).toBeVisible()
  const { width, height } = (await picture.boundingBox())!
  expect(Math.abs(width / height - 1)).toBeLessThan(0.02)
  const section = page.getByRole('region', { name: 'Values', exact: true })
  await expect(section.locator('[data-caption]')).toHaveText('rows 0 to 255, columns 0 to 255')
  await expect(section.getByText('A pixel shows one value.')).toBeVisible()
  await site.visit(page, kSample, '#tensors/token_embd.weight')
  await expect(section.locator('[data-caption]')).toHaveText(/^rows 0 to .*, not to scale$/)
})

test('keys, wheel, drag and pinch', async ({ page, site }) => {
  const floats = gaussian(512 * 512, 3)
  site.add(
    '/keys.gguf',
    writeGguf({ tensors: [{ name: 'w', shape: [512, 512], type: 'F32', data: bytesOf(floats) }] }),
  )
  await site.visit(page, '/keys.gguf', '#tensors/w')
  const canvas = picture(page)
  await expect(reading(page)).toContainText('row')
  const whole = await caption(page).innerText()
  await canvas.focus()
  await page.keyboard.press('Enter')
  await expect(reading(page)).toHaveText(/^row 0, column 0: -?\d/)
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key)
  await expect(reading(page)).toHaveText(`row 1, column 2: ${shown(floats[514]!)}`)
  await page.keyboard.press('Shift+ArrowRight')
  await expect(reading(page)).not.toHaveText(/column 2:/)
  await page.keyboard.press('Home')
  await expect(caption(page)).toHaveText(whole)
  await page.keyboard.press('+')
  await expect(caption(page)).not.toHaveText(whole)
  await page.keyboard.press('-')
  await expect(caption(page)).toHaveText(whole)

  // The wheel zooms around the pointer: the element under it stays.
  const box = (await canvas.boundingBox())!
  await canvas.click({ position: { x: box.width / 2 + 9, y: box.height / 2 + 9 } })
  for (let i = 0; i < 20; i++) await page.mouse.wheel(0, -300)
  await expect(reading(page)).toHaveText(/^row 2\d\d, column 2\d\d: -?\d/)
  const before = await reading(page).innerText()
  // A drag moves the matrix with the pointer.
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2 + 9 - 128, box.y + box.height / 2 + 9 - 52, { steps: 4 })
  await page.mouse.up()
  await expect(reading(page)).toHaveText(before)
  await pointAt(canvas, box.width / 2 + 9, box.height / 2 + 9)
  await expect(reading(page)).not.toHaveText(before)

  await page.keyboard.press('Home')
  await expect(caption(page)).toHaveText(whole)
  await canvas.evaluate((element, { width, height }) => {
    const box = element.getBoundingClientRect()
    const send = (type: string, pointerId: number, x: number) =>
      element.dispatchEvent(
        new PointerEvent(type, {
          pointerId,
          pointerType: 'touch',
          clientX: box.left + x,
          clientY: box.top + height / 2,
          bubbles: true,
        }),
      )
    element.setPointerCapture = () => undefined
    send('pointerdown', 11, width / 2 - 20)
    send('pointerdown', 12, width / 2 + 20)
    for (let i = 1; i <= 10; i++) {
      send('pointermove', 11, width / 2 - 20 - 8 * i)
      send('pointermove', 12, width / 2 + 20 + 8 * i)
    }
    send('pointerup', 11, 0)
    send('pointerup', 12, 0)
  }, box)
  await expect(caption(page)).not.toHaveText(whole)
})

/** Formats a float like the viewer. */
function shown(value: number): string {
  const digits = [6, 7, 8, 9].find((one) => Math.fround(Number(value.toPrecision(one))) === value)
  return String(Number(value.toPrecision(digits)))
}

test('of a large tensor on a server one window is read, and more after a confirmation', async ({
  page,
  site,
}) => {
  const { header, size } = writeHeader(hugeModel())
  site.add('/lens.gguf', sparseContent(header, size))
  await site.visit(page, '/lens.gguf', '#tensors')
  await expect(page.getByRole('grid', { name: 'Tensors' })).toBeVisible()
  site.reset()
  await page.evaluate(() => (location.hash = '#tensors/blk.1.ffn_gate.weight'))
  await expect(reading(page)).toHaveText(/^row 0, column 0: -?\d/)
  const first = site.counts('/lens.gguf').bytes
  expect(first).toBeLessThan(2e6)
  const heading = /needs (\d+(?:\.\d+)?) (MB|GB) more/
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await expect(page.getByText(heading)).toBeVisible()
  expect(site.counts('/lens.gguf').bytes - first).toBeLessThan(1e6)
  // The announced number of bytes equals the number of read bytes.
  const [, amount, unit] = heading.exec(await page.getByText(heading).innerText())!
  const said = Number(amount) * (unit === 'GB' ? 1e9 : 1e6)
  if (said < 100e6) {
    site.reset()
    await page.getByRole('button', { name: /^Read \d/ }).click()
    await expect(page.getByText(heading)).toBeHidden()
    await expect(reading(page)).toContainText('largest', { timeout: 60_000 })
    await expect.poll(() => site.counts('/lens.gguf').bytes / said, { timeout: 60_000 }).toBeGreaterThan(0.98)
    expect(site.counts('/lens.gguf').bytes / said).toBeLessThan(1.02)
  }
  await page.getByLabel('Row', { exact: true }).fill('9000')
  await page.getByRole('button', { name: 'Single values' }).click()
  await expect(reading(page)).toHaveText(/^row 9,000, column 0: -?\d/)
})

test('the colours are symmetric, even, and differ for the colour-blind', () => {
  type Rgb = readonly number[]
  const linear = (rgb: Rgb) =>
    rgb.map((value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    )
  const lab = (rgb: Rgb) => {
    const [r = 0, g = 0, b = 0] = linear(rgb)
    const f = (t: number) => (t > (6 / 29) ** 3 ? Math.cbrt(t) : t / (3 * (6 / 29) ** 2) + 4 / 29)
    const [x, y, z] = [
      f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047),
      f(0.2126729 * r + 0.7151522 * g + 0.072175 * b),
      f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883),
    ]
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
  }
  const far = (a: Rgb, b: Rgb) => Math.hypot(...a.map((value, i) => value - b[i]!))
  // Matrices for full severity from Machado, Oliveira and Fernandes, 2009.
  const blindness = {
    protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
    deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
    tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
  }
  for (const theme of ['light', 'dark'] as const) {
    const at = (t: number) => lab(colourOf(theme, t))
    const steps = Array.from({ length: 40 }, (_, i) => far(at(i / 20 - 1), at((i + 1) / 20 - 1)))
    // The gamut clips no colour, so all steps have the same length.
    expect(Math.max(...steps) / Math.min(...steps), theme).toBeLessThan(1.02)
    for (let t = 0; t <= 1; t += 0.1) expect(Math.abs(at(t)[0]! - at(-t)[0]!), theme).toBeLessThan(0.2)
    for (const [name, m] of Object.entries(blindness)) {
      const seen = (rgb: Rgb) => {
        const [r = 0, g = 0, b = 0] = linear(rgb)
        const mixed = [0, 1, 2].map((i) =>
          Math.max(0, Math.min(1, m[3 * i]! * r + m[3 * i + 1]! * g + m[3 * i + 2]! * b)),
        )
        return lab(mixed.map((v) => 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055)))
      }
      const [low, middle, high] = [-1, 0, 1].map((t) => seen(colourOf(theme, t)))
      for (const [a, b] of [
        [low, high],
        [low, middle],
        [middle, high],
        [seen(ends[theme].invalid), middle],
      ] as const)
        expect(far(a!, b!), `${theme}, ${name}`).toBeGreaterThan(20)
    }
  }
})

test('a column of outliers is marked, and leads to it in the picture', async ({ page, site }) => {
  const [columns, rows] = [256, 64]
  const floats = gaussian(columns * rows, 9).map((value, i) => (i % columns === 77 ? value * 30 : value))
  site.add(
    '/outliers.gguf',
    writeGguf({ tensors: [{ name: 'w', shape: [columns, rows], type: 'F32', data: bytesOf(floats) }] }),
  )
  await site.visit(page, '/outliers.gguf', '#tensors/w')
  const region = page.getByRole('region', { name: 'Size of each column' })
  await expect(region.getByRole('img')).toHaveAccessibleName(/of 256 columns, at most \S+; 1 outlier$/)
  await region.getByRole('button', { name: /^column 77: / }).click()
  await expect(page.getByLabel('Column', { exact: true })).toHaveValue('77')
  await page.getByLabel('Rows (outputs)').check()
  await expect(
    page.getByRole('region', { name: 'Size of each row' }).getByText('No row stands out.'),
  ).toBeVisible()
})

test('small floats too: what the picture shows is one pixel for each element', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  const floats = new Float32Array(floatBytes(64, 5).buffer)
  floats[10] = NaN
  site.add(
    '/vector.gguf',
    writeGguf({ tensors: [{ name: 'v', shape: [64], type: 'F32', data: bytesOf(floats) }] }),
  )
  await site.visit(page, '/vector.gguf', '#tensors/v')
  await page.getByLabel('Column', { exact: true }).fill('10')
  await page.keyboard.press('Tab')
  await expect(reading(page)).toHaveText('row 0, column 10: NaN')
})

test('the scales of a block are those that the statistics count', async () => {
  test.skip(!kAll, 'takes long')
  for (const [type, [, elements, size]] of Object.entries(kTypes)) {
    const blocks = 3
    const data = bytesOf(gaussian(Math.ceil((blocks * size) / 4), size)).slice(0, blocks * size)
    for (const bigEndian of [false, true]) {
      const file = await open(
        writeGguf({ bigEndian, tensors: [{ name: 't', shape: [elements * blocks], type, data }] }),
      )
      const { scales } = await file.stats('t')
      file.close()
      const own = Array.from({ length: blocks }, (_, i) => {
        const block = data.slice(i * size, (i + 1) * size)
        return scalesOf(type, block, !bigEndian)?.fields.find(({ name }) => name === 'scale')?.values ?? []
      }).flat()
      if (elements === 1) expect(own, type).toEqual([])
      else {
        const finite = own.filter(Number.isFinite)
        expect(own.length - finite.length, type).toBe(scales!.notFinite)
        expect(own.length, type).toBe(scales!.count)
        if (finite.length > 0) {
          expect(Math.fround(Math.min(...finite)), type).toBe(Math.fround(scales!.min))
          expect(Math.fround(Math.max(...finite)), type).toBe(Math.fround(scales!.max))
        }
      }
    }
  }
})

test('the parts of a K block make its values', async () => {
  const data = await quantize('Q4_K', gaussian(256, 5))
  const file = await open(writeGguf({ tensors: [{ name: 't', shape: [256], type: 'Q4_K', data }] }))
  const values = await file.dequantize('t')
  file.close()
  const { fields, parts } = scalesOf('Q4_K', data, true)!
  const [scale = 0, minimum = 0] = fields.flatMap((field) => field.values)
  for (let i = 0; i < 256; i++) {
    const part = i >> 5
    // Codes have 4 bits: first the low nibbles of 32 bytes, then the high ones.
    const byte = data[16 + 32 * (i >> 6) + (i % 32)]!
    const level = part % 2 === 0 ? byte & 15 : byte >> 4
    expect(scale * parts!.scales[part]! * level - minimum * parts!.minimums![part]!).toBeCloseTo(
      values[i]!,
      5,
    )
  }
})
