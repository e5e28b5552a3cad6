// What may go wrong with the layout of a page at a size.
import type { Page } from '@playwright/test'
import { expect } from './site.ts'

export const kPanels =
  'overview metadata tensors graph findings edit convert tokenizer template compare memory run'.split(' ')

/** Texts that are cut off, and elements outside the page that cannot be scrolled to. */
export function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = []
    if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways')
    const scrolls = (element: Element) => /auto|scroll/.test(getComputedStyle(element).overflowX)
    const kept = 'h1, h2, h3, button, label, th, dt, legend, summary, [role=tab], [role=columnheader]'
    for (const element of document.querySelectorAll<HTMLElement>(kept)) {
      if (!element.checkVisibility() || element.closest('.hidden, .clip')) continue
      const { left, right, width } = element.getBoundingClientRect()
      if (width <= 1) continue
      const text = `${element.tagName.toLowerCase()} "${element.textContent.trim().slice(0, 40)}"`
      if (getComputedStyle(element).overflowX === 'hidden' && element.scrollWidth > element.clientWidth + 1)
        found.push(`cut off: ${text}`)
      let parent = element.parentElement
      while (parent && !scrolls(parent)) parent = parent.parentElement
      if (!parent && (left < -1 || right > innerWidth + 1)) found.push(`outside: ${text}`)
    }
    // A list shows the text of its choice, and an empty field its hint.
    const pen = document.createElement('canvas').getContext('2d')!
    for (const list of document.querySelectorAll('select')) {
      const style = getComputedStyle(list)
      if (!list.checkVisibility({ opacityProperty: true }) || list.closest('.hidden')) continue
      pen.font = style.font
      const text = list.selectedOptions[0]?.text ?? ''
      const room = list.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
      if (pen.measureText(text).width > room + 1) found.push(`cut off: select "${text}"`)
    }
    for (const field of document.querySelectorAll('input')) {
      const style = getComputedStyle(field)
      if (!field.placeholder || !field.checkVisibility()) continue
      pen.font = getComputedStyle(field, '::placeholder').font
      const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
      if (pen.measureText(field.placeholder).width > room) found.push(`cut off: hint "${field.placeholder}"`)
    }
    for (const panel of document.querySelectorAll(
      '.panel:not([hidden]), .start, .app, .repository, .failure',
    ))
      if (panel.scrollWidth > panel.clientWidth + 1) found.push(`too wide: ${panel.className}`)
    return found
  })
}

/** What a finger would miss: fields and buttons around whose middle less than 40 px in a row belong to them. */
export function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = []
    const reach = 20
    for (const one of document.querySelectorAll<HTMLElement>('button, select, input, textarea, summary')) {
      if (!one.checkVisibility() || one.closest('.hidden, .link, .pieces, [role=grid]')) continue
      const label = one.closest('label')
      const target = label && one.getBoundingClientRect().width < 24 ? label : one
      target.scrollIntoView({ block: 'center', inline: 'center' })
      const { left, top, width, height } = target.getBoundingClientRect()
      if (width <= 1) continue
      const [x, y] = [left + width / 2, top + height / 2]
      const isOwn = (dx: number, dy: number) => {
        const hit = document.elementFromPoint(x + dx, y + dy)
        return hit !== null && (one.contains(hit) || label?.contains(hit) === true)
      }
      const isTall = isOwn(0, -reach) && isOwn(0, reach)
      if (isTall && isOwn(-reach, 0) && isOwn(reach, 0)) continue
      found.push(
        `${one.tagName} "${(one.ariaLabel ?? one.textContent).trim().slice(0, 30)}" ${width} x ${height}`,
      )
    }
    return found
  })
}

/** Shows a panel, and waits for its content. */
export async function show(page: Page, panel: string) {
  await page.evaluate((hash) => (location.hash = hash), panel)
  await expect(page.locator(`#tab-${panel}`)).toHaveAttribute('aria-selected', 'true')
  await expect(page.locator(`#panel-${panel} > *`).first()).toBeVisible()
  await expect(page.locator('[data-later]')).toHaveCount(0)
}
