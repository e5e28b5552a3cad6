// Checks names, structure and contrast of every panel against WCAG 2.2 AA: light and dark, desktop and phone.
import type { Page } from '@playwright/test'
import { writeGguf } from '../fixtures/gguf.ts'
import { hostileKeys } from '../fixtures/models.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { kAll } from '../fixtures/short.ts'
import { violations } from './axe.ts'
import { expect, test } from './site.ts'

const named = new Set(
  'button checkbox combobox dialog grid heading image link progressbar radio region searchbox slider spinbutton tab tablist tabpanel textbox'.split(
    ' ',
  ),
)

/** Elements without a name although their role needs one, according to the browser's accessibility tree. */
async function nameless(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as {
    nodes: { ignored: boolean; role?: { value: string }; name?: { value: string } }[]
  }
  await session.detach()
  return nodes
    .filter((node) => !node.ignored && named.has(node.role?.value ?? '') && !node.name?.value.trim())
    .map((node) => node.role?.value ?? '')
}

/** Faults of the page's structure, sizes and colours. */
function faults(page: Page, phone: boolean): Promise<string[]> {
  return page.evaluate((phone) => {
    const found: string[] = []
    const tell = (element: Element) =>
      `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''} "${element.textContent.trim().slice(0, 30)}"`
    const visible = (element: Element) =>
      element.checkVisibility({ visibilityProperty: true, opacityProperty: true })

    const ids = [...document.querySelectorAll('[id]')].map((element) => element.id)
    for (const id of new Set(ids))
      if (ids.filter((other) => other === id).length > 1) found.push(`id twice: ${id}`)
    for (const attribute of ['aria-labelledby', 'aria-controls', 'aria-activedescendant', 'for']) {
      for (const element of document.querySelectorAll(`[${attribute}]`)) {
        const id = element.getAttribute(attribute) ?? ''
        if (!document.getElementById(id)) found.push(`${attribute} leads nowhere: ${id}`)
      }
    }
    if (document.querySelectorAll('h1').length !== 1) found.push('not one h1')
    let level = 0
    for (const heading of [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter(visible)) {
      const next = Number(heading.tagName[1])
      if (next > level + 1) found.push(`heading ${next} after ${level}: ${tell(heading)}`)
      level = next
    }
    if (document.querySelectorAll('main').length !== 1) found.push('not one main')
    if (!document.documentElement.lang) found.push('no language')
    for (const row of document.querySelectorAll('[role=row]')) {
      for (const cell of row.children) {
        if (!/^(gridcell|rowheader|columnheader)$/.test(cell.role ?? '')) found.push(`no cell: ${tell(cell)}`)
      }
      if (!row.closest('[role=grid]')) found.push('a row outside a grid')
    }

    // WCAG 2.5.8: targets have at least 24 px, except links in a line of text.
    if (phone) {
      for (const element of document.querySelectorAll('button:not(.link), input, select')) {
        const box = (element.closest('label') ?? element).getBoundingClientRect()
        if (visible(element) && box.width > 1 && Math.min(box.width, box.height) < 24) {
          found.push(`small: ${tell(element)} ${Math.round(box.width)}x${Math.round(box.height)}`)
        }
      }
    }

    // WCAG 1.4.3: contrast, computed with the colours that the browser paints.
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
    const rgba = (color: string): number[] => {
      if (!canvas) return [0, 0, 0, 0]
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = color
      canvas.fillRect(0, 0, 1, 1)
      const [r = 0, g = 0, b = 0, a = 0] = canvas.getImageData(0, 0, 1, 1).data
      return [r, g, b, a / 255]
    }
    const over = (top: number[], below: number[]) =>
      [0, 1, 2].map((i) => (top[i] ?? 0) * (top[3] ?? 1) + (below[i] ?? 0) * (1 - (top[3] ?? 1)))
    const luminance = (color: number[]) => {
      const [r = 0, g = 0, b = 0] = color.map((value) => {
        const share = value / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const behind = (element: Element | null): number[] => {
      if (!element) return [255, 255, 255]
      const color = rgba(getComputedStyle(element).backgroundColor)
      return color[3] === 1 ? color : over(color, behind(element.parentElement))
    }
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement
      if (!element || !node.textContent?.trim() || !visible(element)) continue
      if (element.closest('.hidden, script, noscript, title, [inert], option, :disabled')) continue
      const style = getComputedStyle(element)
      const ground = behind(element)
      const ink = over(rgba(style.color), ground)
      const [light, dark] = [luminance(ink), luminance(ground)].sort((a, b) => b - a)
      const ratio = ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05)
      const size = parseFloat(style.fontSize)
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
      if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${tell(element)}`)
    }
    return [...new Set(found)]
  }, phone)
}

const pages: [name: string, path: string | undefined, hash: string, ready: string][] = [
  ['start', undefined, '', 'h1'],
  ['overview', kSample, '', '.figures'],
  ['metadata', kSample, '#metadata', '[role=grid]'],
  ['an array', kSample, '#metadata/tokenizer.ggml.tokens', '.array [role=gridcell]'],
  ['a text', kSample, '#metadata/tokenizer.chat_template', '.line'],
  ['tensors', kSample, '#tensors', '[role=grid]'],
  ['a tensor', kSample, '#tensors/token_embd.weight', 'pre'],
  ['graph', kSample, '#graph', '.node'],
  ['bytes', kSample, '#graph/bytes', '.area'],
  ['layers', kSample, '#graph/layers', '.cell'],
  ['edit', kSample, '#edit/keys%2Ftokenizer.chat_template', '.try .line'],
  ['edit entries', kSample, '#edit/keys%2Ftokenizer.ggml.tokens', '.entries [role=gridcell]'],
  ['edit tokens', kSample, '#edit/tokens', '.tokens [role=gridcell]'],
  ['convert', kSample, '#convert', '.made .files'],
  ['tokenizer', kSample, '#tokenizer', '.chips li'],
  ['template', kSample, '#template', '.line >> visible=true'], // On a phone, the source is folded.
  ['compare', kSample, '#compare', '.compare form'],
  ['memory', kSample, '#memory', '.command'],
  ['run', kSample, '#run', '.ask'],
  ['findings', '/hostile.gguf', '#findings', '.findings'],
  ['failure', '/missing.gguf', '', '[role=alert]'],
]

for (const [i, [name, path, hash, ready]] of pages.entries()) {
  test(name, async ({ page, site }) => {
    site.add('/hostile.gguf', writeGguf(hostileKeys()))
    for (const phone of kAll ? [false, true] : [i % 2 === 0]) {
      await page.setViewportSize(phone ? { width: 390, height: 844 } : { width: 1440, height: 900 })
      await page.goto('about:blank')
      await site.visit(page, path, hash)
      await page.waitForSelector(ready)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        const where = `${phone ? 'phone' : 'desktop'}, ${colorScheme}`
        expect(await nameless(page), where).toEqual([])
        expect(await faults(page, phone), where).toEqual([])
      }
    }
  })
}

test('the keys are listed, and the first Tab leads to the content', async ({ page, site }) => {
  await site.visit(page, kSample, '#tensors')
  await expect(page.getByRole('grid', { name: 'Tensors' })).toBeVisible()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to the content' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('main')).toBeFocused()
  expect(new URL(page.url()).hash).toBe('#tensors')
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard' })
  await expect(keys).toContainText('Go to the search field of the panel')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await expect(keys).toHaveCount(0)
  // In a field, it is a letter.
  await page.getByLabel('Filter tensors by name').press('?')
  await expect(page.getByLabel('Filter tensors by name')).toHaveValue('?')
  await expect(keys).toHaveCount(0)
})

test('on a phone the address has room, tabs are on both sides, and a list leads to every panel', async ({
  page,
  site,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await site.visit(page, kSample, '#convert')
  for (const name of ['Edit', 'Convert', 'Tokenizer'])
    await expect(page.getByRole('tab', { name })).toBeInViewport({ ratio: 1 })
  const address = page.getByLabel('Address of a GGUF file or a repository')
  const width = async () => (await address.boundingBox())!.width
  expect(await width()).toBeGreaterThan(140)
  await address.click()
  expect(await width()).toBeGreaterThan(250)
  await page.getByLabel('All panels').selectOption('Memory')
  await expect(page.getByRole('tab', { name: 'Memory' })).toHaveAttribute('aria-selected', 'true')
})

for (const width of [390, 320])
  test(`the address field cuts nothing off at ${width} px`, async ({ page, site }) => {
    await page.setViewportSize({ width, height: 800 })
    const address = page.getByLabel('Address of a GGUF file or a repository')
    /** by how much the text of the field, or its hint, is wider than its room */
    const over = () =>
      address.evaluate((field: HTMLInputElement) => {
        const pen = document.createElement('canvas').getContext('2d')!
        const style = getComputedStyle(field)
        const { fontSize, fontFamily } = field.value ? style : getComputedStyle(field, '::placeholder')
        pen.font = `${fontSize} ${fontFamily}`
        const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
        return pen.measureText(field.value || field.placeholder).width - room
      })
    await site.visit(page)
    expect(await over()).toBeLessThanOrEqual(0)
    await site.visit(page, kSample)
    await page.getByRole('tab', { name: 'Overview' }).waitFor()
    expect(await over()).toBeLessThanOrEqual(0)
    await address.focus()
    await expect(address).toHaveValue(kSample)
    await address.fill('/missing.gguf')
    await address.press('Enter')
    await expect(page.getByRole('alert').first()).toBeVisible()
  })

test('the focus is visible, and reduced motion is respected', async ({ page, site }) => {
  await site.visit(page, kSample)
  await page.getByRole('tab', { name: 'Overview' }).waitFor()
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press('Tab')
    const outline = await page.evaluate(
      () => getComputedStyle(document.activeElement ?? document.body).outline,
    )
    expect(outline).toMatch(/solid [2-9]px|[2-9]px solid/)
  }
  const moving = await page.evaluate(() => document.getAnimations().length)
  expect(moving).toBe(0)
})

test("axe's rules, with everything open in a tensor and in the pictures of the model", async ({
  page,
  site,
}) => {
  const states: [hash: string, ready: string, open: string[]][] = [
    ['#tensors/blk.0.ffn_up.weight', '#channels-title', ['Values as a table', 'The selected block']],
    ['#graph', '.node', ['The graph as a table']],
    ['#graph/bytes', '.area', ['The bytes as a table']],
    ['#graph/layers', '.cell', []],
    ['#convert', '.made .files', []],
  ]
  for (const phone of [false, true]) {
    await page.setViewportSize(phone ? { width: 390, height: 844 } : { width: 1280, height: 800 })
    for (const [i, [hash, ready, open]] of states.entries()) {
      // Not in a whole run: on a phone in the dark or on a desktop in the light, and the first state in both colours.
      if (!kAll && phone !== (i % 2 === 0)) continue
      await page.goto('about:blank')
      await site.visit(page, kSample, hash)
      await page.waitForSelector(ready)
      for (const summary of open) await page.getByText(summary, { exact: true }).click()
      for (const colorScheme of ['light', 'dark'] as const) {
        if (!kAll && i > 0 && phone !== (colorScheme === 'dark')) continue
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        const where = `${hash}, ${phone ? 'phone' : 'desktop'}, ${colorScheme}`
        expect.soft(await violations(page), where).toEqual([])
        const width = await page.evaluate(() => document.documentElement.scrollWidth)
        expect(width, where).toBeLessThanOrEqual(phone ? 390 : 1280)
      }
    }
  }
})

test('results are announced alone, and tables have names', async ({ page, site }) => {
  await site.visit(page, kSample, '#findings')
  const status = page
    .getByRole('status')
    .filter({ hasText: 'The checks of the header found nothing to report.' })
  await expect(status).toBeVisible()
  await page.getByRole('tab', { name: 'Tokenizer' }).click()
  const live = page.locator('#panel-tokenizer [aria-live]').filter({ hasText: /characters/ })
  await expect(live).toHaveCount(1)
  await expect(live.getByRole('button')).toHaveCount(0)
  await page.getByRole('tab', { name: 'Overview' }).click()
  await expect(page.getByRole('table', { name: 'Quantization mix, by bytes' })).toBeVisible()
})
