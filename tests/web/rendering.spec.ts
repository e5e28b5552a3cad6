// The page is built part by part, each in a task of its own, so that it answers in between.
import type { Page } from '@playwright/test'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { sparseContent } from '../server/content.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { expect, test } from './site.ts'

interface Counts {
  /** elements added in each task that a timer began; the first entry: in all others before the first timer */
  added: number[]
  /** elements that changed their place */
  shifts: string[]
}

interface Shift {
  sources: { node?: Node; previousRect: DOMRect; currentRect: DOMRect }[]
}

/** Counts the elements that each task adds to the page. */
function countElements() {
  const counts: Counts = { added: [0], shifts: [] }
  const seen = new WeakSet<Node>()
  const timer = window.setTimeout.bind(window)
  const later = (work: (...given: unknown[]) => void, wait?: number, ...given: unknown[]) =>
    timer(() => {
      counts.added.push(0)
      work(...given)
    }, wait)
  new MutationObserver((records) => {
    for (const added of records.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!(added instanceof Element)) continue
      for (const element of [added, ...added.querySelectorAll('*')]) {
        if (seen.has(element)) continue
        seen.add(element)
        counts.added[counts.added.length - 1]! += 1
      }
    }
  }).observe(document, { childList: true, subtree: true })
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries() as unknown as Shift[])
      for (const { node, previousRect: from, currentRect: to } of sources)
        counts.shifts.push(
          `${node?.textContent?.slice(0, 20)}: ${from.x} ${from.y} ${from.width} to ${to.x} ${to.y} ${to.width}`,
        )
  }).observe({ type: 'layout-shift', buffered: true })
  Object.assign(window, { setTimeout: later, counts })
}

const countsOf = (page: Page) => page.evaluate(() => (globalThis as unknown as { counts: Counts }).counts)

const kMaxElements = 64

for (const [name, path, ready] of [
  ['the start page', undefined, '.start figure'],
  ['the sample', kSample, '.facts'],
  ['a file with a header of 8 MB', '/big.gguf', '.facts'],
] as const)
  for (const width of [390, 1280])
    test(`no task builds much of ${name} at ${width} px, and nothing moves`, async ({ page, site }) => {
      const { header, size } = writeHeader(previewModel(kPreviewShapes[0]!))
      site.add('/big.gguf', sparseContent(header, size))
      await page.setViewportSize({ width, height: 844 })
      await page.addInitScript(countElements)
      await site.visit(page, path)
      await page.waitForSelector(ready)
      const { added, shifts } = await countsOf(page)
      expect(added.reduce((sum, one) => sum + one)).toBeGreaterThan(kMaxElements)
      expect(Math.max(...added)).toBeLessThanOrEqual(kMaxElements)
      expect(shifts).toEqual([])
    })
