// The colour of a type is the same in every file, whatever other types the file has.
import { writeGguf, type Tensor } from '../fixtures/gguf.ts'
import { expect, opened, test, type Page } from './site.ts'

const tensor = (name: string, type: Tensor['type']): Tensor => ({ name, shape: [256, 4], type })

/** The colours of the types in the file's list of tensors, and in the legend of its graph. */
async function colours(page: Page): Promise<Record<string, string>[]> {
  await opened(page)
  const of = (rows: string) =>
    page.locator(rows).evaluateAll((all) =>
      Object.fromEntries(
        all.flatMap((row) => {
          const square = row.querySelector('rect')
          return square ? [[row.textContent.trim(), getComputedStyle(square).fill]] : []
        }),
      ),
    ) as Promise<Record<string, string>>
  await page.evaluate(() => (location.hash = '#tensors'))
  await expect(page.locator('#panel-tensors .type').first()).toBeVisible()
  const list = await of('#panel-tensors .type')
  await page.evaluate(() => (location.hash = '#graph'))
  await expect(page.locator('#panel-graph .types li').first()).toBeVisible()
  return [list, await of('#panel-graph .types li')]
}

test('a type has one colour in all files and panels', async ({ page, site }) => {
  const files = {
    '/a.gguf': ['Q4_K', 'Q6_K', 'F32'],
    '/b.gguf': ['F32', 'Q6_K', 'Q8_0', 'F16', 'IQ4_XS', 'Q4_K'],
    '/c.gguf': ['Q8_0', 'IQ4_XS'],
  } as const
  const known: Record<string, string> = {}
  for (const [path, types] of Object.entries(files)) {
    site.add(path, writeGguf({ tensors: types.map((type, i) => tensor(`blk.0.t${i}.weight`, type)) }))
    await site.visit(page, path)
    for (const found of await colours(page)) {
      expect(Object.keys(found).toSorted(), path).toEqual([...types].toSorted())
      for (const [type, color] of Object.entries(found)) {
        known[type] ??= color
        expect(color, `${type} in ${path}`).toBe(known[type])
      }
    }
  }
  // Different types can be told apart.
  expect(new Set(Object.values(known)).size).toBe(Object.keys(known).length)
})
