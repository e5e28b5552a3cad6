// The page is built part by part, each in a task of its own, so that it answers in between.
import type { Page } from '@playwright/test'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { sparseContent } from '../server/content.ts'
import { fileStrip } from '../../web/src/lib/contents/tensors.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { expect, test } from './site.ts'

interface Counts {
  /** elements added in each task that a timer began; the first entry: in all others before the first timer */
  added: number[]
  /** for each of kParts, the task that added it */
  parts: (number | undefined)[]
  /** elements that changed their place */
  shifts: string[]
}

interface Shift {
  sources: { node?: Node; previousRect: DOMRect; currentRect: DOMRect }[]
}

/** Parts of the page of a file, each of which has a task of its own. */
const kParts = ['.brand', '.docs', '.title', '.tabs', '.figures', '.strip']

/** Counts the elements that each task adds to the page. */
function countElements(selectors: readonly string[]) {
  const counts: Counts = { added: [0], parts: [], shifts: [] }
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
        for (const [i, selector] of selectors.entries())
          if (element.matches(selector)) counts.parts[i] = counts.added.length
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

const kBig = '/big.gguf'
for (const [i, [name, path, ready]] of (
  [
    ['the start page', undefined, '.start figure'],
    ['the sample', kSample, '.facts'],
    ['a file with a header of 8 MB', kBig, '.facts'],
  ] as const
).entries())
  for (const width of kAll ? [390, 1280] : [[390, 1280][i % 2]!])
    test(`no task builds much of ${name} at ${width} px, and nothing moves`, async ({ page, site }) => {
      if (path === kBig) {
        const { header, size } = writeHeader(previewModel(kPreviewShapes[0]!))
        site.add(path, sparseContent(header, size))
      }
      await page.setViewportSize({ width, height: 844 })
      await page.addInitScript(countElements, kParts)
      await site.visit(page, path)
      await page.waitForSelector(ready)
      const { added, parts, shifts } = await countsOf(page)
      expect(added.reduce((sum, one) => sum + one)).toBeGreaterThan(kMaxElements)
      expect(Math.max(...added)).toBeLessThanOrEqual(kMaxElements)
      expect(shifts).toEqual([])
      if (path !== undefined) expect([...new Set(parts)], kParts.join(' ')).toHaveLength(kParts.length)
    })

test('the picture of a file asks once for the list of its files, however many tensors it has', () => {
  let asked = 0
  const tensors = Array.from({ length: 100 }, (_, i) => ({ shard: 0, offset: i, byteLength: 1, type: 'F32' }))
  const file = {
    tensors,
    get shards() {
      asked++
      return [{ size: 100, dataOffset: 0 }]
    },
  }
  const { segments } = fileStrip(file as unknown as Parameters<typeof fileStrip>[0], 10)
  expect(segments).toEqual([{ from: 0, to: 1, kind: 'F32' }])
  expect(asked).toBe(1)
})
