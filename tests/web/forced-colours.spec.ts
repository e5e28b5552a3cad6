// Forced colours (the high contrast of Windows): text is readable, and what only a colour told is still to be seen.
import { kSample } from '../../web/src/lib/file/samples.ts'
import { everyNth } from '../fixtures/short.ts'
import { violations } from './axe.ts'
import { kPanels, show } from './layout.ts'
import { expect, opened, test } from './site.ts'

test.use({ contextOptions: { forcedColors: 'active' } })

for (const colorScheme of everyNth(['dark', 'light'] as const, 2))
  test(`forced colours, ${colorScheme}`, async ({ page, site }) => {
    await page.emulateMedia({ colorScheme, forcedColors: 'active', reducedMotion: 'reduce' })
    await site.visit(page, kSample)
    await opened(page)
    expect(await page.evaluate(() => matchMedia('(forced-colors: active)').matches)).toBe(true)
    for (const panel of kPanels) {
      await show(page, panel)
      expect(await violations(page), panel).toEqual([])
    }
    // The chosen tab and the chosen row differ from the others by more than a background.
    const edges = await page
      .getByRole('tab')
      .evaluateAll((all) =>
        all.map((tab) => [tab.ariaSelected, getComputedStyle(tab).borderBottomColor] as const),
      )
    const [chosen] = edges.filter(([selected]) => selected === 'true')
    expect(edges.filter(([, color]) => color === chosen![1])).toHaveLength(1)
    await show(page, 'tensors')
    await page.getByRole('grid', { name: 'Tensors' }).focus()
    await page.keyboard.press('ArrowDown')
    const outlines = await page
      .locator('#panel-tensors .rows .row')
      .evaluateAll((all) => all.map((row) => getComputedStyle(row).outlineStyle))
    expect(outlines.filter((style) => style !== 'none')).toHaveLength(1)

    // Types keep their colours, which are the same in the list, the treemap, the graph and the layers.
    const listed = (type: string) =>
      page
        .locator('#panel-tensors .type', { hasText: type })
        .first()
        .locator('rect')
        .evaluate((one) => getComputedStyle(one).fill)
    const [of8, of4] = [await listed('Q8_0'), await listed('Q4_K')]
    expect(of8).not.toBe(of4)
    await page.evaluate(() => (location.hash = '#graph/bytes'))
    await page.getByLabel('By type').check()
    const painted = await page
      .locator('.map path[data-type=Q8_0]')
      .evaluate((one) => getComputedStyle(one).fill)
    expect(painted).toBe(of8)
    await page.evaluate(() => (location.hash = '#graph/flow'))
    const node = page.locator('button.node', { hasText: 'Q4_K' }).first()
    expect(await node.evaluate((one) => getComputedStyle(one).borderInlineStartColor)).toBe(of4)
    await page.evaluate(() => (location.hash = '#graph/layers'))
    const cell = page.locator('button.cell', { hasText: 'Q4_K' }).first()
    expect(await cell.evaluate((one) => getComputedStyle(one).borderBottomColor)).toBe(of4)
    // Numbers and links remain readable beside them.
    expect(await violations(page)).toEqual([])
  })
