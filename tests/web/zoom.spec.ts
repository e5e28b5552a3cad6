// Sizes at which layouts break: 400 % zoom, widths around the limit between phone and desktop.
import { kSample } from '../../web/src/lib/file/samples.ts'
import { kAll } from '../fixtures/short.ts'
import { cutOff, kPanels, show, smallTargets } from './layout.ts'
import { expect, opened, test, type Page, type Site } from './site.ts'

// 1280 x 1024 px at 400 %: WCAG 1.4.10.
const kZoomed = { width: 320, height: 256 }

/** How much of an element a person can see at once, after scrolling to it. */
async function visibleHeight(page: Page, selector: string): Promise<number> {
  const element = page.locator(selector).and(page.locator(':visible')).first()
  await element.scrollIntoViewIfNeeded()
  return element.evaluate((one) => {
    let { top, bottom } = one.getBoundingClientRect()
    for (let parent = one.parentElement; parent; parent = parent.parentElement) {
      if (!/auto|scroll|hidden/.test(getComputedStyle(parent).overflowY)) continue
      const box = parent.getBoundingClientRect()
      top = Math.max(top, box.top)
      bottom = Math.min(bottom, box.bottom)
    }
    return Math.min(bottom, innerHeight) - Math.max(top, 0)
  })
}

/** Looks at the start page and at each panel of the sample. `check` is called while a panel is shown. */
async function nothingIsCutOff(page: Page, site: Site, check?: (panel: string) => Promise<void>) {
  await site.visit(page)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  expect(await cutOff(page)).toEqual([])
  await site.visit(page, `/${kSample}`)
  await opened(page)
  for (const panel of kPanels) {
    await show(page, panel)
    expect(await cutOff(page), panel).toEqual([])
    await check?.(panel)
  }
}

test('on a phone the controls of a list are one row, which unfolds', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await page.setViewportSize({ width: 390, height: 844 })
  await site.visit(page, `/${kSample}`, '#tensors')
  const grid = page.getByRole('grid', { name: 'Tensors' })
  await expect(grid).toBeVisible()
  const topOf = async () => (await grid.boundingBox())!.y
  const folded = await topOf()
  const filter = page.getByRole('button', { name: /^Filter/ })
  await filter.click()
  await expect(page.getByLabel('Type', { exact: true })).toBeVisible()
  expect((await topOf()) - folded).toBeGreaterThan(60)
  await page.getByLabel('Type', { exact: true }).selectOption('F32')
  await filter.click()
  await expect(page.getByLabel('Type', { exact: true })).toBeHidden()
  // What is hidden is not forgotten.
  await expect(filter).toHaveText('Filter (1)')
  expect(await topOf()).toBe(folded)
})

test('on a phone, the header and the name leave room, and a finger meets what it aims at', async ({
  page,
  site,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await site.visit(page, `/${kSample}`)
  await opened(page)
  const top = async (selector: string) => (await page.locator(selector).boundingBox())!.y
  expect(await top('#panel-overview')).toBeLessThan(150)
  const panel = page.locator('#panel-overview > *')
  // What the page scrolls by itself is about to be clicked, and must not move.
  await panel.evaluate((box) => (box.scrollTop = 200))
  await expect.poll(() => panel.evaluate((box) => box.scrollTop)).toBe(200)
  expect(await top('#panel-overview')).toBeGreaterThan(130)
  await panel.hover({ position: { x: 4, y: 300 } })
  await page.mouse.wheel(0, 400)
  await expect.poll(() => top('#panel-overview')).toBeLessThan(100)
  await page.mouse.wheel(0, -100)
  await expect.poll(() => top('#panel-overview')).toBeGreaterThan(130)
  // A key that moves the focus there brings it back, too.
  await page.mouse.wheel(0, 200)
  await expect.poll(() => top('header')).toBeLessThan(0)
  await page.getByRole('link', { name: 'Docs' }).focus()
  await expect.poll(() => top('header')).toBe(0)

  const whole = page.getByRole('button', { name: 'Whole name, and bytes read' })
  const read = page.getByText(/^read .* of 1\.46 MB/)
  await expect(read).toBeHidden()
  await whole.click()
  await expect(read).toBeVisible()
  await whole.click()
  for (const panel of kPanels) {
    await show(page, panel)
    expect(await smallTargets(page), panel).toEqual([])
  }
})

test('at 400 % zoom every panel can be read and used', async ({ page, site }) => {
  await page.setViewportSize(kZoomed)
  await nothingIsCutOff(page, site, async (panel) => {
    // Nothing that can be used is flat.
    const flat = await page
      .locator(
        `#panel-${panel} :is(button, input, select, textarea, [role=row], [role=grid], summary):visible`,
      )
      .evaluateAll((all) =>
        all
          .filter((one) => !one.closest('.hidden') && one.getBoundingClientRect().height < 12)
          .map((one) => `${one.tagName} ${one.textContent.trim().slice(0, 30)}`),
      )
    expect(flat, panel).toEqual([])
  })
  // A list shows several rows at once, and its last row can be reached.
  for (const [panel, label] of [
    ['metadata', 'Metadata'],
    ['tensors', 'Tensors'],
  ] as const) {
    await show(page, panel)
    const grid = page.getByRole('grid', { name: label })
    expect(await visibleHeight(page, `#panel-${panel} [role=grid]`), panel).toBeGreaterThan(120)
    await grid.focus()
    await page.keyboard.press('End')
    await expect(page.locator('.row.active:visible')).toBeInViewport({ ratio: 0.9 })
  }
  await page.keyboard.press('Enter')
  const detail = page.getByRole('dialog', { name: 'The selected tensor' })
  await expect(detail).toBeVisible()
  expect(await cutOff(page)).toEqual([])
  await detail.getByRole('button', { name: 'Back to the list' }).click()
  await expect(detail).toBeHidden()
  // A conversation: the field, the button and the answer can be seen.
  await show(page, 'run')
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Hello')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('status').filter({ hasText: /ms\.|ended its answer/ })).toBeAttached()
  expect(await visibleHeight(page, '[data-testid=answer]')).toBeGreaterThan(12)
  expect(await visibleHeight(page, '#panel-run .ask textarea')).toBeGreaterThan(40)
})

// The narrowest window beside each limit: one px less has room to spare.
for (const width of kAll ? [719, 721, 760, 900, 901] : [721])
  test(`nothing is cut off at a width of ${width} px`, async ({ page, site }) => {
    await page.setViewportSize({ width, height: 800 })
    await nothingIsCutOff(page, site)
    // The details beside a list leave room for names.
    for (const hash of ['#tensors/blk.0.attn_q.weight', '#metadata/general.architecture']) {
      await site.visit(page, `/${kSample}`, hash)
      await opened(page)
      await expect(
        page.getByRole(width <= 720 ? 'dialog' : 'region', {
          name: /^(The selected tensor|Value of the selected key)$/,
        }),
      ).toBeVisible()
      expect(await cutOff(page), hash).toEqual([])
      if (width <= 720) continue
      const names = page.locator('.list [role=row] [role=rowheader]:visible')
      const widths = await names.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width))
      expect(Math.min(...widths), hash).toBeGreaterThan(90)
    }
  })
